/**
 * The plugins in Python for the jobs of one thread, one job after the other: a process is started for a job when it
 * first needs one, and ends with the job. Files that need the real Salt run in another process of the job, which has
 * loaded it.
 * @module
 */

import { CommandError, messageOf } from "#lib/errors.ts";
import { LEVEL_NUMBERS, levelName, type Logger } from "#lib/runtime/log.ts";
import {
  ElsewhereError,
  MissingPlugin,
  type PythonAnswer,
  PythonEnded,
  type PythonQuestion,
  PythonSession,
  realSaltSocket,
} from "#lib/python_bridge/link/session.ts";
import {
  PYTHON_FAMILIES,
  type PythonFamily,
  type PythonRequest,
  type PythonRole,
} from "#lib/python_bridge/link/messages.ts";
import { type Descriptions, parseDescriptions } from "./descriptions.ts";
import { isMap, type Value } from "#lib/values/value.ts";
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
  readonly log: Pick<Logger, "lowest" | "write">;
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
  readonly #sessions = new Map<"own" | "real", Promise<PythonSession<C>>>();

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
    try {
      const answer = await this.#ask("own", request, context);
      if (!answer.alsoElsewhere) return answer;
      const { value } = await this.#ask("real", request, context);
      return { ...answer, value: joined(answer.value, value) };
    } catch (error) {
      if (!(error instanceof ElsewhereError)) throw error;
      return await this.#ask("real", request, context);
    }
  }

  async #ask(process: "own" | "real", request: PythonRequest, context: C): Promise<PythonAnswer> {
    const session = await this.#open(process, context);
    try {
      return await session.request(request, context);
    } catch (error) {
      if (!(error instanceof PythonEnded)) throw error;
      throw new CommandError(`The module's process ended: ${error.message}`, { cause: error });
    }
  }

  /** Ends the processes of the job. */
  async end(): Promise<void> {
    const sessions = [...this.#sessions.values()];
    this.#sessions.clear();
    for (const session of sessions) (await session.catch(() => undefined))?.close();
  }

  /** The process that runs, or another one; requests at the same time have the same. */
  async #open(process: "own" | "real", context: C): Promise<PythonSession<C>> {
    const start = () => this.#start(process, context), current = this.#sessions.get(process);
    const opened = current === undefined
      ? start()
      : current.then((session) => session.isOpen ? session : start(), start);
    this.#sessions.set(process, opened);
    return await opened;
  }

  async #start(process: "own" | "real", context: C): Promise<PythonSession<C>> {
    const { plugins, role, log } = this.#parts;
    const silent = this.#parts.isHidden();
    const answer = this.#parts.answers();
    const host = {
      silent,
      start: {
        kind: "start" as const,
        role,
        files: plugins.files,
        is_real: process === "real",
        log_level: silent ? LEVEL_NUMBERS.quiet : log.lowest,
      },
      signal: context.signal,
      answer: async (question: PythonQuestion, asking: C) =>
        question.what === "real_files" ? await this.#realFiles(question, asking) : await answer(question, asking),
      child: (pid: number, state: "started" | "ended") => context.child?.(pid, state),
      log: (level: number, name: string, message: string) => writeLog(log, { level, name, message }),
    };
    const socketOf = async (path: string) => process === "real" ? await realSaltSocket(path) : path;
    // The process may have ended because it was idle: another one is started then.
    const path = await this.#parts.socket();
    try {
      return await PythonSession.open(await socketOf(path), host, context);
    } catch (error) {
      const again = await this.#parts.socket();
      if (again === path && process === "own") {
        throw new CommandError(`Python cannot be reached at ${path}: ${messageOf(error)}`);
      }
      return await PythonSession.open(await socketOf(again), host, context);
    }
  }

  /** The names of the files of a family that need the real Salt, as the process without it finds them. */
  async #realFiles({ fields }: PythonQuestion, context: C): Promise<Value> {
    const family = PYTHON_FAMILIES.find((one) => one === fields.get("family"));
    return family === undefined ? [] : (await this.#ask("own", { kind: "real_files", family }, context)).value;
  }
}

/** An answer of two processes: maps and lists of both. */
function joined(own: Value, real: Value): Value {
  if (Array.isArray(own) && Array.isArray(real)) return [...own, ...real];
  if (!isMap(own) || !isMap(real)) return own;
  const both = new Map(own);
  for (const [key, value] of real) both.set(key, both.has(key) ? joined(both.get(key) ?? null, value) : value);
  return both;
}

function writeLog(
  log: Pick<Logger, "lowest" | "write">,
  record: { readonly level: number; readonly name: string; readonly message: string },
): void {
  const isKnown = !levelName(record.level).startsWith("Level ");
  log.write({ ...record, level: isKnown ? record.level : LEVEL_NUMBERS.info, timeMs: Date.now() });
}
