/**
 * The clocks and the timer of a schedule's loop. On Linux one timer of the kernel rings at a moment of the wall clock,
 * also if the host slept until then, and when somebody sets the clock: so the loop need not look in between. Elsewhere
 * timers do not count while the host sleeps, and nobody tells when the clock is set.
 * @module
 */

import { LibcError } from "#lib/errors.ts";
import { WallTimer } from "#lib/libc/timerfd.ts";
import { type Moment, readMoment } from "#lib/os/moment.ts";
import { clearTimeout, setTimeout } from "#lib/os/timers.ts";
import { waitForDescriptor } from "#lib/sockets/epoll.ts";
import type { DescriptorWait } from "#lib/sockets/wait.ts";

/** The clocks and the timer of a loop. */
export interface LoopClock {
  /** The longest sleep that is sure to see that the host slept, or that its clock was set, in milliseconds. */
  readonly longestSleepMs: number;
  now(): Moment;
  /**
   * Calls `run` in `ms` milliseconds; a clock whose sleep has no limit may call it earlier, when the wall clock is set.
   * The run before, if it is still to come, does not count any more.
   */
  after(ms: number, run: () => void): void;
  /** Ends the timer, now and later. */
  close(): void;
}

/** Timers of the runtime: a host that wakes up runs what is due within this time. */
const LONGEST_SLEEP_MS = 60_000;

/**
 * The clocks of this host.
 * @throws {Error} If the C library cannot be opened.
 */
export function hostClock(): LoopClock {
  if (Deno.build.os !== "linux") return new TimeoutClock();
  try {
    return new KernelClock();
  } catch (error) {
    if (error instanceof LibcError) return new TimeoutClock();
    throw error;
  }
}

/** The wall clock's timer of the kernel. */
class KernelClock implements LoopClock {
  readonly longestSleepMs = Infinity;
  readonly now = readMoment;
  readonly #timer = new WallTimer();
  readonly #wait: DescriptorWait;
  #run: (() => void) | undefined;
  #isWaiting = false;
  #closed = false;

  constructor() {
    this.#wait = waitForDescriptor(this.#timer.fd);
  }

  after(ms: number, run: () => void): void {
    if (this.#closed) return;
    this.#run = run;
    this.#timer.set(Date.now() + ms);
    if (!this.#isWaiting) void this.#serve();
  }

  async #serve(): Promise<void> {
    this.#isWaiting = true;
    while (this.#run !== undefined) {
      await this.#wait.wait(-1);
      if (this.#closed) break;
      this.#timer.clear();
      const run = this.#run;
      this.#run = undefined;
      run?.();
    }
    this.#isWaiting = false;
  }

  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#wait.close();
    this.#timer.close();
  }
}

/** Timers of the runtime. */
class TimeoutClock implements LoopClock {
  readonly longestSleepMs = LONGEST_SLEEP_MS;
  readonly now = readMoment;
  #timer: ReturnType<typeof setTimeout> | undefined;

  after(ms: number, run: () => void): void {
    this.close();
    this.#timer = setTimeout(run, ms);
  }

  close(): void {
    if (this.#timer !== undefined) clearTimeout(this.#timer);
    this.#timer = undefined;
  }
}
