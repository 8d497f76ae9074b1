/**
 * What one run of `salt` works with: the world, the options, the log, the way to print, and how long to wait.
 * @module
 */

import type { LiveLines } from "./live_lines.ts";
import type { CollectPatience } from "./local_client.ts";
import type { Logger } from "./log.ts";
import type { MasterOpts } from "./options.ts";
import { EX_INTERRUPTED } from "./process_io.ts";
import type { PrintResult } from "./result_printer.ts";
import { attachHint, lookupHint } from "./salt_answers.ts";
import type { SaltValues } from "./salt_options.ts";

/** The world of `salt`. */
export interface SaltIo {
  /** Writes to standard output. */
  write(text: string): void;
  /** Writes to standard error. */
  writeError(text: string): void;
  /** Whether standard output is a terminal. */
  readonly isTerminal: boolean;
  /** Whether standard error is one. */
  readonly isErrorTerminal: boolean;
  /** Width of the terminal in characters. */
  readonly columns?: number;
  /** The environment variable `NO_COLOR`. */
  readonly noColor?: string;
  /** All of standard input. */
  readStdin(): Promise<string>;
  /** Aborted by Ctrl-C. */
  readonly signal: AbortSignal;
}

/** One run. */
export interface Session {
  /** The world. */
  readonly io: SaltIo;
  /** What was typed. */
  readonly options: SaltValues;
  /** The master's options. */
  readonly opts: MasterOpts;
  /** The log. */
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
  io.writeError(`\nExiting gracefully on Ctrl-c${job}\n`);
  return EX_INTERRUPTED;
}

/** Exit code of a run in which a minion failed or did not return. */
export const EX_MINIONS = 1;
/** Exit code of a run in which nobody was meant or nobody returned. */
export const EX_NOBODY = 2;

/** What standard error is told where nobody returned. */
export const NO_RETURN_TEXT = "ERROR: No return received\n";
/** What standard error is told where a minion failed. */
export const FAILED_TEXT = "ERROR: Minions returned with non-zero exit code\n";
