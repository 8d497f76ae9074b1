/**
 * Runs functions of runners and wheel modules, each in a separate process, so that they cannot disturb the master's
 * threads. A limited number runs at once, a limited number waits, and others are refused. Free places go to the users
 * in turn (user_turns.ts). Knows nothing of what functions do (lib/master/processes/master_function.ts).
 * @module
 */

import { describeError, messageOf } from "#lib/errors.ts";
import { frame, FrameReader } from "#lib/protocol/frames.ts";
import { functionEvent, type FunctionKind } from "#lib/protocol/tags.ts";
import { truncate } from "#lib/text/truncate.ts";
import { clearTimeout, setTimeout } from "#lib/os/timers.ts";
import type { Logger } from "#lib/runtime/log.ts";
import { killProcessTree } from "#lib/procfs/process_tree.ts";
import { FUNCTION_PROCESS, masterProcess } from "#lib/runtime/self_command.ts";
import type { TimeBudget } from "#lib/os/time_budget.ts";
import {
  type FunctionJob,
  type FunctionMessage,
  type FunctionRequest,
  packFunctionInit,
  unpackFunctionJob,
} from "./messages.ts";
import { UserTurns } from "./user_turns.ts";
import { map, type ValueMap } from "#lib/values/value.ts";

/** The limits for functions of one kind. */
interface Bounds {
  /** Processes at a time. */
  readonly running: number;
  /** Requests that wait for one. */
  readonly waiting: number;
  /** Milliseconds that one may take. */
  readonly ms?: number;
}

/** Wheel functions are short, and clients wait for them. Together they are fewer than an MWorker can have waiting. */
const FUNCTION_BOUNDS: Readonly<Record<FunctionKind, Bounds>> = {
  runner: { running: 16, waiting: 1_000 },
  wheel: { running: 4, waiting: 8, ms: 120_000 },
};

/** The part of the places for waiting that one user may take; the rest is for others. */
const USER_PART = 0.75;
/** Maximum bytes of an outcome. */
const MAX_OUTCOME = 256 * 2 ** 20;
/** Maximum bytes of a process's output that are logged. */
const MAX_PRINTED = 16_384;

/** The parts that {@linkcode FunctionProcesses} needs. */
export interface FunctionProcessesParts {
  /** The master's packed options. */
  readonly opts: Uint8Array;
  readonly log: Logger;
  /** Stamps an event and fires it on the master's bus. */
  fire(tag: string, data: ValueMap): Promise<void>;
  /** Default: the bounds above. */
  readonly bounds?: Readonly<Record<FunctionKind, Bounds>>;
}

interface Turn {
  readonly key: string;
  readonly packed: Uint8Array;
  readonly job: FunctionJob;
  reply(replyOf: FunctionMessage): void;
}

/** The processes of one master. */
export class FunctionProcesses {
  readonly #parts: FunctionProcessesParts;
  readonly #bounds: Readonly<Record<FunctionKind, Bounds>>;
  readonly #running: Readonly<Record<FunctionKind, Set<Deno.ChildProcess>>> = { runner: new Set(), wheel: new Set() };
  readonly #waiting: Readonly<Record<FunctionKind, UserTurns<Turn>>> = {
    runner: new UserTurns(),
    wheel: new UserTurns(),
  };
  readonly #serving = new Set<Promise<void>>();
  #closed = false;

  constructor(parts: FunctionProcessesParts) {
    this.#parts = parts;
    this.#bounds = parts.bounds ?? FUNCTION_BOUNDS;
  }

  /** Their current activity, in one line. */
  describe(): string {
    const each = (["runner", "wheel"] as const).map((kind) =>
      `${this.#running[kind].size} ${kind} functions running, ${this.#waiting[kind].size} waiting`
    );
    return each.join("; ");
  }

  /**
   * Takes a request.
   * @param reply Called with the replies to it.
   */
  take({ key, job: packed }: FunctionRequest, reply: (replyOf: FunctionMessage) => void): void {
    const job = unpackFunctionJob(packed);
    const turn = { key, packed, job, reply };
    const { running, waiting } = this.#bounds[job.kind];
    const queue = this.#waiting[job.kind];
    const isFull = queue.size >= waiting || queue.waitingOf(job.user) >= Math.ceil(waiting * USER_PART);
    if (this.#closed || (this.#running[job.kind].size >= running && isFull)) {
      this.#parts.log.warning(
        `Too many ${job.kind} functions are running: ${truncate(job.fun)} of ${job.user} is refused`,
      );
      return reply(replyOf(key, "full"));
    }
    reply(replyOf(key, "taken"));
    queue.add(job.user, turn);
    this.#next(job.kind);
  }

  #next(kind: FunctionKind): void {
    if (this.#closed || this.#running[kind].size >= this.#bounds[kind].running) return;
    const turns = this.#waiting[kind], startMs = performance.now(), turn = turns.start(startMs);
    if (turn === undefined) return;
    const serving = this.#serve(turn)
      .catch((error) => this.#parts.log.error(`A ${kind} function could not be run: ${describeError(error)}`))
      .finally(() => {
        this.#serving.delete(serving);
        const nowMs = performance.now();
        turns.end(turn.job.user, nowMs - startMs, nowMs);
        this.#next(kind);
      });
    this.#serving.add(serving);
  }

  async #serve(turn: Turn): Promise<void> {
    const { job, key, packed, reply } = turn;
    const { log, opts } = this.#parts;
    let child: Deno.ChildProcess;
    try {
      child = start();
    } catch (error) {
      return await this.#lose(turn, messageOf(error));
    }
    const running = this.#running[job.kind].add(child);
    const ended = child.status.finally(() => running.delete(child));
    // One that has ended is left alone: its number may be another process's.
    const end = () => running.has(child) && killProcessTree(child.pid);
    const { ms } = this.#bounds[job.kind];
    const timer = ms === undefined ? undefined : setTimeout(end, ms);
    // The process ends when its input ends: then the master has ended.
    const input = child.stdin.getWriter();
    input.write(frame(1, packFunctionInit(packed, opts))).catch(() => {}); // it has ended: its status says so
    try {
      const [outcome, printed, status] = await Promise.all([readOutcome(child, end), readPrinted(child), ended]);
      if (printed !== "") log.error(`${job.kind} ${truncate(job.fun)}: ${printed}`);
      if (outcome !== undefined) return reply({ key, state: "ended", outcome });
      await this.#lose(
        turn,
        status.signal === null ? `it ended with ${status.code}` : `it was ended by ${status.signal}`,
      );
    } finally {
      clearTimeout(timer);
      await input.close().catch(() => {});
    }
  }

  /** Reports that there will be no outcome. */
  async #lose({ job, key, reply }: Turn, reason: string): Promise<void> {
    const { log, fire } = this.#parts;
    log.error(`The process of ${job.kind} ${truncate(job.fun)} with jid ${job.jid} is lost: ${reason}`);
    reply(replyOf(key, "lost"));
    const text = `Exception occurred in ${job.kind} ${job.fun}: its process is lost: ${reason}`;
    const fun = `${job.kind}.${job.fun}`;
    const data = { fun, jid: job.jid, user: job.user, fun_args: [], return: text, success: false, retcode: 1 };
    await fire(functionEvent(job.kind, job.jid, "ret"), map(data));
  }

  /** Ends all processes, with SIGTERM at first; those that wait are refused. May be called twice. */
  async close(budget: TimeBudget): Promise<void> {
    this.#closed = true;
    for (const queue of Object.values(this.#waiting)) {
      for (const { key, reply } of queue.clear()) reply(replyOf(key, "lost"));
    }
    const all = () => Object.values(this.#running).flatMap((children) => [...children]);
    for (const child of all()) terminate(child);
    if (await budget.allows(Promise.all(this.#serving))) return;
    for (const child of all()) killProcessTree(child.pid);
    await Promise.all(this.#serving);
  }
}

function replyOf(key: string, state: FunctionMessage["state"]): FunctionMessage {
  return { key, state, outcome: new Uint8Array() };
}

function start(): Deno.ChildProcess {
  const [command, ...args] = masterProcess(FUNCTION_PROCESS);
  // In its own process group, so that Ctrl-C on the master's terminal signals only the master.
  return new Deno.Command(command, { args, stdin: "piped", stdout: "piped", stderr: "piped", detached: true }).spawn();
}

/** Asks it to end. */
function terminate(child: Deno.ChildProcess): void {
  try {
    child.kill("SIGTERM");
  } catch {
    // It has ended.
  }
}

/** Reads the outcome from the process, if it writes one; a process that writes too much is ended. */
async function readOutcome(child: Deno.ChildProcess, end: () => void): Promise<Uint8Array | undefined> {
  const reader = new FrameReader(MAX_OUTCOME);
  let outcome: Uint8Array | undefined;
  for await (const piece of child.stdout) {
    try {
      outcome ??= reader.push(piece)[0]?.content;
    } catch (error) {
      if (!(error instanceof RangeError)) throw error;
      end();
    }
  }
  return outcome;
}

async function readPrinted(child: Deno.ChildProcess): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  for await (const piece of child.stderr) {
    if (text.length < MAX_PRINTED) {
      text += decoder.decode(piece, { stream: true }).slice(0, MAX_PRINTED - text.length);
    }
  }
  return text.trim();
}
