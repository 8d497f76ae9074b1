/**
 * One batch job: runs the job on a few minions at a time; all parts have the same job id. Decides how many minions may
 * run it, when the next one may start and what halts the batch. Does no I/O. Source: Salt's `salt/cli/batch.py` and
 * `salt/utils/batch_state.py`.
 * @module
 */

import { clearTimeout, setTimeout, type Timer } from "#lib/os/timers.ts";
import { hasReturned } from "#lib/protocol/outcome.ts";
import type { Answer } from "#lib/commands/report/answers.ts";

/** How a batch runs. */
export interface BatchPlan {
  /** The minions, in order. */
  readonly ids: readonly string[];
  /** Number of minions at a time. */
  readonly size: number;
  /** Time between the answer of a minion and the start of the next one in its place, in milliseconds. */
  readonly waitMs: number;
  /** Whether the first failure halts the batch. */
  readonly failhard: boolean;
  /** Runs the job on minions; yields the answer of each. */
  run(ids: readonly string[]): AsyncIterable<Answer>;
  /** Called with the minions of each part before it runs. */
  started?(ids: readonly string[]): void;
  /** Called with each answer. */
  answered?(answer: Answer): void;
}

/** A batch from its first part to its end. */
export class BatchRun {
  readonly #plan: BatchPlan;
  readonly #pending: string[];
  readonly #answers: Answer[] = [];
  readonly #timers = new Set<Timer>();
  readonly #finished = Promise.withResolvers<void>();
  #parts = 0;
  #free: number;
  #halted: string | undefined;
  /** Whether a part has thrown. */
  #broken = false;

  constructor(plan: BatchPlan) {
    this.#plan = plan;
    this.#pending = [...plan.ids];
    this.#free = plan.size;
  }

  /** Why it was halted; `undefined` if it was not. */
  get halted(): string | undefined {
    return this.#halted;
  }

  get #isOver(): boolean {
    return this.#halted !== undefined || this.#broken;
  }

  /** Starts no further part. Minions that have the job continue it. */
  halt(reason: string): void {
    this.#halted ??= reason;
    this.#finished.resolve();
  }

  /**
   * Runs everything.
   * @returns All answers, after the last one or after a halt.
   * @throws What a part throws: then no further part starts.
   */
  async finish(): Promise<readonly Answer[]> {
    this.#fill();
    try {
      await this.#finished.promise;
    } finally {
      for (const timer of this.#timers) clearTimeout(timer);
    }
    return this.#answers;
  }

  /** Starts the job on the next minions while there are free places. */
  #fill(): void {
    if (this.#isOver) return;
    const ids = this.#pending.splice(0, this.#free);
    this.#free -= ids.length;
    if (ids.length > 0) {
      this.#parts++;
      this.#run(ids).catch((error) => {
        this.#broken = true;
        this.#finished.reject(error);
      });
    } else if (this.#parts === 0 && this.#pending.length === 0) this.#finished.resolve();
  }

  async #run(ids: readonly string[]): Promise<void> {
    this.#plan.started?.(ids);
    for await (const answer of this.#plan.run(ids)) {
      if (this.#isOver) return;
      this.#take(answer);
    }
    this.#parts--;
    this.#fill();
  }

  #take(answer: Answer): void {
    this.#answers.push(answer);
    this.#plan.answered?.(answer);
    if (this.#plan.failhard && (answer.retcode !== 0 || !hasReturned(answer.outcome))) return this.halt("failhard");
    if (this.#plan.waitMs <= 0) return this.#release();
    this.#parts++;
    const timer = setTimeout(() => {
      this.#timers.delete(timer);
      this.#parts--;
      this.#release();
    }, this.#plan.waitMs);
    this.#timers.add(timer);
  }

  #release(): void {
    this.#free++;
    this.#fill();
  }
}
