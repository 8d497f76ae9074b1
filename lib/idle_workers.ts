/**
 * The workers that wait for a job: which one is taken, which are kept, and which are ended.
 *
 * One without permissions stays, for every job that nobody has run yet goes to it first. Beside it the one that ran last is
 * kept, for a while. Knows no jobs.
 * @module
 */

import { permissionKey } from "./permissions.ts";

/** How many workers wait: one without permissions to answer at once, and one that ran last. */
const WARM_WORKERS = 2;
/** A worker with permissions that had no job for so long is ended, in milliseconds: it costs memory, and starts quickly. */
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

  /** Keeps a worker for the next job, and ends one if too many wait. */
  put(worker: W, key: string): void {
    const timer = key === FREE ? undefined : setTimeout(() => this.#retire(worker), IDLE_MS);
    this.#waiting.unshift({ worker, key, timer });
    if (this.#waiting.length <= WARM_WORKERS) return;
    const free = this.#waiting.filter((waiting) => waiting.key === FREE);
    const spare = free.length > 1 ? free.at(-1) : this.#waiting.findLast((waiting) => waiting.key !== FREE);
    if (spare !== undefined) this.#retire(spare.worker);
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

  #retire(worker: W): void {
    this.remove(worker);
    void worker.stop();
  }
}
