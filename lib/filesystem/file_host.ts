/**
 * What the functions for files need of their minion, by a few methods: an execution module has them of its job's context, a state of its own.
 * @module
 */

import type { SourceFiles } from "./source_files.ts";
import type { Value } from "../values/value.ts";

/** What a program said. */
export interface ToolResult {
  readonly retcode: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** How to run a program. */
export interface ToolOptions {
  /** Whether a return code other than 0 is no failure of the job. */
  readonly ignoreRetcode?: boolean;
  /** Whether stderr comes in stdout, in the order of writing. */
  readonly joined?: boolean;
}

/** The minion, as far as files need it. */
export interface FileHost {
  /** Whether nothing is to be changed: the option `test`. */
  readonly test: boolean;
  /** The option `cachedir`, below which backups lie. */
  readonly cachedir: string;
  /** The option `hash_type`. */
  readonly hashType: string;
  /** Files of other places. */
  readonly files: SourceFiles;
  /** Salt's `config.option`: an option, a grain or pillar by its whole name; empty text if there is none. */
  option(name: string): Promise<Value>;
  /** Runs a program without a shell. @throws {CommandError} If there is no such program. */
  run(words: readonly string[], options?: ToolOptions): Promise<ToolResult>;
  /** Writes to the minion's log. */
  log(level: "error" | "warning" | "info" | "debug", message: string): void;
}
