/**
 * What became of the jobs of a swarm, and what part of the time was the swarm's own work.
 * @module
 */

import { str, type ValueMap } from "../../../lib/values/value.ts";
import { threadCpuMs } from "../harness/process_figures.ts";

/** A job, when nothing more of it is to be expected. Times in milliseconds. */
export interface SwarmJob {
  readonly jid: string;
  readonly fun: string;
  /** Minions that received it. */
  readonly received: number;
  /** Returns that the master has acknowledged. */
  readonly acknowledged: number;
  /** Returns that the master did not take. */
  readonly failed: number;
  /** From the first minion that received it to the last return that was acknowledged. */
  readonly ms: number;
  /** From the first minion that received it to the last. */
  readonly publishMs: number;
  /** What part of that time the swarm's own thread was at work: near 1, it is the swarm that was measured. */
  readonly busy: number;
}

/** From here on it is the swarm, and no longer the master, that is being measured. */
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

/** Counts. */
export class SwarmJobs {
  readonly #jobs = new Map<string, Running>();
  readonly #ended: (job: SwarmJob) => void;
  #timer: ReturnType<typeof setInterval> | undefined;

  /** Counts nothing yet. @param ended Told of each job that has ended. */
  constructor(ended: (job: SwarmJob) => void) {
    this.#ended = ended;
  }

  /** Something happened to the job of `load`, at one minion. */
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
    // Asking the system costs as much as a return: only when this may be the last one.
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
