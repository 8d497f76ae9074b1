/**
 * Replaces lib/os/timers.ts in a simulation: timers on the clock of the world, which die with their process.
 * @module
 */

import { world } from "#tests/simulation/world/world.ts";

/** A timer that is set. */
export class Timer {
  #undo: () => void = () => {};

  /** @param everyMs Time between two calls of an interval. */
  constructor(run: () => void, ms: number, everyMs?: number) {
    this.#set(run, ms, everyMs);
  }

  #set(run: () => void, ms: number, everyMs: number | undefined): void {
    this.#undo = world().after(ms, () => {
      if (everyMs !== undefined) this.#set(run, everyMs, everyMs);
      run();
    });
  }

  /** Ends it. */
  clear(): void {
    this.#undo();
  }
}

/** Calls `run` once, in `ms` milliseconds. */
export function setTimeout(run: () => void, ms = 0): Timer {
  return new Timer(run, boundDelay(ms));
}

/** Calls `run` every `ms` milliseconds. */
export function setInterval(run: () => void, ms: number): Timer {
  return new Timer(run, boundDelay(ms), Math.max(boundDelay(ms), 1));
}

/** Ends a timer. */
export function clearTimeout(timer: Timer | undefined): void {
  timer?.clear();
}

/** Ends an interval. */
export const clearInterval: (timer: Timer | undefined) => void = clearTimeout;

function boundDelay(ms: number): number {
  return ms > 0 ? Math.min(ms, 2 ** 31 - 1) : 0;
}
