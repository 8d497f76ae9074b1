/**
 * Calls a function at intervals of processor time: often while this process works, never while it is idle. For checks
 * of something that needs processor time to grow, such as memory.
 *
 * A timer would have to be as fast as the fastest attack at all times, and each wake-up of an idle thread costs 0.2 to
 * 0.4 ms. The processor time of the process (all threads) stands still while nothing is done. The system waits for it
 * (`clock_nanosleep`), not a thread of ours.
 *
 * The work of every thread counts, libzmq's too, so the watch need not know when an attack begins, and an idle
 * connection costs nothing. Between two calls, at most the data arrives that {@linkcode WORK_MS} of a processor can
 * read, or that arrives in {@linkcode LOOK_MS}, if that is more.
 *
 * Measured against a plain timer of {@linkcode LOOK_MS} on a busy machine: in an idle process the timer takes 0.94 ms
 * of a processor per second (80 looks in 20 s), the watch 0.06 ms (no look). When work begins in an idle process, the
 * watch looks after 19 to 31 ms of processor time (33 to 141 ms of time, 30 tries), the timer after 1 to 79 ms (3 to
 * 260 ms of time). On a quiet machine the timer's bound is 250 ms of each processor, with the figure at
 * {@linkcode WORK_MS} up to 675 MiB. Source: clock_nanosleep(2), CLOCK_PROCESS_CPUTIME_ID.
 * @module
 */

import { processorTime } from "#lib/libc/libc.ts";
import { sleep } from "#lib/os/sleep.ts";

/**
 * Processor time between two calls, in milliseconds. A flood on loopback makes a master grow by 0.3 to 2.7 MiB in each,
 * so by 54 at most in this time, unless {@linkcode LOOK_MS} delays the call. An idle master uses half a millisecond per
 * second.
 */
export const WORK_MS = 20;
/**
 * Minimum time between two calls, and the fixed interval on systems without a clock of processor time; in milliseconds.
 */
export const LOOK_MS = 250;

/** The clocks that are used. */
export interface CpuTimeClocks {
  /**
   * Waits until this process has used `ms` more milliseconds of processor time.
   * @returns False at once if that is not supported.
   */
  worked(ms: number): Promise<boolean>;
  /**
   * Waits `ms` milliseconds.
   * @throws {unknown} The signal's reason when it is aborted.
   */
  sleep(ms: number, signal: AbortSignal): Promise<void>;
  /** Milliseconds since any fixed time. */
  now(): number;
}

/** The system's clocks. */
const CLOCKS: CpuTimeClocks = { worked: processorTime, sleep, now: () => performance.now() };

/** Calls a function until it is closed. */
export class CpuTimeWatch {
  readonly #clocks: CpuTimeClocks;
  readonly #end = new AbortController();
  #over = false;

  /**
   * @param look The function to call.
   * @param failed Called with what `look` threw; then the watch ends.
   */
  constructor(look: () => void, failed: (error: unknown) => void, clocks: CpuTimeClocks = CLOCKS) {
    this.#clocks = clocks;
    this.#run(look).catch(failed).finally(() => this.#over = true);
  }

  async #run(look: () => void): Promise<void> {
    const { worked, now, sleep } = this.#clocks;
    const { signal } = this.#end;
    for (let lookedMs = now();; lookedMs = now()) {
      await worked(WORK_MS);
      const restMs = lookedMs + LOOK_MS - now();
      if (restMs > 0 && !signal.aborted) await sleep(restMs, signal).catch(() => {}); // an abort is handled below
      if (signal.aborted) return;
      look();
    }
  }

  /**
   * Ends the watch. Only processor time can end the system's wait, so this computes for nothing if the process is
   * otherwise idle, {@linkcode WORK_MS} at most. May be called twice.
   */
  async close(): Promise<void> {
    this.#end.abort();
    while (!this.#over) {
      for (const endMs = performance.now() + 1; performance.now() < endMs;);
      await sleep(0);
    }
  }
}
