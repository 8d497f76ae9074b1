/**
 * Rows: the cost of `durability: machine`. The rows `returns`, `latency` and `jobs-one` measure the same under
 * `process`.
 * @module
 */

import type { Fleet } from "#tests/bench/fleets/fleet.ts";
import { jobLatency, LATENCY_JOBS } from "#tests/bench/programs/job_latency.ts";
import { MS_TENTHS, PER_SECOND, type Row, type Stage } from "./row.ts";
import type { Side } from "#tests/bench/harness/sides.ts";
import { BUSY_LIMIT } from "#tests/bench/fleets/swarm_jobs.ts";
import { publishToSwarm, warmSwarm } from "./swarm.ts";

const RETURNING = 500;
const MINION = "bench-1";
const MACHINE = { durability: "machine" };

async function masterAlone(stage: Stage, side: Side): Promise<Fleet> {
  return await stage.fleet(side, async (fleet) => {
    fleet.setOptions(MACHINE);
    await fleet.startMaster();
  });
}

export const DURABILITY_ROWS: readonly Row[] = [
  {
    name: "latency-machine",
    title: `job: publish sent → return event, 1 minion (median of ${LATENCY_JOBS}), both \`durability: machine\``,
    unit: MS_TENTHS,
    group: "durable fleet of one",
    pythons: [],
    async measure(stage, side) {
      const fleet = await stage.fleet(side, async (fleet) => {
        fleet.setOptions(MACHINE);
        await fleet.startMaster();
        await fleet.startMinion(MINION);
        await fleet.warmUp("*", 1);
      });
      return await jobLatency(fleet, MINION);
    },
  },
  {
    name: "returns-machine",
    title:
      `returns a second, ${RETURNING} simulated minions at once, on the disk before they are acknowledged (\`durability: machine\`)`,
    unit: PER_SECOND,
    group: "durable returns",
    pythons: [],
    async measure(stage, side) {
      await masterAlone(stage, side);
      const fleet = await warmSwarm(stage, side, RETURNING);
      const [{ acknowledged, failed, ms, busy }] = await publishToSwarm(fleet, "test.ping");
      if (acknowledged !== RETURNING || failed > 0) {
        stage.remarks.add(`${side.name}: only ${acknowledged} acknowledged`);
      }
      if (busy > BUSY_LIMIT) stage.remarks.add(`${side.name}: the swarm itself was busy ${Math.round(busy * 100)}%`);
      return acknowledged / ms * 1000;
    },
  },
];
