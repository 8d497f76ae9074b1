/**
 * The processes of custom modules that wait for another job of the same module: a few, for a short time. Knows no jobs.
 * @module
 */

import { clearTimeout, setTimeout, type Timer } from "#lib/os/timers.ts";

/** Maximum number of waiting processes; each takes 50 MB. */
const WARM = 2;
/** A process without a job for this time is ended, in milliseconds. */
const IDLE_MS = 60_000;

/** Waiting processes, each with the key of what it may be used for. */
export class WarmProcesses<P extends { stop(): Promise<void> }> {
  /** The process that ran last is last. */
  #waiting: { readonly process: P; readonly key: string; readonly timer: Timer }[] = [];
  readonly #idleMs: number;

  /** @param idleMs Milliseconds without a job after which a process is ended. */
  constructor(idleMs = IDLE_MS) {
    this.#idleMs = idleMs;
  }

  get all(): P[] {
    return this.#waiting.map(({ process }) => process);
  }

  /** Takes a process that waits under `key`. */
  take(key: string): P | undefined {
    const process = this.#waiting.findLast((waiting) => waiting.key === key);
    if (process !== undefined) this.remove(process.process);
    return process?.process;
  }

  /** Keeps a process; the one that has waited longest may be ended for it. */
  put(process: P, key: string): void {
    const timer = setTimeout(() => {
      this.remove(process);
      void process.stop();
    }, this.#idleMs);
    this.#waiting.push({ process, key, timer });
    if (this.#waiting.length <= WARM) return;
    const oldest = this.#waiting[0].process;
    this.remove(oldest);
    void oldest.stop();
  }

  /** Removes this process, if it waits. */
  remove(process: P): void {
    const at = this.#waiting.findIndex((waiting) => waiting.process === process);
    if (at >= 0) clearTimeout(this.#waiting.splice(at, 1)[0].timer);
  }

  /** Removes and returns all. */
  clear(): P[] {
    const all = this.all;
    for (const process of all) this.remove(process);
    return all;
  }
}
