/**
 * Time limits of minutes, tested in moments: the clock of this process jumps forward. Real processes and sockets do not notice.
 * @module
 */

import { setTimeout } from "../../lib/os/timers.ts";

/** Makes the timers of this process see a later time, until it is disposed of. */
export class SkippedTime implements Disposable {
  readonly #now = performance.now;
  readonly #started = performance.now();

  /** From now on it is `ms` milliseconds after the start. Resolves when the timers that are due have run. */
  async to(ms: number): Promise<void> {
    const skipped = ms - (this.#now.call(performance) - this.#started);
    performance.now = () => this.#now.call(performance) + skipped;
    // A timer of the thread makes it look at all of them.
    for (const waitMs of [1, 100]) await new Promise<void>((resolve) => setTimeout(resolve, waitMs));
  }

  [Symbol.dispose](): void {
    performance.now = this.#now;
  }
}
