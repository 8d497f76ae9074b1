/**
 * What the end of a pool waits for: the ends of its workers and processes, and of the commands of their jobs.
 * @module
 */

import { sendSignal } from "#lib/libc/libc.ts";
import { sleep } from "#lib/os/sleep.ts";
import { TimeBudget } from "#lib/os/time_budget.ts";

/** Time for the commands of jobs to end before they are killed when the minion ends, in milliseconds. */
const GRACE_MS = 500;

const SIGKILL = 9;
const SIGTERM = 15;

/** The ends that one pool waits for. */
export class LastEnds {
  readonly #left = new Set<string>();
  readonly #ends: Promise<void>[] = [];

  /** Adds one. */
  add(name: string, ending: Promise<unknown>): void {
    this.#left.add(name);
    this.#ends.push(ending.then(() => void this.#left.delete(name)));
  }

  /** Ends process groups: those that do not heed SIGTERM in a short time are killed. */
  endCommands(pids: readonly number[], budget: TimeBudget): void {
    for (const pid of pids) sendSignal(-pid, SIGTERM);
    this.add("commands of jobs", killUnlessEnded(pids, budget));
  }

  /**
   * Waits for them, until the budget is over.
   * @returns The names of those that have not ended.
   */
  async wait(budget: TimeBudget): Promise<readonly string[]> {
    return await budget.allows(Promise.all(this.#ends)) ? [] : [...this.#left];
  }
}

/** Waits a short time for process groups to end, and kills those that do not. */
async function killUnlessEnded(pids: readonly number[], budget: TimeBudget): Promise<void> {
  const grace = new TimeBudget(Math.min(GRACE_MS, budget.leftMs / 2));
  while (pids.some((pid) => sendSignal(-pid, 0)) && grace.leftMs > 0) await sleep(20);
  for (const pid of pids) sendSignal(-pid, SIGKILL);
}
