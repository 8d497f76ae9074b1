/**
 * Rows: the growth of a master's memory by connected minions, returns and large results; and the time of large results.
 * @module
 */

import type { Fleet } from "#tests/bench/fleets/fleet.ts";
import { treeMemory } from "#tests/bench/harness/process_figures.ts";
import type { Ran } from "#tests/support/processes.ts";
import { run } from "#tests/bench/harness/processes.ts";
import { KB, MB, MS, type Row, type Stage } from "./row.ts";
import type { Side } from "#tests/bench/harness/sides.ts";
import { publishToSwarm, warmSwarm } from "./swarm.ts";

const MINION = "bench-1";
/** Enough minions that every thread has handled sign-ins, whose warm-up must not count for a minion. */
const CONNECTED_BEFORE = 100;
const CONNECTED = 500;
const RETURNING = 500;
const RETURNS = 20_000;
const LARGE_BYTES = 10_000_000;
const LARGE_RESULTS = 6;
const LARGE = "large results";
/**
 * Time without load before the memory of a master is measured, in milliseconds: memory that it is about to release is
 * not growth.
 */
const SETTLE_MS = 5_000;

/** The master's memory, PSS in KiB, after a time without load. */
async function measureMemory(fleet: Fleet): Promise<number> {
  await new Promise((resolve) => setTimeout(resolve, SETTLE_MS));
  return treeMemory(fleet.master.pid).pssKb;
}

/** The growth of the master's memory, PSS in KiB, after `work` and a time without load. */
export async function growth(fleet: Fleet, work: () => Promise<void>): Promise<number> {
  const before = await measureMemory(fleet);
  await work();
  return await measureMemory(fleet) - before;
}

async function returns(stage: Stage, side: Side, fleet: Fleet): Promise<void> {
  let acknowledged = 0;
  for (let i = 0; i < RETURNS / RETURNING; i++) {
    for (const job of await publishToSwarm(fleet, "test.ping")) acknowledged += job.acknowledged;
  }
  if (acknowledged !== RETURNS) stage.remarks.add(`${side.name}: ${acknowledged} of ${RETURNS} acknowledged`);
}

/** A fleet that returns large results. */
interface Large {
  readonly fleet: Fleet;
  /** The master's memory before the first one, PSS in KiB. */
  readonly before: number;
  /** Number of results so far. */
  results: number;
}

const large = new WeakMap<Fleet, Large>();

async function largeFleet(stage: Stage, side: Side): Promise<Large> {
  const fleet = await stage.fleet(side, async (fleet) => {
    await fleet.startMaster();
    await fleet.startMinion(MINION);
    await fleet.warmUp("*", 1);
    large.set(fleet, { fleet, before: await measureMemory(fleet), results: 0 });
  });
  const known = large.get(fleet);
  if (known === undefined) throw new Error("the fleet was not weighed");
  return known;
}

async function largeResult(large: Large): Promise<Ran> {
  large.results++;
  const command = `head -c ${LARGE_BYTES} /dev/zero | tr '\\0' x`;
  return await run([...large.fleet.words("salt"), "-t", "120", MINION, "cmd.run", command]);
}

/** Growth of memory, and the time of large results. */
export const MEMORY_ROWS: readonly Row[] = [
  {
    name: "minion-share",
    title: `a connected minion's share of the master (PSS, ${CONNECTED} simulated minions more)`,
    unit: KB,
    group: "connected minions",
    runs: 1,
    long: true,
    async measure(stage, side) {
      const fleet = await warmSwarm(stage, side, CONNECTED_BEFORE);
      return await growth(fleet, () => fleet.simulate(CONNECTED_BEFORE + CONNECTED)) / CONNECTED;
    },
  },
  {
    name: "growth-returns",
    title: `master's growth by ${RETURNS} returns of ${RETURNING} simulated minions (PSS)`,
    unit: MB,
    group: "many returns",
    runs: 1,
    long: true,
    async measure(stage, side) {
      const fleet = await warmSwarm(stage, side, RETURNING);
      return await growth(fleet, () => returns(stage, side, fleet)) / 1024;
    },
  },
  {
    name: "result-10mb",
    title: `${LARGE_BYTES / 1e6} MB result of one function, whole process`,
    unit: MS,
    group: LARGE,
    runs: LARGE_RESULTS,
    long: true,
    async measure(stage, side) {
      const { out, ms } = await largeResult(await largeFleet(stage, side));
      const got = (out.match(/x+/g) ?? []).reduce((sum, text) => sum + text.length, 0);
      if (got < LARGE_BYTES) stage.remarks.add(`${side.name}: ${got} of ${LARGE_BYTES} bytes were printed`);
      return ms;
    },
  },
  {
    name: "growth-10mb",
    title: `master's growth after ${LARGE_RESULTS} results of ${LARGE_BYTES / 1e6} MB (PSS)`,
    unit: MB,
    group: LARGE,
    runs: 1,
    long: true,
    async measure(stage, side) {
      const large = await largeFleet(stage, side);
      // The results of the row before, and the rest up to six.
      while (large.results < LARGE_RESULTS) await largeResult(large);
      return (await measureMemory(large.fleet) - large.before) / 1024;
    },
  },
];
