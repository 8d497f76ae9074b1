/**
 * How often something may happen in a second, counted over all threads that share the memory.
 * Knows nothing of what is counted.
 * @module
 */

/** What became of one try. */
export type Turn = "granted" | "refused" | "first refused";

/** The memory of a limit: the second that is counted, and how many it had. */
export function rateMemory(): SharedArrayBuffer {
  return new SharedArrayBuffer(2 * Int32Array.BYTES_PER_ELEMENT);
}

/** Grants at most so many turns in each second. */
export class RateLimit {
  readonly #perSecond: number;
  readonly #counter: Int32Array;

  /** Counts from now. @param perSecond How many a second; 0: no bound. @param memory `rateMemory()`, of all who count. */
  constructor(perSecond: number, memory: SharedArrayBuffer = rateMemory()) {
    this.#perSecond = perSecond;
    this.#counter = new Int32Array(memory);
  }

  /** Takes a turn, if this second has one left; says which is the first that has none, so that it can be told once. */
  take(nowMs: number = Date.now()): Turn {
    if (this.#perSecond <= 0) return "granted";
    const second = Math.floor(nowMs / 1000) | 0;
    const counted = Atomics.load(this.#counter, 0);
    // Of several threads that come into a new second, one begins the count.
    if (counted !== second && Atomics.compareExchange(this.#counter, 0, counted, second) === counted) {
      Atomics.store(this.#counter, 1, 0);
    }
    const before = Atomics.add(this.#counter, 1, 1);
    return before < this.#perSecond ? "granted" : before === this.#perSecond ? "first refused" : "refused";
  }
}
