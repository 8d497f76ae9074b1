/**
 * The processes that a master or a minion compiles pillars in, apart from its own threads: so sign-ins and returns
 * continue whatever a template does. A few processes, started when they are needed; each compiles one minion's pillar
 * at a time, so it can be ended with it. Knows nothing of what pillar is.
 * @module
 */

import { sameBytes } from "#lib/crypto/same_bytes.ts";
import { clearTimeout, setTimeout, type Timer } from "#lib/os/timers.ts";
import { describeError, messageOf } from "#lib/errors.ts";
import { encode } from "#lib/values/msgpack.ts";
import { HelperProcess } from "#lib/programs/helper_process.ts";
import type { Logger } from "#lib/runtime/log.ts";
import { masterProcess, PILLAR_PROCESS } from "#lib/runtime/self_command.ts";
import { packNumbered, type PillarReplyMessage, type PillarRequestMessage } from "./messages.ts";
import type { TimeBudget } from "#lib/os/time_budget.ts";
import { map } from "#lib/values/value.ts";
import { WaitingRequests } from "./waiting_requests.ts";

/** Maximum number of waiting requests, of all minions and of one. */
const MAX_WAITING = 10_000, MAX_OF_ONE = 4;
/** A process without work for this time is ended, in milliseconds. */
const IDLE_MS = 300_000;
/** Megabytes of JavaScript's heap of a process: a template that needs more ends only this process. */
const HEAP_MB = 1_024;
/** Maximum bytes of a reply; `pillar_max_bytes` limits it further. */
const MAX_ANSWER = 2 ** 31;

/** The parts of {@linkcode PillarProcesses}. */
export interface PillarProcessesParts {
  /** The packed options of the node. */
  readonly opts: Uint8Array;
  /** The words that start a process. Default: a master's. */
  readonly command?: readonly string[];
  /** Maximum number of processes. */
  readonly processes: number;
  /** Longest time for one pillar, in milliseconds. */
  readonly timeoutMs: number;
  readonly log: Logger;
  /** Milliseconds without work after which a process is ended. Default: five minutes. */
  readonly idleMs?: number;
}

/** A waiting request, with the callbacks for its reply. */
interface Waiting {
  readonly message: PillarRequestMessage;
  readonly reply: ((pillar: Uint8Array | "full" | "lost") => void)[];
}

/** The processes of one master. */
export class PillarProcesses {
  readonly #parts: PillarProcessesParts;
  readonly #processes: PillarProcess[] = [];
  readonly #waiting = new WaitingRequests<Waiting>();
  #closed = false;

  constructor(parts: PillarProcessesParts) {
    this.#parts = parts;
  }

  /** Their current activity, in one line. */
  describe(): string {
    const busy = this.#processes.filter((process) => process.busy).length;
    return `${this.#processes.length} pillar processes, ${busy} at work, ${this.#waiting.size} pillars waiting`;
  }

  /**
   * Handles a request.
   * @param reply Called once with the reply.
   */
  take(message: PillarRequestMessage, reply: (replyOf: PillarReplyMessage) => void): void {
    const answer = (pillar: Uint8Array | "full" | "lost") => reply(replyOf(message.key, pillar));
    if (this.#closed) return answer("lost");
    // A minion that repeats its request waits for the first one's answer.
    const fromSameMinion = this.#waiting.of(message.id);
    const same = fromSameMinion.find(({ message: { request } }) => sameBytes(request, message.request));
    if (same !== undefined) return void same.reply.push(answer);
    if (this.#waiting.size >= MAX_WAITING || fromSameMinion.length >= MAX_OF_ONE) {
      this.#parts.log.warning(`Too many pillar requests wait: the one of ${message.id} is refused`);
      return answer("full");
    }
    this.#waiting.add(message.id, { message, reply: [answer] });
    this.#next();
  }

  /**
   * Gives waiting requests to idle processes, and starts more processes if needed. A minion for which a template
   * computes for long, because of a grain, has one process and not all.
   */
  #next(): void {
    const isIdle = (id: string) => this.#processes.every(({ minion }) => minion !== id);
    for (let id = this.#waiting.next(isIdle); id !== undefined && !this.#closed; id = this.#waiting.next(isIdle)) {
      const free = this.#processes.filter((process) => !process.busy);
      if (free.length === 0) {
        if (this.#processes.length >= this.#parts.processes || !this.#start()) return;
        continue;
      }
      const waiting = this.#waiting.take(id);
      // The process that compiled this minion's pillar before has it in its cache.
      const process = free.find((each) => each.knows(id)) ?? free[0];
      if (waiting !== undefined) void this.#serve(process, waiting);
    }
  }

  /** @returns Whether there is one more. */
  #start(): boolean {
    try {
      const process = new PillarProcess(this.#parts, () => this.#forget(process));
      this.#processes.push(process);
      return true;
    } catch (error) {
      this.#parts.log.error(`No process for pillars can be started: ${messageOf(error)}`);
      if (this.#processes.length > 0) return false;
      for (const { reply } of this.#waiting.clear()) for (const each of reply) each("lost");
      return false;
    }
  }

  #forget(process: PillarProcess): void {
    const at = this.#processes.indexOf(process);
    if (at >= 0) this.#processes.splice(at, 1);
  }

  async #serve(process: PillarProcess, { message, reply }: Waiting): Promise<void> {
    let answer: Uint8Array;
    try {
      answer = await process.compile(message);
    } catch (error) {
      this.#forget(process);
      const text = `The pillar of ${message.id} cannot be compiled: ${messageOf(error)}`;
      if (!this.#closed) this.#parts.log.error(text);
      // An error text in place of the pillar: states are not applied then, and the operator sees the error.
      answer = encode(map({ _errors: [text] }), "wire");
    }
    for (const each of reply) each(this.#closed ? "lost" : answer);
    // Its further requests come after those of the others.
    this.#waiting.putLast(message.id);
    this.#next();
  }

  /** Ends all processes. May be called twice. */
  async close(budget: TimeBudget): Promise<void> {
    this.#closed = true;
    for (const { reply } of this.#waiting.clear()) for (const each of reply) each("lost");
    await Promise.all(this.#processes.splice(0).map((process) => process.close(budget)));
  }
}

function replyOf(key: string, pillar: Uint8Array | "full" | "lost"): PillarReplyMessage {
  if (typeof pillar === "string") return { kind: "pillar", key, state: pillar, pillar: new Uint8Array() };
  return { kind: "pillar", key, state: "compiled", pillar };
}

/** One process. */
class PillarProcess {
  readonly #parts: PillarProcessesParts;
  readonly #process: HelperProcess;
  readonly #known = new Set<string>();
  readonly #ended: Promise<void>;
  #work: { readonly minion: string; readonly answer: PromiseWithResolvers<Uint8Array> } | undefined;
  #number = 0;
  #idle: Timer | undefined;

  /**
   * @param onEnd Called when it has ended.
   * @throws {Error} If it cannot be started.
   */
  constructor(parts: PillarProcessesParts, onEnd: () => void) {
    this.#parts = parts;
    this.#process = new HelperProcess({
      words: parts.command ?? masterProcess(PILLAR_PROCESS),
      heapMb: HEAP_MB,
      maxAnswer: MAX_ANSWER,
      answered: (content) => this.#work?.answer.resolve(content),
      unreadable: (error) => this.#fail(describeError(error)),
    });
    this.#process.write(parts.opts);
    this.#ended = this.#process.ended.then(({ reason, printed }) => {
      clearTimeout(this.#idle);
      onEnd();
      this.#fail(reason);
      if (printed !== "") parts.log.error(`A process for pillars: ${printed}`);
    });
  }

  /** Whether it is compiling a pillar. */
  get busy(): boolean {
    return this.#work !== undefined;
  }

  /** The minion whose pillar it is compiling. */
  get minion(): string | undefined {
    return this.#work?.minion;
  }

  /** Whether it has compiled this minion's pillar before. */
  knows(id: string): boolean {
    return this.#known.has(id);
  }

  /**
   * Compiles a pillar.
   * @throws {Error} If the process ends, or takes too long.
   */
  async compile({ id, request }: PillarRequestMessage): Promise<Uint8Array> {
    clearTimeout(this.#idle);
    this.#known.add(id);
    const { timeoutMs, idleMs = IDLE_MS } = this.#parts;
    const answer = Promise.withResolvers<Uint8Array>();
    this.#work = { minion: id, answer };
    const late = setTimeout(() => {
      answer.reject(new Error(`it takes more than ${timeoutMs / 1000} seconds (pillar_timeout)`));
      this.#process.kill();
    }, timeoutMs);
    try {
      this.#process.write(packNumbered({ number: ++this.#number, request }));
      return await answer.promise;
    } finally {
      clearTimeout(late);
      this.#work = undefined;
      this.#idle = setTimeout(() => void this.#process.closeInput(), idleMs);
    }
  }

  #fail(reason: string): void {
    this.#work?.answer.reject(new Error(reason));
  }

  /** Ends it: by the end of its input, else by force. */
  async close(budget: TimeBudget): Promise<void> {
    clearTimeout(this.#idle);
    if (this.busy) this.#process.kill();
    await this.#process.closeInput();
    if (!await budget.allows(this.#ended)) this.#process.kill();
    await this.#ended;
    clearTimeout(this.#idle);
  }
}
