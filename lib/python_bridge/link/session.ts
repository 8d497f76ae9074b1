/**
 * The connection to one job's process in Python. Both sides ask: while a plugin runs, it asks for functions and data of
 * the minion, and a function that it has called may need another plugin of the same process.
 * @module
 */

import { CommandError, messageOf, MsgpackError, WireError } from "#lib/errors.ts";
import { FrameReader, type WireFrame } from "#lib/protocol/frames.ts";
import type { Value } from "#lib/values/value.ts";
import { errorOf, pythonRefusal } from "./exceptions.ts";
import {
  type FromPython,
  MAX_PYTHON_MESSAGE,
  packPython,
  parseFromPython,
  parseFromZygote,
  type PythonRequest,
  type StartMessage,
} from "./messages.ts";

/** Maximum number of questions of a process that wait for an answer at the same time. */
const MAX_PENDING = 256;
/** Maximum number of messages in the log of one job. */
const MAX_LOGGED = 10_000;

/** A question of a plugin. */
export type PythonQuestion = Omit<FromPython & { readonly kind: "ask" }, "kind" | "id" | "during">;

/** The host of a job's process. `C` is what a request belongs to: the context of the calling function. */
export interface SessionHost<C> {
  /** Whether nothing that the job prints may be repeated. */
  readonly silent: boolean;
  readonly start: StartMessage;
  /** Ends the job. */
  readonly signal: AbortSignal;
  /** Answers a question; what it throws is raised in Python. */
  answer(question: PythonQuestion, context: C): Promise<unknown>;
  /** Called with the process that runs the job. */
  child(pid: number, state: "started" | "ended"): void;
  /** A plugin's message for the log. */
  log(level: number, name: string, text: string): void;
}

/** A plugin or function that is not there, with the reason of its file. */
export class MissingPlugin extends Error {
  override name = "MissingPlugin";
  /** @param reason Why the file does not load; empty: it gave none; `null`: there is no such file or function. */
  constructor(readonly fun: string, readonly reason: string | null) {
    super(`${fun} is not there`);
  }
}

/** The process with the real Salt has the function. */
export class ElsewhereError extends Error {
  override name = "ElsewhereError";
}

/** What a plugin returned. */
export interface PythonAnswer {
  readonly value: Value;
  /** The return code that plugins of the job have set. */
  readonly retcode: number;
  /** Whether the process with the real Salt has a part of the answer, too. */
  readonly alsoElsewhere: boolean;
}

interface Pending<C> {
  readonly done: PromiseWithResolvers<PythonAnswer>;
  readonly context: C;
}

/** A running process of a job. */
export class PythonSession<C> {
  readonly #connection: Deno.UnixConn;
  readonly #writer: WritableStreamDefaultWriter<Uint8Array>;
  readonly #host: SessionHost<C>;
  readonly #pending = new Map<number, Pending<C>>();
  /** The first request's; questions outside of a request belong to it. */
  readonly #context: C;
  #requests = 0;
  #asked = 0;
  #logged = 0;
  #pid: number | undefined;
  #ended: Error | undefined;
  readonly #stop = () => this.close(this.#host.signal.reason);

  private constructor(connection: Deno.UnixConn, host: SessionHost<C>, context: C) {
    this.#connection = connection;
    this.#writer = connection.writable.getWriter();
    this.#host = host;
    this.#context = context;
    host.signal.addEventListener("abort", this.#stop);
    this.#write(new TextEncoder().encode(host.silent ? "s" : "l"));
    this.#write(packPython({ ...host.start }));
    void this.#read();
  }

  /**
   * Connects to the process at `path`, which starts another one for this job.
   * @param context That of questions outside of requests.
   * @throws {Error} If it does not listen.
   */
  static async open<C>(path: string, host: SessionHost<C>, context: C): Promise<PythonSession<C>> {
    return new PythonSession(await Deno.connect({ transport: "unix", path }), host, context);
  }

  /** Whether its process still serves requests. */
  get isOpen(): boolean {
    return this.#ended === undefined;
  }

  /**
   * Asks the process for something.
   * @throws {MissingPlugin} If no plugin has the function.
   * @throws {ElsewhereError} If one has it that needs the real Salt, which this process has not.
   * @throws {Error} What the plugin raised, or how its process ended.
   */
  async request(request: PythonRequest, context: C): Promise<PythonAnswer> {
    this.#host.signal.throwIfAborted();
    if (this.#ended !== undefined) throw this.#ended;
    const id = ++this.#requests;
    const done = Promise.withResolvers<PythonAnswer>();
    this.#pending.set(id, { done, context });
    try {
      this.#write(packPython({ ...request, id }));
      return await done.promise;
    } finally {
      this.#pending.delete(id);
    }
  }

  /** Ends the process; requests that wait fail with `reason`. */
  close(reason: unknown = new Error("the job has ended")): void {
    if (this.#ended !== undefined) return;
    this.#ended = reason instanceof Error ? reason : new Error(messageOf(reason));
    this.#host.signal.removeEventListener("abort", this.#stop);
    for (const { done } of this.#pending.values()) done.reject(this.#ended);
    if (this.#pid !== undefined) this.#host.child(this.#pid, "ended");
    try {
      this.#connection.close();
    } catch {
      // Reading to the end has closed it.
    }
  }

  #write(bytes: Uint8Array): void {
    // If the process cannot read it any more, its end is noticed elsewhere.
    this.#writer.write(bytes).catch(() => {});
  }

  async #read(): Promise<void> {
    const frames = new FrameReader(MAX_PYTHON_MESSAGE);
    let why = "its process has ended";
    try {
      reading: for await (const piece of this.#connection.readable) {
        for (const one of frames.push(piece)) {
          const ended = this.#take(one);
          if (ended === undefined) continue;
          why = ended;
          break reading;
        }
      }
    } catch (error) {
      if (this.#ended !== undefined) return;
      const isInvalid = error instanceof WireError || error instanceof MsgpackError || error instanceof RangeError;
      why = isInvalid ? `it sent an invalid message: ${error.message}` : `its connection failed: ${messageOf(error)}`;
    }
    this.close(new PythonEnded(why));
  }

  /** @returns How the process has ended, if the message says that. */
  #take(frame: WireFrame): string | undefined {
    if (frame.sender === 0) {
      const notice = parseFromZygote(frame);
      if ("ended" in notice) return notice.ended;
      if ("real" in notice) throw new WireError("a path that was not asked for");
      if (this.#pid !== undefined) throw new WireError("a second start");
      this.#pid = notice.started;
      this.#host.child(notice.started, "started");
      return undefined;
    }
    const message = parseFromPython(frame);
    switch (message.kind) {
      case "done":
        return void this.#settle(message);
      case "ask":
        if (this.#asked >= MAX_PENDING) throw new WireError("too many questions");
        return void this.#answer(message);
      case "log":
        if (++this.#logged <= MAX_LOGGED) this.#host.log(message.level, message.name, message.text);
        return undefined;
    }
  }

  #settle({ id, outcome, retcode }: FromPython & { readonly kind: "done" }): void {
    const done = this.#pending.get(id)?.done;
    if ("value" in outcome) done?.resolve({ ...outcome, retcode });
    else if ("elsewhere" in outcome) done?.reject(new ElsewhereError());
    else if ("missing" in outcome) done?.reject(new MissingPlugin(outcome.missing, outcome.reason));
    else done?.reject(errorOf(outcome.error));
  }

  async #answer({ id, during, what, fields }: FromPython & { readonly kind: "ask" }): Promise<void> {
    this.#asked++;
    const context = this.#pending.get(during)?.context ?? this.#context;
    try {
      const value = await this.#host.answer({ what, fields }, context);
      this.#write(packPython({ kind: "answer", id, value }));
    } catch (error) {
      this.#write(packPython({ kind: "refused", id, ...pythonRefusal(error) }));
    } finally {
      this.#asked--;
    }
  }
}

/**
 * The socket of the process that has loaded the host's own Salt, and starts processes for the plugins that need it.
 * @param path That of the process that starts it.
 * @throws {PythonEnded} If it cannot be started.
 */
export async function realSaltSocket(path: string): Promise<string> {
  using connection = await Deno.connect({ transport: "unix", path });
  await connection.write(new TextEncoder().encode("r"));
  const frames = new FrameReader(MAX_PYTHON_MESSAGE);
  for await (const piece of connection.readable) {
    for (const one of frames.push(piece)) {
      const notice = parseFromZygote(one);
      if ("real" in notice) return notice.real;
      throw new PythonEnded("ended" in notice ? notice.ended : "its starter sent an invalid message");
    }
  }
  throw new PythonEnded("its starter has ended");
}

/** The process of a job has ended before the job. */
export class PythonEnded extends CommandError {
  override name = "PythonEnded";
}
