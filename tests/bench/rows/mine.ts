/**
 * Rows: the mine.
 * @module
 */

import { run } from "#tests/bench/harness/processes.ts";
import { benchCommand, benchScript, type Side } from "#tests/bench/harness/sides.ts";
import { MS_TENTHS, type Row, type Stage } from "./row.ts";

/** Numbers of minions. */
const MINIONS = 1_000, MANY = 10_000;

/** Processor time in milliseconds, from mine_get.ts and its counterpart. */
interface Cost {
  readonly first: number;
  readonly get: number;
  readonly found: number;
}

async function cost(stage: Stage, side: Side, minions: number): Promise<Cost> {
  const words = side.python === undefined
    ? benchCommand("programs/mine_get.ts")
    : [side.python, benchScript("programs/mine_get.py")];
  const { out } = await run([...words, stage.directory(), String(minions)]);
  const measured: Cost = JSON.parse(out);
  if (measured.found !== minions) stage.remarks.add(`${side.name}: ${measured.found} of ${minions} values read`);
  return measured;
}

const READING =
  "`mine.get` of one of ten functions by a compound target: the master's processor time beyond the target";

export const MINE_ROWS: readonly Row[] = [
  {
    name: "mine-get",
    title: `${READING}, ${MINIONS} minions`,
    unit: MS_TENTHS,
    group: "mine",
    runs: 1,
    measure: async (stage, side) => (await cost(stage, side, MINIONS)).get,
  },
  {
    name: "mine-get-many",
    title: `${READING}, ${MANY} minions`,
    unit: MS_TENTHS,
    group: "many mines",
    runs: 1,
    long: true,
    measure: async (stage, side) => (await cost(stage, side, MANY)).get,
  },
  {
    name: "mine-get-first",
    title: `${READING}, ${MANY} minions, the first time`,
    unit: MS_TENTHS,
    group: "many mines",
    runs: 1,
    long: true,
    measure: async (stage, side) => (await cost(stage, side, MANY)).first,
  },
];
