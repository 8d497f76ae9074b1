/**
 * A time limit that several parts share: the code that ends a service passes on the remaining time, so that no part
 * waits longer than the whole.
 * @module
 */

import { clearTimeout, setTimeout, type Timer } from "./timers.ts";

/**
 * How long `salt-master` and `salt-minion` may take to end, in milliseconds. Docker kills after 10 s, systemd after 90.
 */
export const CLOSE_MS = 5_000;

/** A span of time that has begun. */
export class TimeBudget {
  readonly #endMs: number;

  /**
   * It begins now.
   * @param ms Its length, in milliseconds.
   */
  constructor(ms: number) {
    this.#endMs = performance.now() + ms;
  }

  /** The remaining time in milliseconds; 0 when it is over. */
  get leftMs(): number {
    return Math.max(0, this.#endMs - performance.now());
  }

  /** One that ends `ms` milliseconds before this one. */
  less(ms: number): TimeBudget {
    return new TimeBudget(this.leftMs - ms);
  }

  /**
   * Waits for `work`, until the budget is over.
   * @returns Whether the work ended in time.
   * @throws What `work` rejects with.
   */
  async allows(work: Promise<unknown>): Promise<boolean> {
    let timer: Timer | undefined;
    const late = new Promise<false>((resolve) => timer = setTimeout(() => resolve(false), this.leftMs));
    try {
      return await Promise.race([work.then(() => true), late]);
    } finally {
      clearTimeout(timer);
    }
  }
}
