/**
 * Work that is asked for more often than it must be done, such as the writing of a file that holds everything. What is
 * asked for meanwhile is done at once, and the thread rests afterwards in proportion to what the work took: however
 * much there is, it takes about a tenth of the thread at most.
 * @module
 */

import { clearTimeout, setTimeout, type Timer } from "#lib/os/timers.ts";

/** Pause after the work, as a multiple of its time; its most in milliseconds, as work may have waited for others. */
const REST_TIMES = 9, MOST_REST_MS = 2_000;

/** One kind of such work. */
export class PacedWork {
  readonly #work: () => void | Promise<void>;
  readonly #gatherMs: number;
  #timer: Timer | undefined;
  #running: Promise<void> | undefined;
  #isAskedAgain = false;
  #restsUntilMs = -Infinity;
  #isClosed = false;

  /**
   * @param work Must not throw, nor reject.
   * @param gatherMs How long further asks are waited for, in milliseconds. Default: it is done as soon as it may.
   */
  constructor(work: () => void | Promise<void>, gatherMs = 0) {
    this.#work = work;
    this.#gatherMs = gatherMs;
  }

  /** Has it done soon. What was asked while it is being done is done once more. */
  ask(): void {
    if (this.#isClosed || this.#timer !== undefined) return;
    if (this.#running !== undefined) {
      this.#isAskedAgain = true;
      return;
    }
    const waitMs = Math.max(this.#gatherMs, this.#restsUntilMs - performance.now());
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      // In another turn: if the work itself asks, it is running already.
      this.#running = Promise.resolve().then(() => this.#run());
    }, waitMs);
  }

  async #run(): Promise<void> {
    const begunMs = performance.now();
    await this.#work();
    const endMs = performance.now();
    this.#restsUntilMs = endMs + Math.min(REST_TIMES * (endMs - begunMs), MOST_REST_MS);
    this.#running = undefined;
    if (this.#isAskedAgain) this.ask();
    this.#isAskedAgain = false;
  }

  /** Begins no more; resolves when what is being done has ended. */
  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    await this.#running;
  }
}
