/**
 * The form of a returner: a module whose functions store what jobs return, or read it again. Any of them may be absent.
 *
 * | function | arguments | result |
 * | --- | --- | --- |
 * | `returner` | `ret` | stores one return |
 * | `save_load` | `jid`, `load`, `minions` | stores what was published, once |
 * | `event_return` | `events`: a list of `{tag, data}` | stores events |
 * | `get_load` | `jid` | the load; an empty map |
 * | `get_jid` | `jid` | the returns of a job by minion; an empty map |
 * | `get_fun` | `fun` | the last return of a function by minion |
 * | `get_jids` | | the jobs: `{jid: {Function, Arguments, …}}` |
 * | `get_minions` | | the ids of minions that have returned |
 * | `clean_old_jobs` | | removes jobs older than `keep_jobs_seconds` |
 *
 * Source: Salt's documentation, "Returners".
 * @module
 */

import type { MasterOpts, MinionOpts } from "#lib/config/options.ts";
import { type Declaration, declare, type ModuleFunction, type Parameters } from "./module.ts";
import type { ValueMap } from "#lib/values/value.ts";

/** The context of a returner's function, on a minion or a master. */
export interface ReturnerContext {
  readonly opts: MasterOpts | MinionOpts;
  /** The minion's; empty on a master. */
  readonly grains: ValueMap;
  /** The minion's; empty on a master. */
  readonly pillar: ValueMap;
  /** Aborted when the call must end. */
  readonly signal: AbortSignal;
  /** Writes to the log of the process. */
  log(level: "error" | "warning" | "info" | "debug", message: string): void;
}

/** What a returner offers: `returner`, which takes a return, and functions that read what is stored. */
export type ReturnerFunction = ModuleFunction<ReturnerContext>;

/** Declares a function of a returner. */
export function returnerFn<P extends Parameters>(declaration: Declaration<P, ReturnerContext>): ReturnerFunction {
  return declare(declaration);
}
