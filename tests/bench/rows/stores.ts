/**
 * Rows: returns into the stores of jobs. The row `returns` measures the same into files.
 * @module
 */

import { postgresOptions } from "#lib/stores/postgres_options.ts";
import { PostgresRows } from "#lib/stores/postgres_rows.ts";
import { map } from "#lib/values/value.ts";
import { POSTGRES_TABLES, serverProgram, startPostgres } from "#tests/support/database_servers.ts";
import { BUSY_LIMIT } from "#tests/bench/fleets/swarm_jobs.ts";
import { run } from "#tests/bench/harness/processes.ts";
import { benchScript, type Side } from "#tests/bench/harness/sides.ts";
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

/** Returns that are stored by the stores alone, those before them, and how many are on their way at a time in ours. */
const STORED = 500, WARMING = 100, AT_ONCE = 100;

/** Returns a second into a synced PostgreSQL, by the store alone. */
async function storedPerSecond(stage: Stage, { python }: Side): Promise<number> {
  if (serverProgram("postgres") === undefined) throw new Error("there is no postgres on this host");
  await using server = await startPostgres({ synced: true });
  if (python !== undefined) {
    await server.sql(POSTGRES_TABLES("jsonb"));
    const library = stage.directory();
    await run([python, "-m", "pip", "install", "-q", "--target", library, "psycopg2-binary"]);
    const words = ["env", `PYTHONPATH=${library}`, python, benchScript("programs/pgjsonb_load.py")];
    const { out } = await run([...words, String(server.port), String(STORED), String(WARMING)]);
    return Number(out);
  }
  const postgresql = map({ host: "127.0.0.1", port: server.port });
  const rows = new PostgresRows({ connection: postgresOptions({ postgresql }), waitMs: 60_000, keepSeconds: 0 });
  const jid = "20260101000000000001", body = new Uint8Array(100);
  const store = async (first: number, count: number) => {
    let next = first;
    await Promise.all(Array.from({ length: AT_ONCE }, async () => {
      while (next < first + count) await rows.saveReturn({ jid, id: `m${next++}`, retcode: 0, success: true, body });
    }));
  };
  await store(0, WARMING);
  const started = performance.now();
  await store(WARMING, STORED);
  const ms = performance.now() - started;
  await rows.close();
  return STORED / ms * 1000;
}

export const STORES_ROWS: readonly Row[] = [
  {
    name: "store-postgresql",
    title:
      `returns a second into a synced PostgreSQL by the store alone: ours with ${AT_ONCE} on their way, Python's pgjsonb one after the other`,
    unit: PER_SECOND,
    group: "stores alone",
    runs: 1,
    measure: storedPerSecond,
  },
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
      const server = await startPostgres();
      stage.endWith(server);
      const postgresql = `{host: 127.0.0.1, port: ${server.port}}`;
      return await returnsInto({ master_job_cache: "postgresql", postgresql }, stage, side);
    },
  },
];
