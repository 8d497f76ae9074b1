/**
 * Limits how often something may happen per second, counted over all threads that share the memory.
 * @module
 */

/** The result of one try. */
export type Turn = "granted" | "refused" | "first refused";

/** The memory of a limit: the current second and its count. */
export function rateMemory(): SharedArrayBuffer {
  return new SharedArrayBuffer(2 * Int32Array.BYTES_PER_ELEMENT);
}

/** Grants a limited number of turns in each second. */
export class RateLimit {
  readonly #perSecond: number;
  readonly #counter: Int32Array;

  /**
   * @param perSecond Maximum per second; 0: no limit.
   * @param memory From `rateMemory()`, the same for all threads.
   */
  constructor(perSecond: number, memory: SharedArrayBuffer = rateMemory()) {
    this.#perSecond = perSecond;
    this.#counter = new Int32Array(memory);
  }

  /**
   * Takes a turn if this second has one left; the first refusal in a second is marked, so that it can be logged once.
   */
  take(nowMs: number = Date.now()): Turn {
    if (this.#perSecond <= 0) return "granted";
    const second = Math.floor(nowMs / 1000) | 0;
    const counted = Atomics.load(this.#counter, 0);
    // If several threads enter a new second, one of them resets the count.
    if (counted !== second && Atomics.compareExchange(this.#counter, 0, counted, second) === counted) {
      Atomics.store(this.#counter, 1, 0);
    }
    const before = Atomics.add(this.#counter, 1, 1);
    return before < this.#perSecond ? "granted" : before === this.#perSecond ? "first refused" : "refused";
  }
}
