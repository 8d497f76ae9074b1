/**
 * Rows: a minion at rest whose beacons look, and have nothing to tell, and whose scheduled jobs are not due.
 * @module
 */

import { treeMemory } from "#tests/bench/harness/process_figures.ts";
import { cpuPercent, RestedMinion } from "./rested_minion.ts";
import { MB, PERCENT, type Row } from "./row.ts";

/** Time for which the minion is measured, in milliseconds, and the time before that. */
const WATCH_MS = 60_000, SETTLE_MS = 45_000;

/** Beacons that every Salt has, each as often as given here. */
const KINDS:
  readonly (readonly [module: string, count: number, config: readonly Readonly<Record<string, unknown>>[]])[] = [
    ["ps", 5, [{ processes: { "nobody-has-this": "running" } }]],
    ["load", 3, [{ averages: { "1m": [0, 9e6], "5m": [0, 9e6], "15m": [0, 9e6] } }]],
    ["memusage", 3, [{ percent: "101%" }]],
    ["diskusage", 3, [{ "/": "101%" }]],
    ["network_info", 3, [{ interfaces: { lo: { type: "greater", errin: 9e12 } } }]],
    ["log", 3, [{ file: "/etc/hosts" }, { tags: { any: { regex: ".*" } } }]],
  ];

function configuration(): Record<string, unknown> {
  return Object.fromEntries(
    KINDS.flatMap(([module, count, config]) =>
      Array.from({ length: count }, (_, n) => [`${module}_${n}`, [...config, { beacon_module: module }]])
    ),
  );
}

/** Jobs that are not due while the minion is measured. */
const JOBS = 50;

function schedule(): Record<string, unknown> {
  return Object.fromEntries(
    Array.from({ length: JOBS }, (_, n) => [`job_${n}`, { function: "test.ping", hours: 9, run_on_start: false }]),
  );
}

const minion = new RestedMinion(
  () => ({ beacons: JSON.stringify(configuration()), schedule: JSON.stringify(schedule()) }),
  SETTLE_MS,
);

const WHO = `minion with 20 beacons that have nothing to tell, and ${JOBS} jobs`;

export const BEACON_ROWS: readonly Row[] = [
  {
    name: "beacons-cpu",
    title: `${WHO}: processor time over ${WATCH_MS / 1000} s`,
    unit: PERCENT,
    group: "beacons",
    runs: 1,
    long: true,
    measure: async (stage, side) => await cpuPercent((await minion.of(stage, side)).pid, WATCH_MS),
  },
  {
    name: "beacons-memory",
    title: `${WHO}: memory (PSS)`,
    unit: MB,
    group: "beacons",
    runs: 1,
    long: true,
    measure: async (stage, side) => treeMemory((await minion.of(stage, side)).pid).pssKb / 1024,
  },
];
