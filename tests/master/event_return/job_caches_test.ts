/**
 * Job caches in returners: `master_job_cache`, `ext_job_cache`, `multi_returner`, and the runner `jobs` that reads
 * them.
 * @module
 */

import { isMap, map, str, type Value, type ValueMap } from "#lib/values/value.ts";
import { parseJson } from "#lib/values/json_read.ts";
import { assert, assertEquals, assertStringIncludes } from "#tests/support/assert.ts";
import {
  MYSQL_TABLES,
  POSTGRES_TABLES,
  startMariadb,
  startPostgres,
  startRedis,
  withServer,
} from "#tests/support/database_servers.ts";
import { jobStore } from "#tests/support/fleet/job_store.ts";
import { eventually, type Fleet, startFleet } from "#tests/support/fleet/fleet.ts";
import { withTemporaryDirectory } from "#tests/support/temporary_directory.ts";

async function runner(fleet: Fleet, ...words: string[]): Promise<Value> {
  const { out, err } = await fleet.saltRun(...words, "--out=json");
  assert(out !== "", err);
  return parseJson(out);
}

/** The jobs that the runner lists, by their function. */
async function listed(fleet: Fleet, ...words: string[]): Promise<Map<string, { jid: string; job: ValueMap }>> {
  const jobs = await runner(fleet, "jobs.list_jobs", ...words);
  assert(isMap(jobs));
  const found = new Map<string, { jid: string; job: ValueMap }>();
  for (const [jid, job] of jobs) if (isMap(job)) found.set(String(job.get("Function")), { jid: String(jid), job });
  return found;
}

/** What a job cache keeps, and the runner jobs reads in it; `name`: its returner, with these options. */
async function keepsJobs(name: string, options: Record<string, unknown>): Promise<void> {
  await using fleet = await startFleet({ minions: ["web1"], master: { master_job_cache: name, ...options } });
  assertEquals((await fleet.salt("web1", "test.echo", "hello")).code, 0);
  await fleet.salt("web1", "cmd.run", "false");
  await fleet.saltRun("test.arg", "x");
  const wanted = ["test.echo", "cmd.run", "runner.test.arg"];
  await eventually(async () => {
    const all = await listed(fleet);
    return wanted.every((fun) => all.has(fun));
  }, { what: "the jobs in the database" });
  // What is read now is in the database alone.
  Deno.removeSync(`${fleet.masterOpts.cachedir}/jobs`, { recursive: true });
  const all = await listed(fleet, "search_function=test.*");
  const { jid, job } = all.get("test.echo") ?? { jid: "", job: map({}) };
  assertEquals(
    ["Arguments", "Target", "Target-type", "Returned", "Failed"].map((key) => job.get(key) ?? null),
    [["hello"], "web1", "glob", 1, 0],
  );
  assertEquals(await runner(fleet, "jobs.lookup_jid", jid), map({ web1: "hello" }));
  const printed = await runner(fleet, "jobs.print_job", jid);
  const found = isMap(printed) ? printed.get(jid) : undefined;
  const result = isMap(found) ? found.get("Result") : undefined;
  assertEquals([isMap(found) && found.get("Minions"), isMap(result) && [...result.keys()]], [["web1"], ["web1"]]);
  const failed = (await listed(fleet)).get("cmd.run")?.jid ?? "";
  // The table of sqlite3 has no return codes.
  assertEquals(await runner(fleet, "jobs.exit_success", failed), map({ web1: name === "sqlite3" }));
  const last = await runner(fleet, "jobs.last_run", "function=test.echo");
  assertEquals(isMap(last) ? [...last.keys()] : last, [jid]);
  assert(!(await listed(fleet, "ext_source=local_cache")).has("test.echo"), "the master's own files are read");
  const status = await runner(fleet, "returners.status");
  const cache = isMap(status) ? status.get("master_job_cache") : undefined;
  assert(isMap(cache) && isMap(cache.get(name)));
}

Deno.test("master_job_cache stores jobs, returns and runs of the master, and the runner jobs reads them there", () =>
  withTemporaryDirectory((root) => keepsJobs("sqlite3", { sqlite3: { database: `${root}/jobs.db` } })));

/** The minions give their returns to this cache, the master its jobs; the runner jobs reads both there. */
async function keepsReturns(name: string, options: Record<string, unknown>): Promise<void> {
  await using fleet = await startFleet({
    minions: ["web1", "web2"],
    master: { ext_job_cache: name, ...options },
    minion: options,
  });
  const answer = await fleet.salt("*", "test.echo", "hello", "--out=json", "--static");
  const both = map({ web1: "hello", web2: "hello" });
  assertEquals(sorted(parseJson(answer.out)), both);
  const jid = await eventually(async () => (await listed(fleet)).get("test.echo")?.jid, { what: "the job" });
  await eventually(async () => {
    const found = await runner(fleet, "jobs.lookup_jid", jid);
    return isMap(found) && found.size === 2;
  }, { what: "the returns of the minions" });
  assertEquals(sorted(await runner(fleet, "jobs.lookup_jid", jid)), both);
  assertEquals(ownFiles(fleet, jid), { load: "test.echo", returns: 0 });
}

function sorted(value: Value): Value {
  return isMap(value) ? new Map([...value].sort(([a], [b]) => str(a) < str(b) ? -1 : 1)) : value;
}

for (
  const [name, program, start, tables, options] of [
    ["postgres", "postgres", startPostgres, POSTGRES_TABLES("text"), { user: "salt", passwd: "salt", db: "salt" }],
    ["pgjsonb", "postgres", startPostgres, POSTGRES_TABLES("jsonb"), { user: "salt", pass: "salt", db: "salt" }],
    ["mysql", "mariadbd", startMariadb, MYSQL_TABLES, {}],
    ["redis", "redis-server", startRedis, "", {}],
  ] as const
) {
  for (const [option, keeps] of [["master_job_cache", keepsJobs], ["ext_job_cache", keepsReturns]] as const) {
    withServer(`${option}: ${name} in its real server`, program, start, async (server) => {
      await server.sql(tables);
      const place = { host: "127.0.0.1", port: server.port, ...options };
      // Those of PostgreSQL have their options below `returner`, as in Salt.
      await keeps(name, program === "postgres" ? { [`returner.${name}`]: place } : { [name]: place });
    });
  }
}

Deno.test("ext_job_cache: minions store their returns, the master the jobs; multi_returner is all that it lists", () =>
  withTemporaryDirectory(async (root) => {
    const options = {
      sqlite3: { database: `${root}/jobs.db` },
      rawfile_json: { filename: `${root}/returns` },
      multi_returner: ["sqlite3", "rawfile_json"],
    };
    await using fleet = await startFleet({
      minions: ["web1"],
      master: { ext_job_cache: "multi_returner", ...options },
      minion: options,
    });
    const answer = await fleet.salt("web1", "test.echo", "hello", "--out=json", "--static");
    assertEquals(parseJson(answer.out), map({ web1: "hello" }));
    const jid = await eventually(async () => (await listed(fleet)).get("test.echo")?.jid, { what: "the job" });
    await eventually(async () => {
      const found = await runner(fleet, "jobs.lookup_jid", jid);
      return isMap(found) && found.get("web1") === "hello";
    }, { what: "the return of the minion" });
    await eventually(() => Deno.readTextFileSync(`${root}/returns`).includes(jid), { what: "the second returner" });
    assertEquals(ownFiles(fleet, jid), { load: "test.echo", returns: 0 });
  }));

/** What the master's own files have of a job. */
function ownFiles(fleet: Fleet, jid: string): { load: string; returns: number } {
  const { cachedir, hash_type } = fleet.masterOpts;
  const store = jobStore(cachedir, { hashType: hash_type });
  return { load: String(store.getLoad(jid)?.get("fun")), returns: store.getReturns(jid).size };
}

Deno.test("a job cache that is not there is named; jobs run and are in the master's own files", async () => {
  await using fleet = await startFleet({ minions: ["web1"], master: { master_job_cache: "nosuch" } });
  assertEquals(await fleet.saltJson("web1", "test.ping"), map({ web1: true }));
  const { out, err } = await fleet.saltRun("jobs.list_jobs");
  assertStringIncludes(out + err, "'nosuch.get_jids' is not available");
  await eventually(() => fleet.logs.some((line) => line.includes("there is no returner nosuch")), { what: "the log" });
  assert(isMap(await runner(fleet, "jobs.list_jobs", "ext_source=local_cache")));
});
