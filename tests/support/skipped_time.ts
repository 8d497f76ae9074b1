/**
 * Time limits of minutes, tested in moments: the clock of this process jumps forward. Real processes and sockets do not
 * notice.
 * @module
 */

import { setTimeout } from "#lib/os/timers.ts";

/** Milliseconds between two looks of the thread at its timers. */
const LOOK_MS = 20;

/**
 * Makes the timers of this thread (lib/os/timers.ts) see a later time, until it is disposed of. Nothing may use
 * `AbortSignal.timeout` by itself meanwhile: such signals come at once.
 */
export class SkippedTime implements Disposable {
  readonly #now = performance.now;
  readonly #timeout = AbortSignal.timeout;
  readonly #started = performance.now();

  constructor() {
    // The thread would sleep until its next timer is due by the real clock.
    AbortSignal.timeout = (ms) => this.#timeout.call(AbortSignal, Math.min(ms, LOOK_MS));
    // It may sleep already, for a timer of another test.
    setTimeout(() => {});
  }

  /** From now on it is `ms` milliseconds after the start. Resolves when the timers that are due have run. */
  async to(ms: number): Promise<void> {
    const skipped = ms - (this.#now.call(performance) - this.#started);
    performance.now = () => this.#now.call(performance) + skipped;
    await new Promise<void>((resolve) => setTimeout(resolve, 5 * LOOK_MS));
  }

  [Symbol.dispose](): void {
    performance.now = this.#now;
    AbortSignal.timeout = this.#timeout;
  }
}
