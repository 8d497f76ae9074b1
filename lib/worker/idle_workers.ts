/**
 * The workers that wait for a job: which one is used next, which are kept, and which are ended. One without permissions
 * is kept, since every job with unknown permissions goes to it first. The worker that ran last is kept for a while.
 * Knows no jobs.
 * @module
 */

import { permissionKey } from "../plugins/permissions.ts";
import { clearTimeout, setTimeout, type Timer } from "../os/timers.ts";

/** Number of waiting workers: one without permissions, to answer at once, and the one that ran last. */
const WARM_WORKERS = 2;
/** A worker without a job for this time is ended, in milliseconds. It takes 8 MB and starts fast. */
const IDLE_MS = 60_000;
const FREE = permissionKey("none");

interface Waiting<W> {
  readonly worker: W;
  readonly key: string;
  readonly timer: Timer | undefined;
}

/** Waiting workers, each with the key of its permissions (`permissionKey`). */
export class IdleWorkers<W extends { stop(): Promise<void> }> {
  /** The worker that ran last is first. */
  #waiting: Waiting<W>[] = [];
  readonly #idleMs: number;

  /** @param idleMs Milliseconds without a job after which a worker is ended, if another stays. */
  constructor(idleMs = IDLE_MS) {
    this.#idleMs = idleMs;
  }

  /** The worker that ran last is first. */
  get all(): W[] {
    return this.#waiting.map(({ worker }) => worker);
  }

  /** Whether a worker without permissions waits. */
  get hasFree(): boolean {
    return this.#waiting.some(({ key }) => key === FREE);
  }

  /** Takes a worker with exactly the permissions of `key`. */
  take(key: string): W | undefined {
    const found = this.#waiting.find((waiting) => waiting.key === key);
    if (found !== undefined) this.remove(found.worker);
    return found?.worker;
  }

  /** Adds a worker that was just started; the others are used before it. */
  add(worker: W, key: string): void {
    this.#waiting.push(this.#wait(worker, key));
  }

  /** Keeps a worker that has finished a job, or ends it, or ends another one instead. */
  put(worker: W, key: string): void {
    if (this.#waiting.length >= WARM_WORKERS) {
      // Of two workers without permissions this one is ended, since the other may still be starting.
      if (key === FREE && this.hasFree) return void worker.stop();
      const spare = this.#waiting.findLast((waiting) => waiting.key !== FREE) ??
        this.#waiting[this.#waiting.length - 1];
      this.remove(spare.worker);
      void spare.worker.stop();
    }
    this.#waiting.unshift(this.#wait(worker, key));
  }

  #wait(worker: W, key: string): Waiting<W> {
    const retire = () => {
      if (key === FREE && this.#waiting.filter((waiting) => waiting.key === FREE).length < 2) return;
      this.remove(worker);
      void worker.stop();
    };
    return { worker, key, timer: setTimeout(retire, this.#idleMs) };
  }

  /** Removes this worker, if it waits. */
  remove(worker: W): void {
    const at = this.#waiting.findIndex((waiting) => waiting.worker === worker);
    if (at >= 0) clearTimeout(this.#waiting.splice(at, 1)[0].timer);
  }

  /** Removes and returns all workers. */
  clear(): W[] {
    const all = this.all;
    for (const worker of all) this.remove(worker);
    return all;
  }
}
