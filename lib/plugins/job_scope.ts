/**
 * Makes the {@linkcode JobContext} of a job from its parts; used in job workers and by `salt-call`.
 * @module
 */

import { moduleOfFunction } from "./docs.ts";
import type { ChildRunner } from "#lib/programs/child_process.ts";
import type { DetachedCommand } from "#lib/programs/detached_commands.ts";
import { callFunction } from "./execution.ts";
import type { Catalogue, CommandWatch, JobContext, Jobs, Outside } from "./job_context.ts";
import type { Logger } from "#lib/runtime/log.ts";
import type { MinionOpts } from "#lib/config/options.ts";
import { str, type Value, type ValueMap } from "#lib/values/value.ts";

export interface ScopeParts {
  readonly opts: MinionOpts;
  readonly grains: ValueMap;
  readonly pillar: ValueMap;
  /** The job's load. */
  readonly job: ValueMap;
  readonly catalogue: Catalogue;
  readonly jobs: Jobs;
  /** Its access to the outside. */
  readonly outside: Outside;
  /** Aborted when the job must end. */
  readonly signal: AbortSignal;
  readonly log: Logger;
  /** Runs a command so that it outlives the minion. */
  readonly runChild?: ChildRunner;
  /** Commands of the job that continued when its minion ended. */
  readonly detachedCommands?: readonly DetachedCommand[];
  /** Begins to send a command's output, if a client watches the job. */
  readonly watchCommand?: (encoding: string | null) => CommandWatch;
  /** Shows the result of a state. */
  readonly watchState?: JobContext["watchState"];
  /** Whether functions of pillar show secrets: {@linkcode JobContext.showsPillar}. */
  readonly showsPillar?: boolean;
  /** Called when a child process of the job starts or ends. */
  child(pid: number, state: "started" | "ended"): void;
}

/** The context. `setRetcode` does nothing here; `execute` replaces it. */
export function makeContext(parts: ScopeParts): JobContext {
  const { log, job, child, ...same } = parts;
  const fields: Record<string, Value> = Object.fromEntries([...job].map(([key, field]) => [str(key), field]));
  const own = log.named(`salt.modules.${moduleOfFunction(str(job.get("fun") ?? ""))}`);
  const context: JobContext = {
    ...same,
    job: fields,
    call: (name, args, kwargs) => callFunction(name, { args, kwargs, context }),
    setRetcode: () => {},
    child: (pid, state) => child(pid, state),
    log: (level, message) => own[level](message),
  };
  return context;
}
