/**
 * Rows: a minion at rest whose scheduled jobs are not due.
 * @module
 */

import type { Fleet } from "#tests/bench/fleets/fleet.ts";
import { processTree, treeCpuMs, wakeUps } from "#tests/bench/harness/process_figures.ts";
import type { Service } from "#tests/support/processes.ts";
import { PER_MINUTE, PERCENT, type Row, type Stage } from "./row.ts";
import type { Side } from "#tests/bench/harness/sides.ts";

const MINION = "bench-1";
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

const minions = new WeakMap<Fleet, Service>();

async function rested(stage: Stage, side: Side): Promise<Service> {
  const fleet = await stage.fleet(side, async (fleet) => {
    fleet.setOptions({ schedule: JSON.stringify(schedule()) });
    await fleet.startMaster();
    minions.set(fleet, await fleet.startMinion(MINION));
    await fleet.warmUp("*", 1);
  });
  const minion = minions.get(fleet);
  if (minion === undefined) throw new Error("the fleet has no minion");
  await pause(SETTLE_MS);
  return minion;
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

const WHO = `minion with ${JOBS} scheduled jobs that are not due`;

export const SCHEDULE_ROWS: readonly Row[] = [
  {
    name: "schedule-cpu",
    title: `${WHO}: processor time over ${WATCH_MS / 1000} s`,
    unit: PERCENT,
    group: "schedule",
    runs: 1,
    long: true,
    async measure(stage, side) {
      const { pid } = await rested(stage, side);
      const [before, started] = [treeCpuMs(pid), performance.now()];
      await pause(WATCH_MS);
      return (treeCpuMs(pid) - before) / (performance.now() - started) * 100;
    },
  },
  {
    name: "schedule-wakes",
    title: `${WHO}: how often its threads wake up`,
    unit: PER_MINUTE,
    group: "schedule",
    runs: 1,
    long: true,
    async measure(stage, side) {
      const { pid } = await rested(stage, side);
      const wakes = () => processTree(pid).reduce((sum, member) => sum + wakeUps(member), 0);
      const [before, started] = [wakes(), performance.now()];
      await pause(WATCH_MS);
      return (wakes() - before) / (performance.now() - started) * 60_000;
    },
  },
];
