/**
 * Renders the files of events in a process, one event after the other; several may wait there. A process that takes too
 * long for one event is ended with it, and the events after it go to the next process.
 * @module
 */

import { describeError, messageOf } from "#lib/errors.ts";
import { HelperProcess } from "#lib/programs/helper_process.ts";
import { packRenderEvent, type RenderedEvent, type RenderEvent, unpackRenderedEvent } from "#lib/reactor/rendering.ts";
import type { Logger } from "#lib/runtime/log.ts";
import { masterProcess, REACTOR_PROCESS } from "#lib/runtime/self_command.ts";
import { clearTimeout, setTimeout, type Timer } from "#lib/os/timers.ts";
import type { TimeBudget } from "#lib/os/time_budget.ts";

/** Megabytes of JavaScript's heap of the process: files that need more end only this process. */
const HEAP_MB = 512;
/** Maximum bytes of what the files of one event say. */
const MAX_ANSWER = 256 * 2 ** 20;
/** A process takes this long to start, in milliseconds, besides the time for its event. */
const START_MS = 20_000;
/** A process without work for this time is ended, in milliseconds. */
const IDLE_MS = 300_000;

/** The parts of a {@linkcode RenderQueue}. */
export interface RenderQueueParts {
  /** The packed options of the master. */
  readonly opts: Uint8Array;
  /** Longest time for one event, in milliseconds. */
  readonly timeoutMs: number;
  /** Added to the nice value of the process. */
  readonly niceness: number;
  readonly log: Logger;
  /** The words that start a process. Default: this program's. */
  readonly command?: readonly string[];
}

interface Waiting {
  readonly event: RenderEvent;
  readonly answer: PromiseWithResolvers<RenderedEvent>;
}

/** The process of one reactor, started when it is needed. */
export class RenderQueue {
  readonly #parts: RenderQueueParts;
  /** In the order in which they were given; the first is being rendered. */
  #waiting: Waiting[] = [];
  #process: HelperProcess | undefined;
  #late: Timer | undefined;
  #idle: Timer | undefined;
  #closed = false;

  constructor(parts: RenderQueueParts) {
    this.#parts = parts;
  }

  /** What the files of an event say. Does not fail: that it could not be rendered is a mistake of the files. */
  render(event: RenderEvent): Promise<RenderedEvent> {
    const answer = Promise.withResolvers<RenderedEvent>();
    if (this.#closed) {
      answer.reject(new Error("the reactor ends"));
      return answer.promise;
    }
    clearTimeout(this.#idle);
    this.#waiting.push({ event, answer });
    if (this.#process === undefined) this.#start();
    else {
      this.#process.write(packRenderEvent(event));
      if (this.#waiting.length === 1) this.#watch(0);
    }
    return answer.promise;
  }

  /** Starts a process, and gives it all events that wait. */
  #start(): void {
    try {
      this.#process = this.#startProcess();
      for (const { event } of this.#waiting) this.#process.write(packRenderEvent(event));
      this.#watch(START_MS);
    } catch (error) {
      const reason = `no process for reactor files can be started: ${messageOf(error)}`;
      for (const { event, answer } of this.#waiting.splice(0)) answer.resolve(failed(event, reason));
    }
  }

  /** @throws {Error} If it cannot be started. */
  #startProcess(): HelperProcess {
    const { opts, command, niceness, log } = this.#parts;
    const words = command ?? masterProcess(REACTOR_PROCESS);
    const process: HelperProcess = new HelperProcess({
      words: niceness > 0 ? ["nice", "-n", String(niceness), ...words] : words,
      heapMb: HEAP_MB,
      maxAnswer: MAX_ANSWER,
      answered: (made) => this.#answered(process, made),
      unreadable: (error) => {
        log.error(`The process for reactor files: ${describeError(error)}`);
        process.kill();
      },
    });
    process.write(opts);
    void process.ended.then(({ reason, printed }) => {
      if (printed !== "") log.error(`The process for reactor files: ${printed}`);
      if (process === this.#process) this.#next(reason);
    });
    return process;
  }

  #watch(moreMs: number): void {
    const { timeoutMs } = this.#parts;
    clearTimeout(this.#late);
    this.#late = setTimeout(() => {
      this.#process?.kill();
      this.#next(`it takes more than ${timeoutMs / 1000} seconds to render (reactor_timeout)`);
    }, timeoutMs + moreMs);
  }

  #answered(process: HelperProcess, made: Uint8Array): void {
    if (process !== this.#process) return;
    clearTimeout(this.#late);
    const first = this.#waiting.shift();
    try {
      first?.answer.resolve(unpackRenderedEvent(made));
    } catch (error) {
      first?.answer.resolve(failed(first.event, messageOf(error)));
    }
    if (this.#waiting.length > 0) this.#watch(0);
    else this.#idle = setTimeout(() => this.#rest(), IDLE_MS);
  }

  /** Without work, there is no process. */
  #rest(): void {
    const process = this.#process;
    this.#process = undefined;
    void process?.closeInput();
  }

  /** Gives up the event that was being rendered, and goes on with the others. */
  #next(reason: string): void {
    clearTimeout(this.#late);
    this.#process = undefined;
    const first = this.#waiting.shift();
    first?.answer.resolve(failed(first.event, reason));
    if (this.#waiting.length > 0) this.#start();
  }

  /** Ends the process. Events that wait are not rendered. */
  async close(budget: TimeBudget): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#late);
    clearTimeout(this.#idle);
    const process = this.#process;
    this.#process = undefined;
    for (const { answer } of this.#waiting.splice(0)) answer.reject(new Error("the reactor ends"));
    if (process === undefined) return;
    await process.closeInput();
    if (!await budget.allows(process.ended)) process.kill();
    await process.ended;
  }
}

function failed({ tag, files }: RenderEvent, reason: string): RenderedEvent {
  return {
    reactions: [],
    mistakes: [{ file: files.join(", "), text: `cannot be rendered for the tag ${tag}: ${reason}` }],
  };
}
