/**
 * The plugins in Python for the jobs of one thread, one job after the other: a process is started for a job when it
 * first needs one, and ends with the job.
 * @module
 */

import { CommandError, messageOf } from "#lib/errors.ts";
import { LEVEL_NUMBERS, levelName, type Logger } from "#lib/runtime/log.ts";
import {
  MissingPlugin,
  type PythonAnswer,
  PythonEnded,
  type PythonQuestion,
  PythonSession,
} from "#lib/python_bridge/link/session.ts";
import type { PythonFamily, PythonRequest, PythonRole } from "#lib/python_bridge/link/messages.ts";
import { type Descriptions, parseDescriptions } from "./descriptions.ts";
import type { PythonPlugins } from "./python_files.ts";

/** What a request belongs to. */
export interface PythonScope {
  /** Ends the job. */
  readonly signal: AbortSignal;
  /** Called with the process that runs the job. */
  child?(pid: number, state: "started" | "ended"): void;
}

/** What the jobs of a thread need. `C` is what their requests belong to. */
export interface PythonJobParts<C extends PythonScope> {
  readonly role: PythonRole;
  readonly plugins: PythonPlugins;
  /** The log of plugins. */
  readonly log: Logger;
  /**
   * The path of the socket of the process that starts jobs' processes.
   * @throws {Error} If there is no Python.
   */
  socket(): Promise<string>;
  /** The context of the job that runs now. */
  context(): C;
  /** Begins to answer the questions of one process. */
  answers(): (question: PythonQuestion, context: C) => Promise<unknown>;
  /** Whether nothing of the job may be logged. */
  isHidden(): boolean;
}

/** The plugins for the current job. */
export class PythonJob<C extends PythonScope> {
  readonly #parts: PythonJobParts<C>;
  #session: Promise<PythonSession<C>> | undefined;

  constructor(parts: PythonJobParts<C>) {
    this.#parts = parts;
  }

  /**
   * Whether there is an own function.
   * @returns Its documentation, `null` for none; a {@linkcode MissingPlugin} if there is no such function.
   */
  async find(family: PythonFamily, fun: string): Promise<string | null | MissingPlugin> {
    try {
      const { value } = await this.request({ kind: "find", family, fun }, this.#parts.context());
      return typeof value === "string" ? value : null;
    } catch (error) {
      if (error instanceof MissingPlugin) return error;
      throw error;
    }
  }

  /** Describes the functions of a family. */
  async describe(family: PythonFamily): Promise<Descriptions> {
    return parseDescriptions((await this.request({ kind: "describe", family }, this.#parts.context())).value);
  }

  /**
   * Asks the job's process for something.
   * @throws {CommandError} If there is no Python, or the process ends.
   * @throws {Error} What a plugin raises.
   */
  async request(request: PythonRequest, context: C): Promise<PythonAnswer> {
    const session = await this.#open(context);
    try {
      return await session.request(request, context);
    } catch (error) {
      if (!(error instanceof PythonEnded)) throw error;
      throw new CommandError(`The module's process ended: ${error.message}`, { cause: error });
    }
  }

  /** Ends the process of the job. */
  async end(): Promise<void> {
    const session = this.#session;
    this.#session = undefined;
    (await session?.catch(() => undefined))?.close();
  }

  async #open(context: C): Promise<PythonSession<C>> {
    const current = await this.#session?.catch(() => undefined);
    if (current?.isOpen) return current;
    const started = this.#session = this.#start(context);
    return await started;
  }

  async #start(context: C): Promise<PythonSession<C>> {
    const { plugins, role, log } = this.#parts;
    const silent = this.#parts.isHidden();
    const host = {
      silent,
      start: {
        kind: "start" as const,
        role,
        files: plugins.files,
        log_level: silent ? LEVEL_NUMBERS.quiet : log.lowest,
      },
      signal: context.signal,
      answer: this.#parts.answers(),
      child: (pid: number, state: "started" | "ended") => context.child?.(pid, state),
      log: (level: number, name: string, message: string) => writeLog(log, { level, name, message }),
    };
    // The process may have ended because it was idle: another one is started then.
    const path = await this.#parts.socket();
    try {
      return await PythonSession.open(path, host, context);
    } catch (error) {
      const again = await this.#parts.socket();
      if (again === path) throw new CommandError(`Python cannot be reached at ${path}: ${messageOf(error)}`);
      return await PythonSession.open(again, host, context);
    }
  }
}

function writeLog(
  log: Logger,
  record: { readonly level: number; readonly name: string; readonly message: string },
): void {
  const isKnown = !levelName(record.level).startsWith("Level ");
  log.write({ ...record, level: isKnown ? record.level : LEVEL_NUMBERS.info, timeMs: Date.now() });
}
