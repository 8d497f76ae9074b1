/**
 * The processes of custom modules that wait for another job of the same module: a few, and not for long. Knows no jobs.
 * @module
 */

/** How many wait: each costs 50 MB. */
const WARM = 2;
/** One that had no job for so long is ended, in milliseconds. */
const IDLE_MS = 60_000;

/** Processes that wait, each under the name of what it may be used for. */
export class WarmProcesses<P extends { stop(): Promise<void> }> {
  /** The one that ran last is the last. */
  #waiting: { readonly process: P; readonly key: string; readonly timer: ReturnType<typeof setTimeout> }[] = [];
  readonly #idleMs: number;

  /** None yet. @param idleMs Milliseconds without a job after which one is ended. */
  constructor(idleMs = IDLE_MS) {
    this.#idleMs = idleMs;
  }

  get all(): P[] {
    return this.#waiting.map(({ process }) => process);
  }

  /** Takes out a process that waits under `key`. */
  take(key: string): P | undefined {
    const found = this.#waiting.findLast((waiting) => waiting.key === key);
    if (found !== undefined) this.remove(found.process);
    return found?.process;
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

  /** Takes out this process, if it waits. */
  remove(process: P): void {
    const at = this.#waiting.findIndex((waiting) => waiting.process === process);
    if (at >= 0) clearTimeout(this.#waiting.splice(at, 1)[0].timer);
  }

  /** Takes out all. */
  clear(): P[] {
    const all = this.all;
    for (const process of all) this.remove(process);
    return all;
  }
}
