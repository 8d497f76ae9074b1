/**
 * Records the outcome of the jobs of a swarm, and the share of the time that the swarm itself used.
 * @module
 */

import { str, type ValueMap } from "#lib/values/value.ts";
import { threadCpuMs } from "#tests/bench/harness/process_figures.ts";

/** The report of a completed job. Times are in milliseconds. */
export interface SwarmJob {
  readonly jid: string;
  readonly fun: string;
  /** Number of minions that received it. */
  readonly received: number;
  /** Number of returns that the master has acknowledged. */
  readonly acknowledged: number;
  /** Number of returns that the master did not accept. */
  readonly failed: number;
  /** Time from the first receipt to the last acknowledged return. */
  readonly ms: number;
  /** Time from the first receipt to the last one. */
  readonly publishMs: number;
  /** The share of that time that the swarm's thread used the processor: near 1, the swarm was the bottleneck. */
  readonly busy: number;
}

/** Above this share the swarm is measured, and no longer the master. */
export const BUSY_LIMIT = 0.85;

/** A job has ended when nothing happened to it for this long, in milliseconds. */
const QUIET_MS = 250;

interface Running {
  readonly fun: string;
  readonly first: number;
  readonly cpuAtFirst: number;
  lastReceived: number;
  last: number;
  cpuAtLast: number;
  received: number;
  acknowledged: number;
  failed: number;
}

export class SwarmJobs {
  readonly #jobs = new Map<string, Running>();
  readonly #ended: (job: SwarmJob) => void;
  #timer: ReturnType<typeof setInterval> | undefined;

  /**
   * Starts with no job.
   * @param ended Called for each job that has ended.
   */
  constructor(ended: (job: SwarmJob) => void) {
    this.#ended = ended;
  }

  /** Records a step of the job of `load` at one minion. */
  note(load: ValueMap, what: "received" | "acknowledged" | "failed"): void {
    const jid = str(load.get("jid") ?? "");
    const now = performance.now();
    let job = this.#jobs.get(jid);
    if (job === undefined) {
      const cpu = threadCpuMs();
      job = {
        fun: str(load.get("fun") ?? ""),
        first: now,
        cpuAtFirst: cpu,
        lastReceived: now,
        last: now,
        cpuAtLast: cpu,
        received: 0,
        acknowledged: 0,
        failed: 0,
      };
      this.#jobs.set(jid, job);
    }
    job[what]++;
    job.last = now;
    if (what === "received") job.lastReceived = now;
    // The system call costs as much as a return, so it is made only if this may be the last return.
    if (job.acknowledged + job.failed === job.received) job.cpuAtLast = threadCpuMs();
    this.#timer ??= setInterval(() => this.#sweep(), QUIET_MS / 5);
  }

  #sweep(): void {
    const now = performance.now();
    for (const [jid, job] of this.#jobs) {
      if (job.acknowledged + job.failed < job.received || now - job.last < QUIET_MS) continue;
      this.#jobs.delete(jid);
      const { fun, received, acknowledged, failed } = job;
      const ms = job.last - job.first;
      const busy = ms === 0 ? 0 : (job.cpuAtLast - job.cpuAtFirst) / ms;
      this.#ended({ jid, fun, received, acknowledged, failed, ms, publishMs: job.lastReceived - job.first, busy });
    }
    if (this.#jobs.size > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }
}
