/**
 * Job caches in returners: `master_job_cache`, `ext_job_cache`, `multi_returner`, and the runner `jobs` that reads
 * them.
 * @module
 */

import { isMap, map, type Value, type ValueMap } from "#lib/values/value.ts";
import { parseJson } from "#lib/values/json_read.ts";
import { assert, assertEquals, assertStringIncludes } from "#tests/support/assert.ts";
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

Deno.test("master_job_cache stores jobs, returns and runs of the master, and the runner jobs reads them there", () =>
  withTemporaryDirectory(async (root) => {
    const master = { master_job_cache: "sqlite3", sqlite3: { database: `${root}/jobs.db` } };
    await using fleet = await startFleet({ minions: ["web1"], master });
    assertEquals((await fleet.salt("web1", "test.echo", "hello")).code, 0);
    await fleet.salt("web1", "test.false");
    await fleet.saltRun("test.arg", "x");
    const wanted = ["test.echo", "test.false", "runner.test.arg"];
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
    assertEquals(await runner(fleet, "jobs.exit_success", all.get("test.false")?.jid ?? ""), map({ web1: false }));
    const last = await runner(fleet, "jobs.last_run", "function=test.echo");
    assertEquals(isMap(last) ? [...last.keys()] : last, [jid]);
    assert(!(await listed(fleet, "ext_source=local_cache")).has("test.echo"), "the master's own files are read");
    const status = await runner(fleet, "returners.status");
    const cache = isMap(status) ? status.get("master_job_cache") : undefined;
    assert(isMap(cache) && isMap(cache.get("sqlite3")));
  }));

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
