/**
 * The parts of one run of `salt`: input and output, options, log, printer, and time limits.
 * @module
 */

import { interruptedRun, type JobIo } from "#lib/commands/cli/run_command.ts";
import type { LiveLines } from "#lib/output/live_lines.ts";
import type { CollectTimeouts, TurnWait } from "#lib/client/job.ts";
import type { Logger } from "#lib/runtime/log.ts";
import type { Signs } from "#lib/client/signed_request.ts";
import type { MasterOpts } from "#lib/config/options.ts";
import type { PrintResult } from "#lib/output/printer.ts";
import type { ProgressScreen } from "#lib/commands/report/progress.ts";
import { attachHint, lookupHint } from "#lib/commands/report/answers.ts";
import type { SaltValues } from "./salt_options.ts";
import type { ValueMap } from "#lib/values/value.ts";

/** Input and output of `salt`. */
export interface SaltIo extends JobIo {
  /** Starts `salt` with these words in the background, for `user`, with `jid` as its {@linkcode SaltIo.batchJid}. */
  startBatch?(words: readonly string[], as: { readonly user: string; readonly jid: string }): Promise<void>;
  /** The batch job that this process is to run in the background; `undefined`: the job of the command line. */
  readonly batchJid?: string;
}

/** The parts of one run. */
export interface Session {
  readonly io: SaltIo;
  /** The command line's options. */
  readonly options: SaltValues;
  readonly opts: MasterOpts;
  readonly log: Logger;
  /** The calling user. */
  readonly user: string;
  /** The credentials for the master; `undefined`: the user's key file. */
  readonly credentials: ValueMap | undefined;
  /** Signs the jobs; `undefined`: they are not signed. */
  readonly signer: Signs | undefined;
  /** Prints a result according to `--out`. */
  readonly print: PrintResult;
  /** Whether standard output is coloured. */
  readonly color: boolean;
  /** Whether standard error is coloured. */
  readonly errorColor: boolean;
  /** Shows the progress of a job on the terminal; `undefined` without a terminal. */
  readonly progress: ProgressScreen | undefined;
  /** Shows the output of commands as they run, if requested. */
  readonly live: LiveLines | undefined;
  /** Time limits for minions. */
  readonly timeouts: CollectTimeouts;
}

/**
 * After Ctrl-C: prints how to attach to the job again.
 * @returns The exit code.
 */
export function tellInterrupted({ io, opts }: Session, jid?: string): number {
  const job = jid === undefined
    ? ""
    : `\nThis job's jid is: ${jid}\n${lookupHint(jid, opts)}\n\n${attachHint(jid, opts)}`;
  return interruptedRun(io, job);
}

/** Printed to standard error if no minion returned. */
export const NO_RETURN_TEXT = "ERROR: No return received\n";

/**
 * How long a job waits for its turn. Default: as long as the command waits for minions.
 * @param timeoutMs Of a part of a batch: without end.
 */
export function turnOf(
  { timeouts, io }: Pick<Session, "timeouts" | "io">,
  timeoutMs = timeouts.timeoutMs,
): TurnWait {
  return {
    untilMs: performance.now() + timeoutMs,
    signal: io.signal,
    onWait: (text) => io.writeError(`${text}\n`),
  };
}
