/**
 * Looks at something while this process works, and leaves it alone while the process is at rest.
 *
 * For what no thread can do without a processor, such as taking memory. A timer would have to be as fast as the fastest
 * attack, day and night, and each time that a thread at rest wakes up costs 0.2 to 0.4 ms, whatever it does then. So the clock
 * is the processor time of the process, of all its threads: it stands while nothing is done, and runs the faster the more is.
 * The system waits for it (`clock_nanosleep`), no thread of ours. Does not know what is looked at.
 *
 * So nobody has to be seen to begin. Whether an attacker has just come or has been there for days, whether it is heard by this
 * thread, another one or libzmq's: what it has this process do is counted, and a connection that says nothing costs nothing.
 * Between two looks comes what {@linkcode WORK_MS} of a processor can read, or what comes in {@linkcode LOOK_MS}, if that is more.
 * Source: clock_nanosleep(2), CLOCK_PROCESS_CPUTIME_ID.
 * @module
 */

import { processorTime } from "../os/libc.ts";
import { sleep } from "../os/sleep.ts";

/**
 * So much processor time is worth a look, in milliseconds: a flood on loopback makes a master take 0.3 to 2.7 MiB in each, so
 * 54 at most, if the looks are not too soon for {@linkcode LOOK_MS}. A master at rest uses half a millisecond a second.
 */
export const WORK_MS = 20;
/** The shortest time between two looks, and the time itself where the system does not tell processor time; in milliseconds. */
export const LOOK_MS = 250;

/** The clocks that are gone by. */
export interface WorkClocks {
  /** Waits for so much processor time of this process, in milliseconds. @returns False, and at once, if that cannot be. */
  worked(ms: number): Promise<boolean>;
  /** Waits so many milliseconds. @throws {unknown} The signal's reason when it is aborted. */
  sleep(ms: number, signal: AbortSignal): Promise<void>;
  /** Milliseconds since whenever. */
  now(): number;
}

/** The system's. */
const CLOCKS: WorkClocks = { worked: processorTime, sleep, now: () => performance.now() };

/** The looks, until they are closed. */
export class CpuTimeWatch {
  readonly #clocks: WorkClocks;
  readonly #end = new AbortController();
  #over = false;

  /** Begins. @param look What a look is. @param failed Told of what a look threw: there are no more then. */
  constructor(look: () => void, failed: (error: unknown) => void, clocks: WorkClocks = CLOCKS) {
    this.#clocks = clocks;
    this.#run(look).catch(failed).finally(() => this.#over = true);
  }

  async #run(look: () => void): Promise<void> {
    const { worked, now, sleep } = this.#clocks;
    const { signal } = this.#end;
    for (let lookedMs = now();; lookedMs = now()) {
      await worked(WORK_MS);
      const restMs = lookedMs + LOOK_MS - now();
      if (restMs > 0 && !signal.aborted) await sleep(restMs, signal).catch(() => {}); // aborted: seen below
      if (signal.aborted) return;
      look();
    }
  }

  /**
   * Ends the looks. Nothing can end the system's wait but what it waits for: if the process has too little else to do, its
   * processor works for nothing until then, {@linkcode WORK_MS} at most. Twice is fine.
   */
  async close(): Promise<void> {
    this.#end.abort();
    while (!this.#over) {
      for (const endMs = performance.now() + 1; performance.now() < endMs;);
      await new Promise((resolve) => setTimeout(resolve));
    }
  }
}
