/**
 * Rows: returns into the stores of jobs. The row `returns` measures the same into files.
 * @module
 */

import { serverProgram, startPostgres } from "#tests/support/database_servers.ts";
import { BUSY_LIMIT } from "#tests/bench/fleets/swarm_jobs.ts";
import type { Side } from "#tests/bench/harness/sides.ts";
import { PER_SECOND, type Row, type Stage } from "./row.ts";
import { publishToSwarm, warmSwarm } from "./swarm.ts";

const RETURNING = 500;
/** Jobs of which the fastest counts. */
const JOBS = 3;

/** Returns a second of a master with these options. */
async function returnsInto(
  options: Readonly<Record<string, string>>,
  stage: Stage,
  side: Side,
): Promise<number> {
  await stage.fleet(side, async (fleet) => {
    fleet.setOptions(options);
    await fleet.startMaster();
  });
  const fleet = await warmSwarm(stage, side, RETURNING);
  let best = 0;
  for (let i = 0; i < JOBS; i++) {
    const [{ acknowledged, failed, ms, busy }] = await publishToSwarm(fleet, "test.ping");
    if (acknowledged !== RETURNING || failed > 0) stage.remarks.add(`${side.name}: only ${acknowledged} acknowledged`);
    if (busy > BUSY_LIMIT) stage.remarks.add(`${side.name}: the swarm itself was busy ${Math.round(busy * 100)}%`);
    best = Math.max(best, acknowledged / ms * 1000);
  }
  return best;
}

export const STORES_ROWS: readonly Row[] = [
  {
    name: "returns-files",
    title: `returns a second, ${RETURNING} simulated minions at once, the fastest of ${JOBS} jobs: into files`,
    unit: PER_SECOND,
    group: "returns into files",
    runs: 1,
    pythons: [],
    measure: (stage, side) => returnsInto({ master_job_cache: "local_cache" }, stage, side),
  },
  {
    name: "returns-sqlite",
    title: "the same into SQLite (`master_job_cache: sqlite`)",
    unit: PER_SECOND,
    group: "returns into SQLite",
    runs: 1,
    pythons: [],
    measure: (stage, side) => returnsInto({ master_job_cache: "sqlite" }, stage, side),
  },
  {
    name: "returns-postgresql",
    title: "the same into PostgreSQL on the same machine, without its syncs (`master_job_cache: postgresql`)",
    unit: PER_SECOND,
    group: "returns into PostgreSQL",
    runs: 1,
    pythons: [],
    async measure(stage, side) {
      if (serverProgram("postgres") === undefined) throw new Error("there is no postgres on this host");
      await using server = await startPostgres();
      const postgresql = `{host: 127.0.0.1, port: ${server.port}}`;
      return await returnsInto({ master_job_cache: "postgresql", postgresql }, stage, side);
    },
  },
];
