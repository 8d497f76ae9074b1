/**
 * What the functions for files need from their minion: an execution module passes its job's context, a state its own.
 * @module
 */

import type { SourceFiles } from "./source_files.ts";
import type { Value } from "#lib/values/value.ts";

/** The outcome of a program. */
export interface ToolResult {
  readonly retcode: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** How to run a program. */
export interface ToolOptions {
  /** Whether a return code other than 0 is not a failure of the job. */
  readonly ignoreRetcode?: boolean;
  /** Whether stderr is merged into stdout, in the order of writing. */
  readonly joined?: boolean;
}

/** Parts of a SELinux context. */
export interface SelinuxContext {
  readonly user?: string | null;
  readonly role?: string | null;
  readonly type?: string | null;
  readonly range?: string | null;
}

/** The minion, as far as files need it. */
export interface FileHost {
  /** Test mode: whether nothing may be changed: the option `test`. */
  readonly test: boolean;
  /** The option `cachedir`, below which backups lie. */
  readonly cachedir: string;
  /** The option `hash_type`. */
  readonly hashType: string;
  /** Files of other places. */
  readonly files: SourceFiles;
  /** Salt's `config.option`: an option, a grain or pillar by its whole name; empty text if there is none. */
  option(name: string): Promise<Value>;
  /**
   * Runs a program without a shell.
   * @throws {CommandError} If there is no such program.
   */
  run(words: readonly string[], options?: ToolOptions): Promise<ToolResult>;
  /**
   * Puts a file's SELinux context into the host's policy, so that a relabelling keeps it.
   * @throws {CommandError} If semanage fails, or is not there.
   */
  addFileContext(path: string, context: Pick<SelinuxContext, "user" | "type" | "range">): Promise<void>;
}
