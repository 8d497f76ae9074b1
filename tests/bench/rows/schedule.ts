/**
 * Rows: a minion at rest whose scheduled jobs are not due.
 * @module
 */

import { processTree, wakeUps } from "#tests/bench/harness/process_figures.ts";
import { sleep } from "#lib/os/sleep.ts";
import { cpuPercent, RestedMinion } from "./rested_minion.ts";
import { PER_MINUTE, PERCENT, type Row } from "./row.ts";

/** Time for which the minion is measured, in milliseconds, and the time before that. */
const WATCH_MS = 60_000, SETTLE_MS = 30_000;
/** Jobs that are not due while the minion is measured. */
const JOBS = 50;

/** Jobs of each form that every Salt has. */
function schedule(): Record<string, unknown> {
  const due: readonly Record<string, unknown>[] = [{ hours: 9 }, { cron: "0 3 1 1 *" }, { when: "Jan 1 2031 3:00am" }];
  return Object.fromEntries(
    Array.from({ length: JOBS }, (_, n) => [
      `job_${n}`,
      { function: "test.ping", run_on_start: false, ...due[n % due.length] },
    ]),
  );
}

const minion = new RestedMinion(() => ({ schedule: JSON.stringify(schedule()) }), SETTLE_MS);

const WHO = `minion with ${JOBS} scheduled jobs that are not due`;

export const SCHEDULE_ROWS: readonly Row[] = [
  {
    name: "schedule-cpu",
    title: `${WHO}: processor time over ${WATCH_MS / 1000} s`,
    unit: PERCENT,
    group: "schedule",
    runs: 1,
    long: true,
    measure: async (stage, side) => await cpuPercent((await minion.of(stage, side)).pid, WATCH_MS),
  },
  {
    name: "schedule-wakes",
    title: `${WHO}: how often its threads wake up`,
    unit: PER_MINUTE,
    group: "schedule",
    runs: 1,
    long: true,
    async measure(stage, side) {
      const { pid } = await minion.of(stage, side);
      const wakes = () => processTree(pid).reduce((sum, member) => sum + wakeUps(member), 0);
      const [before, started] = [wakes(), performance.now()];
      await sleep(WATCH_MS);
      return (wakes() - before) / (performance.now() - started) * 60_000;
    },
  },
];
