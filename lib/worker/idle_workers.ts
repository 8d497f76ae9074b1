/**
 * The workers that wait for a job: which one is taken, which are kept, and which are ended.
 *
 * One without permissions stays, for every job that nobody has run yet goes to it first. Beside it the one that ran last is
 * kept, for a while. Knows no jobs.
 * @module
 */

import { permissionKey } from "../plugins/permissions.ts";

/** How many workers wait: one without permissions to answer at once, and one that ran last. */
const WARM_WORKERS = 2;
/** A worker that had no job for so long is ended, in milliseconds: it costs 8 MB, and starts quickly. */
const IDLE_MS = 60_000;
const FREE = permissionKey("none");

interface Waiting<W> {
  readonly worker: W;
  readonly key: string;
  readonly timer: ReturnType<typeof setTimeout> | undefined;
}

/** Workers that wait, each with the name of what it may do (`permissionKey`). */
export class IdleWorkers<W extends { stop(): Promise<void> }> {
  /** The one that ran last is the first. */
  #waiting: Waiting<W>[] = [];
  readonly #idleMs: number;

  /** None yet. @param idleMs Milliseconds without a job after which a worker is ended, if another stays. */
  constructor(idleMs = IDLE_MS) {
    this.#idleMs = idleMs;
  }

  /** The workers, the one that ran last first. */
  get all(): W[] {
    return this.#waiting.map(({ worker }) => worker);
  }

  /** Whether one without permissions waits. */
  get hasFree(): boolean {
    return this.#waiting.some(({ key }) => key === FREE);
  }

  /** Takes out a worker that may do exactly what `key` names. */
  take(key: string): W | undefined {
    const found = this.#waiting.find((waiting) => waiting.key === key);
    if (found !== undefined) this.remove(found.worker);
    return found?.worker;
  }

  /** Adds a worker that has only just been started: the others are taken before it. */
  add(worker: W, key: string): void {
    this.#waiting.push(this.#wait(worker, key));
  }

  /** Keeps a worker that has ended a job for the next one, or ends it, or another in its place. */
  put(worker: W, key: string): void {
    if (this.#waiting.length >= WARM_WORKERS) {
      // Of workers without permissions this one is ended: one that waits may be starting still.
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

  /** Takes out this worker, if it waits. */
  remove(worker: W): void {
    const at = this.#waiting.findIndex((waiting) => waiting.worker === worker);
    if (at >= 0) clearTimeout(this.#waiting.splice(at, 1)[0].timer);
  }

  /** Takes out all workers. */
  clear(): W[] {
    const all = this.all;
    for (const worker of all) this.remove(worker);
    return all;
  }
}
