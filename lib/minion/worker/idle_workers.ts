/**
 * The workers that wait for a job: which one is used next, which are kept, and which are ended. One without permissions
 * is kept, since every job with unknown permissions goes to it first. The worker that ran last is kept for a while.
 * More than these two are kept for a moment: where several jobs run at once, a new thread for each would take longer
 * than the jobs. Knows no jobs.
 * @module
 */

import { permissionKey } from "#lib/plugins/permissions.ts";
import { clearTimeout, setTimeout, type Timer } from "#lib/os/timers.ts";

/** Number of waiting workers: one without permissions, to answer at once, and the one that ran last. */
const WARM_WORKERS = 2;
/** Maximum number of waiting workers. */
const MAX_WORKERS = 4;
/** A worker without a job for this time is ended if {@linkcode WARM_WORKERS} others wait, in milliseconds. */
const SPARE_MS = 2_000;
/** A worker without a job for this time is ended, in milliseconds. It takes 12 MB and starts fast. */
const IDLE_MS = 60_000;
const FREE = permissionKey("none");

interface Waiting<W> {
  readonly worker: W;
  readonly key: string;
  readonly timer: Timer | undefined;
  /** The time of the timer, in milliseconds. */
  readonly ms: number;
}

/** Waiting workers, each with the key of its permissions (`permissionKey`). */
export class IdleWorkers<W extends { stop(): Promise<void> }> {
  /** The worker that ran last is first. */
  #waiting: Waiting<W>[] = [];
  readonly #idleMs: number;
  readonly #spareMs: number;

  /**
   * @param idleMs Milliseconds without a job after which a worker is ended, if another stays.
   * @param spareMs The same for further workers.
   */
  constructor({ idleMs = IDLE_MS, spareMs = SPARE_MS }: { readonly idleMs?: number; readonly spareMs?: number } = {}) {
    this.#idleMs = idleMs;
    this.#spareMs = spareMs;
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
    const idle = this.#waiting.find((waiting) => waiting.key === key);
    if (idle !== undefined) this.remove(idle.worker);
    return idle?.worker;
  }

  /** Adds a worker that was just started; the others are used before it. */
  add(worker: W, key: string): void {
    this.#waiting.push(this.#wait(worker, { key, ms: this.#idleMs }));
  }

  /**
   * Keeps a worker that has finished a job. If enough wait, one that is not needed next is kept for a moment, or ended
   * if too many wait.
   */
  put(worker: W, key: string): void {
    const full = this.#waiting.length >= MAX_WORKERS;
    if (key === FREE && this.hasFree) {
      // Of two workers without permissions the other one, which may never have run, is not needed: it takes 12 MB.
      if (full) return void worker.stop();
      this.#waiting = this.#waiting.map((waiting) => waiting.key === FREE ? this.#anew(waiting) : waiting);
      this.#first(worker, key, this.#idleMs);
    } else if (this.#waiting.length < WARM_WORKERS) this.#first(worker, key, this.#idleMs);
    else {
      const at = this.#waiting.findLastIndex((waiting) => waiting.key !== FREE);
      const spare = this.#waiting[at < 0 ? this.#waiting.length - 1 : at];
      if (full) this.#end(spare.worker);
      else this.#waiting[this.#waiting.indexOf(spare)] = this.#sooner(spare);
      this.#first(worker, key, this.#idleMs);
    }
  }

  #first(worker: W, key: string, ms: number): void {
    this.#waiting.unshift(this.#wait(worker, { key, ms }));
  }

  /** The same worker, which waits no longer than one that is not needed. */
  #sooner({ worker, key, timer, ms }: Waiting<W>): Waiting<W> {
    if (ms <= this.#spareMs) return { worker, key, timer, ms };
    return this.#anew({ worker, key, timer, ms });
  }

  /** The same worker, which waits for a moment from now on, also if it had waited to its end and was kept. */
  #anew({ worker, key, timer }: Waiting<W>): Waiting<W> {
    clearTimeout(timer);
    return this.#wait(worker, { key, ms: this.#spareMs });
  }

  #wait(worker: W, { key, ms }: { readonly key: string; readonly ms: number }): Waiting<W> {
    const retire = () => {
      if (key !== FREE || this.#waiting.filter((waiting) => waiting.key === FREE).length > 1) this.#end(worker);
    };
    return { worker, key, ms, timer: setTimeout(retire, ms) };
  }

  #end(worker: W): void {
    this.remove(worker);
    void worker.stop();
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
