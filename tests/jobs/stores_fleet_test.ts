/**
 * Masters whose jobs are in a database: what the runner `jobs` answers, the events and answers while the database is
 * away, and the way there and back.
 * @module
 */

import { parseJson } from "#lib/values/json_read.ts";
import { isMap, map, type Value } from "#lib/values/value.ts";
import { assert, assertEquals, assertStringIncludes } from "#tests/support/assert.ts";
import { serverProgram, startPostgres } from "#tests/support/database_servers.ts";
import { jobStore } from "#tests/support/fleet/job_store.ts";
import { eventually, type Fleet, startFleet } from "#tests/support/fleet/fleet.ts";

const missing = serverProgram("postgres") === undefined;
const named = (what: string) => missing ? `${what} (skipped: there is no postgres)` : what;

async function runner(fleet: Fleet, ...words: string[]): Promise<Value> {
  const { out, err } = await fleet.saltRun(...words, "--out=json");
  assert(out !== "", err);
  return parseJson(out);
}

function at(value: Value | undefined, ...path: string[]): Value {
  return path.reduce<Value>((inner, key) => isMap(inner) ? inner.get(key) ?? null : null, value ?? null);
}

/** Runs jobs, and looks at them with every function that reads the store. */
async function answersOfRunner(fleet: Fleet): Promise<void> {
  assertEquals(await fleet.saltJson("web1", "test.echo", "hello"), map({ web1: "hello" }));
  await fleet.salt("web1", "test.false");
  await fleet.saltRun("test.arg", "x");
  const jobs = await runner(fleet, "jobs.list_jobs", "search_function=test.*");
  assert(isMap(jobs));
  const [[jid, job]] = [...jobs].filter(([, job]) => at(job, "Function") === "test.echo");
  assertEquals(
    ["Arguments", "Target", "Target-type", "Returned", "Failed"].map((key) => at(job, key)),
    [["hello"], "web1", "glob", 1, 0],
  );
  const id = String(jid);
  assertEquals(await runner(fleet, "jobs.lookup_jid", id), map({ web1: "hello" }));
  assertEquals(at(await runner(fleet, "jobs.print_job", id), id, "Result", "web1", "return"), "hello");
  assertEquals(at(await runner(fleet, "jobs.list_job", id), "Minions"), ["web1"]);
  assertEquals(at(await runner(fleet, "jobs.outcomes", id), "web1", "outcome"), "returned");
  assertEquals(await runner(fleet, "jobs.exit_success", id), map({ web1: true }));
  const last = await runner(fleet, "jobs.last_run", "function=test.echo");
  assertEquals(isMap(last) ? [...last.keys()] : last, [jid]);
  const newest = await runner(fleet, "jobs.list_jobs", "limit=1", "search_function=test.*");
  assertEquals(isMap(newest) ? newest.size : 0, 1);
  await eventually(async () => {
    const all = await runner(fleet, "jobs.list_jobs");
    return isMap(all) && [...all.values()].some((one) => at(one, "Function") === "runner.test.arg");
  }, { what: "the job of the runner" });
}

Deno.test("jobs in SQLite: every function of the runner answers, no file of a job is made, and they can be moved", async () => {
  await using fleet = await startFleet({ minions: ["web1"], master: { master_job_cache: "sqlite" } });
  await answersOfRunner(fleet);
  const { cachedir, hash_type } = fleet.masterOpts;
  const files = () => jobStore(cachedir, { hashType: hash_type }).list().length;
  assertEquals(files(), 0);
  const threads = await fleet.master.describeThreads();
  assert(threads.some((line) => /: [1-9]\d* threads have been connected$/.test(line)), threads.join("\n"));
  const status = await runner(fleet, "database.status");
  assertEquals(["store", "server", "schema", "wanted", "outbox"].map((key) => at(status, key)), [
    "sqlite",
    `${cachedir}/jobs.sqlite`,
    1,
    1,
    0,
  ]);
  const saved = await runner(fleet, "database.save");
  assert(files() >= 3 && at(saved, "jobs") === files(), String(files()));
  assertEquals(at(await runner(fleet, "database.load"), "returns"), 0);
  // The runs of these two functions.
  assertEquals(at(await runner(fleet, "database.save"), "jobs"), 2);
});

Deno.test({
  name: named(
    "jobs in PostgreSQL: every function of the runner answers, and with the database away jobs run as before",
  ),
  ignore: missing,
  async fn() {
    await using server = await startPostgres();
    const postgresql = { host: "127.0.0.1", port: server.port };
    await using fleet = await startFleet({
      minions: ["web1"],
      master: { master_job_cache: "postgresql", job_store_wait: 0.5, postgresql },
    });
    await answersOfRunner(fleet);
    assertEquals(at(await runner(fleet, "database.status"), "server"), `127.0.0.1:${server.port}/salt`);
    using events = await fleet.listen("salt/store/");
    await server.crash();
    assertEquals(await fleet.saltJson("web1", "test.echo", "away"), map({ web1: "away" }));
    assertEquals((await events.next(60_000))?.tag, "salt/store/away");
    const { out, err } = await fleet.saltRun("jobs.list_jobs");
    assertStringIncludes(out + err, "does not answer");
    await server.restart();
    assertEquals((await events.next(60_000))?.tag, "salt/store/back");
    const found = await eventually(async () => {
      const jobs = await runner(fleet, "jobs.list_jobs", "search_function=test.echo");
      if (!isMap(jobs)) return undefined;
      const [jid] = [...jobs].filter(([, job]) => String(at(job, "Arguments")) === "away")[0] ?? [];
      return jid;
    }, { what: "the job of the time without the database" });
    assertEquals(await runner(fleet, "jobs.lookup_jid", String(found)), map({ web1: "away" }));
    assertEquals(at(await runner(fleet, "database.status"), "outbox"), 0);
  },
});

Deno.test({
  name: named("a master does not start with a database that refuses it, and says what to do"),
  ignore: missing,
  async fn() {
    await using server = await startPostgres({ auth: "scram-sha-256" });
    const postgresql = { host: "127.0.0.1", port: server.port, pass: "wrong" };
    const start = () => startFleet({ minions: [], master: { master_job_cache: "postgresql", postgresql } });
    const message = await start().then(() => "it started", (error) => String(error));
    assertStringIncludes(message, "set postgresql.user and postgresql.pass or pass_file");
  },
});
