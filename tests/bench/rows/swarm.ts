/**
 * Rows: simulated minions; the row's name has their number.
 * @module
 */

import { bareProxy } from "#tests/bench/programs/bare_proxy.ts";
import { jobLatency, LATENCY_JOBS } from "#tests/bench/programs/job_latency.ts";
import { run } from "#tests/bench/harness/processes.ts";
import { PYTHON_SALTS } from "#tests/bench/harness/python_salt.ts";
import { MS, MS_TENTHS, PER_SECOND, type Row, type Stage } from "./row.ts";
import type { Side } from "#tests/bench/harness/sides.ts";
import type { Fleet } from "#tests/bench/fleets/fleet.ts";
import { BUSY_LIMIT, type SwarmJob } from "#tests/bench/fleets/swarm_jobs.ts";

const RETURNING = 500;
/** The numbers of minions; Python Salt is left out of the rows that it cannot complete in time. */
const SIZES = [100, 200, 400, 800, 1600, 5000] as const;
const PYTHON_SIZE = 800;

/** A fleet with `count` simulated minions, all of which have answered before. */
export async function warmSwarm(stage: Stage, side: Side, count: number): Promise<Fleet> {
  const fleet = await stage.fleet(side, async (fleet) => void await fleet.startMaster());
  await fleet.simulate(count);
  if (warm.get(fleet) !== count) await fleet.warmUp("*", count);
  warm.set(fleet, count);
  return fleet;
}

const warm = new WeakMap<Fleet, number>();

/** Publishes a job to all simulated minions without waiting; the swarm reports its outcome. */
export async function publishToSwarm(fleet: Fleet, fun: string): Promise<SwarmJob[]> {
  const { out } = await run([...fleet.words("salt"), "--async", "*", fun]);
  const jid = /\d{20}/.exec(out)?.[0];
  if (jid === undefined) throw new Error(`salt --async named no job: ${out}`);
  return await fleet.swarmJob(jid);
}

export const SWARM_ROWS: readonly Row[] = [
  {
    name: "master-latency",
    title: `the master's share of it: the same with a simulated minion (median of ${LATENCY_JOBS})`,
    unit: MS_TENTHS,
    group: "one simulated minion",
    measure: async (stage, side) => await jobLatency(await warmSwarm(stage, side, 1), "sim-1"),
  },
  {
    name: "returns",
    title: `returns a second, ${RETURNING} simulated minions at once: stored, fired, acknowledged`,
    unit: PER_SECOND,
    group: "returns",
    pythons: PYTHON_SALTS,
    limit: () => bareProxy(RETURNING),
    async measure(stage, side) {
      const fleet = await warmSwarm(stage, side, RETURNING);
      const [{ acknowledged, failed, ms, busy }] = await publishToSwarm(fleet, "test.ping");
      if (acknowledged !== RETURNING || failed > 0) {
        stage.remarks.add(`${side.name}: only ${acknowledged} acknowledged`);
      }
      if (busy > BUSY_LIMIT) stage.remarks.add(`${side.name}: the swarm itself was busy ${Math.round(busy * 100)}%`);
      return acknowledged / ms * 1000;
    },
  },
  ...SIZES.map((size): Row => ({
    name: `ping-${size}`,
    title: `\`salt '*' test.ping\`, ${size} simulated minions, until the last return is printed`,
    unit: MS,
    group: "pings",
    ...size > PYTHON_SIZE && { pythons: [], long: true },
    async measure(stage, side) {
      const fleet = await warmSwarm(stage, side, size);
      const { out, ms } = await run([...fleet.words("salt"), "-t", "60", "*", "test.ping"]);
      const answered = (out.match(/^ +True$/gm) ?? []).length;
      if (answered !== size) stage.remarks.add(`${side.name}: ${answered} of ${size} answered`);
      return ms;
    },
  })),
];
