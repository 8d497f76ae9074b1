/**
 * Rows: a search among a million jobs in a database, the newest first, with a limit.
 * @module
 */

import { DatabaseSync } from "node:sqlite";
import { encode } from "#lib/values/msgpack.ts";
import { map } from "#lib/values/value.ts";
import { type PostgresServer, serverProgram, startPostgres } from "#tests/support/database_servers.ts";
import type { Fleet } from "#tests/bench/fleets/fleet.ts";
import { run } from "#tests/bench/harness/processes.ts";
import type { Side } from "#tests/bench/harness/sides.ts";
import { MS, type Row, type Stage } from "./row.ts";

const JOBS = 1_000_000;
/** So many of the jobs are of the rare function. */
const RARE = 20;
const LIMIT = 50;
/** The first job's time, 2026-11-20 00:00 UTC; one a second. */
const FIRST = "2026-11-20";

/** A load whose jid, which has twenty characters, lies between the two parts. */
function loadParts(fun: string): readonly [before: string, after: string] {
  const jid = "J".repeat(20);
  const load = encode(map({ fun, jid, tgt: "web7*", tgt_type: "glob", arg: [], user: "root", ret: "" }), "disk");
  const hex = [...load].map((byte) => byte.toString(16).padStart(2, "0")).join("");
  const [before, after] = hex.split("4a".repeat(20));
  return [before, after];
}

/** The value of the n-th job in an SQL dialect: its function. */
const FUN = (last: string) => `case when n % ${JOBS / RARE} = 0 then 'rare.fun' else ${last} end`;
const COMMON = ["test.ping", "state.apply", "cmd.run", "pkg.install", "grains.items"];

function bytesOf(jid: string, concat: (before: string, jid: string, after: string) => string): string {
  const each = (fun: string) => concat(...[loadParts(fun)].map(([a, b]) => [a, jid, b] as const)[0]);
  const cases = COMMON.map((fun, i) => `when ${i} then ${each(fun)}`).join(" ");
  return `case when n % ${JOBS / RARE} = 0 then ${each("rare.fun")} else case n % ${COMMON.length} ${cases} end end`;
}

async function fillPostgres(server: PostgresServer): Promise<void> {
  const fun = FUN(`(array[${COMMON.map((name) => `'${name}'`)}])[1 + n % ${COMMON.length}]`);
  const load = bytesOf("jid", (a, jid, b) => `'\\x${a}'::bytea || convert_to(${jid}, 'UTF8') || '\\x${b}'::bytea`);
  await server.sql(`insert into salt.jobs (jid, fun, tgt, tgt_type, usr, minions, load)
    select jid, array[${fun}], 'web' || (n % 1000) || '*', 'glob', 'root', array['web1', 'web2'], ${load}
    from (select n, to_char(timestamp '${FIRST}' + n * interval '1 s', 'YYYYMMDDHH24MISS') || lpad(n::text, 6, '0') as jid
      from generate_series(0, ${JOBS - 1}) as n) as made;
    vacuum analyze salt.jobs;`);
}

function fillSqlite(path: string): void {
  const database = new DatabaseSync(path);
  const fun = FUN(`case n % ${COMMON.length} ${COMMON.map((name, i) => `when ${i} then '${name}'`).join(" ")} end`);
  const load = bytesOf("jid", (a, jid, b) => `unhex('${a}' || hex(${jid}) || '${b}')`);
  database.exec(`with recursive numbers(n) as (select 0 union all select n + 1 from numbers where n < ${JOBS - 1})
    insert into jobs (jid, fun, tgt, tgt_type, usr, minions, load, made)
    select jid, ${fun}, 'web' || (n % 1000) || '*', 'glob', 'root', '["web1","web2"]', ${load}, ${Date.now()}
    from (select n, strftime('%Y%m%d%H%M%S', '${FIRST}', n || ' seconds') || printf('%06d', n) as jid from numbers)`);
  database.close();
}

/** A fleet whose master has the jobs in a database. */
async function searchable(stage: Stage, side: Side, store: "sqlite" | "postgresql"): Promise<Fleet> {
  return await stage.fleet(side, async (fleet) => {
    if (store === "sqlite") {
      fleet.setOptions({ master_job_cache: store });
      await fleet.startMaster();
      fillSqlite(`${fleet.root}/var/cache/salt/master/jobs.sqlite`);
      return;
    }
    if (serverProgram("postgres") === undefined) throw new Error("there is no postgres on this host");
    const server = await startPostgres();
    stage.endWith(server);
    fleet.setOptions({ master_job_cache: store, postgresql: `{host: 127.0.0.1, port: ${server.port}}` });
    await fleet.startMaster();
    await fillPostgres(server);
  });
}

function rows(store: "sqlite" | "postgresql", place: string): Row[] {
  return ([["common", "pkg.*", LIMIT], ["rare", "rare.*", RARE]] as const).map(([name, search, found]) => ({
    name: `jobs-find-${name}-${store}`,
    title:
      `\`salt-run jobs.list_jobs search_function=${search} search_target=web* limit=${LIMIT}\` with ${JOBS} jobs in ${place}, whole process`,
    unit: MS,
    group: `a million jobs in ${place}`,
    pythons: [],
    long: true,
    async measure(stage, side) {
      const fleet = await searchable(stage, side, store);
      const words = ["jobs.list_jobs", `search_function=${search}`, "search_target=web*", `limit=${LIMIT}`];
      const { out, ms } = await run([...fleet.words("salt-run"), ...words]);
      const listed = (out.match(/^ *\d{20}:$/gm) ?? []).length;
      if (listed !== found) stage.remarks.add(`${side.name}: ${listed} of ${found} jobs listed`);
      return ms;
    },
  }));
}

export const MANY_JOBS_ROWS: readonly Row[] = [...rows("postgresql", "PostgreSQL"), ...rows("sqlite", "SQLite")];
