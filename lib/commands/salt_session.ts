/**
 * What one run of `salt` works with: the world, the options, the log, the way to print, and how long to wait.
 * @module
 */

import { interruptedRun, type JobIo } from "../cli/run_command.ts";
import type { LiveLines } from "../output/live_lines.ts";
import type { CollectPatience } from "../client/local.ts";
import type { Logger } from "../process/log.ts";
import type { MasterOpts } from "../config/options.ts";
import type { PrintResult } from "../output/printer.ts";
import { attachHint, lookupHint } from "./salt_returns.ts";
import type { SaltValues } from "./salt_options.ts";

/** One run. */
export interface Session {
  /** The world. */
  readonly io: JobIo;
  /** What was typed. */
  readonly options: SaltValues;
  /** The master's options. */
  readonly opts: MasterOpts;
  readonly log: Logger;
  /** Who gives the command. */
  readonly user: string;
  /** Prints a result as `--out` says. */
  readonly print: PrintResult;
  /** Whether standard output is in colour. */
  readonly color: boolean;
  /** Shows what commands write, as they write it, if that is wanted. */
  readonly live: LiveLines | undefined;
  /** How long minions are waited for. */
  readonly patience: CollectPatience;
}

/** Tells, after Ctrl-C, how to come back to the job. @returns The exit code. */
export function interrupted({ io }: Session, jid?: string): number {
  const job = jid === undefined ? "" : `\nThis job's jid is: ${jid}\n${lookupHint(jid)}\n\n${attachHint(jid)}`;
  return interruptedRun(io, job);
}

/** What standard error is told where nobody returned. */
export const NO_RETURN_TEXT = "ERROR: No return received\n";
/** What standard error is told where a minion failed. */
export const FAILED_TEXT = "ERROR: Minions returned with non-zero exit code\n";
