/**
 * The jobs that wait for a busy worker: a new thread takes longer than most jobs, so one is started only for a job for
 * which no worker becomes free in time. Knows no workers.
 * @module
 */

import { permissionKey, type Permissions } from "#lib/plugins/permissions.ts";
import { clearTimeout, setTimeout, type Timer } from "#lib/os/timers.ts";

/**
 * How long a job waits for a worker whose job may end soon, before a worker is started for it, in milliseconds: a new
 * thread takes longer than that, and twenty times the processor time of a small job.
 */
const TURN_MS = 25;

/**
 * How long it waits while others of its kind end, in milliseconds. For a worker whose job is older than this no job
 * waits.
 */
export const LONGEST_TURN_MS = 200;

/** A job that waits for a worker with these permissions. */
interface WaitingJob<J> {
  readonly job: J;
  readonly permissions: Permissions;
  readonly key: string;
  /** Since when, by `performance.now()`. */
  readonly sinceMs: number;
}

/** Jobs without a worker; the oldest is first. */
export class WaitingJobs<J> {
  readonly #startWorker: (job: J, permissions: Permissions) => void;
  #waiting: WaitingJob<J>[] = [];
  #timer: Timer | undefined;
  /** How many workers the next turn starts, by their permissions (`permissionKey`), unless one takes a job before. */
  readonly #starts = new Map<string, number>();

  /** @param startWorker Starts a worker for a job that has waited long enough. */
  constructor(startWorker: (job: J, permissions: Permissions) => void) {
    this.#startWorker = startWorker;
  }

  /** All of them; the oldest is first. */
  get all(): J[] {
    return this.#waiting.map(({ job }) => job);
  }

  /** Adds a job for a worker with exactly these permissions. */
  add(job: J, permissions: Permissions): void {
    const key = permissionKey(permissions);
    if (!this.#waiting.some((one) => one.key === key)) this.#starts.set(key, 1);
    this.#waiting.push({ job, permissions, key, sinceMs: performance.now() });
    this.#timer ??= setTimeout(() => this.#turn(), TURN_MS);
  }

  /** Takes the oldest job for a free worker with the permissions of `key` (`permissionKey`). */
  take(key: string): J | undefined {
    const at = this.#waiting.findIndex((one) => one.key === key);
    if (at < 0) return undefined;
    this.#starts.delete(key);
    return this.#waiting.splice(at, 1)[0].job;
  }

  /** Removes and returns the jobs for which `matches` is true. */
  remove(matches: (job: J) => boolean): J[] {
    const { removed = [], kept = [] } = Object.groupBy(
      this.#waiting,
      ({ job }) => matches(job) ? "removed" : "kept",
    );
    this.#waiting = kept;
    return removed.map(({ job }) => job);
  }

  /** Removes and returns all jobs; from now on none is started. */
  clear(): J[] {
    clearTimeout(this.#timer);
    return this.remove(() => true);
  }

  /**
   * Starts workers for the oldest jobs: none while workers become free in the meantime, except one for a job that has
   * waited for {@linkcode LONGEST_TURN_MS}; else twice as many as the last time.
   */
  #turn(): void {
    this.#timer = undefined;
    const waiting = Map.groupBy(this.#waiting, ({ key }) => key);
    const late = performance.now() - LONGEST_TURN_MS;
    this.#waiting = [...waiting].flatMap(([key, jobs]) => {
      const before = this.#starts.get(key) ?? 0;
      const count = before > 0 ? before : jobs[0].sinceMs <= late ? 1 : 0;
      this.#starts.set(key, Math.max(1, 2 * before));
      for (const { job, permissions } of jobs.slice(0, count)) this.#startWorker(job, permissions);
      return jobs.slice(count);
    });
    if (this.#waiting.length > 0) this.#timer = setTimeout(() => this.#turn(), TURN_MS);
  }
}
