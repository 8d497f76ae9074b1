/** @module */
import { Maintenance } from "#lib/master/daemon/maintenance.ts";
import { jidDirectory } from "#lib/protocol/jid.ts";
import { map } from "#lib/values/value.ts";
import { assertEquals } from "#tests/support/assert.ts";
import { eventually } from "#tests/support/eventually.ts";
import { asyncJobStore } from "#lib/jobs/async_store.ts";
import { jobStore } from "#tests/support/fleet/job_store.ts";
import { testServices } from "#tests/support/fleet/services.ts";

const OLD = "20240102030405000000", YOUNG = "20240102030405000001";

Deno.test("a round removes old jobs and old publish_auth files; with keep_jobs_seconds: 0 it removes no jobs", async () => {
  using services = await testServices({ loop_interval: 0.1 });
  const { opts, log } = services;
  const { cachedir } = opts;
  const jobs = jobStore(cachedir);
  const auth = `${cachedir}/publish_auth`;
  Deno.mkdirSync(auth);
  for (const jid of [OLD, YOUNG]) {
    jobs.saveLoad(jid, map({ jid, fun: "test.ping", tgt: "*" }), ["web1"]);
    Deno.writeTextFileSync(`${auth}/${jid}`, "web1");
  }
  const past = new Date(Date.now() - 25 * 3_600_000);
  for (const path of [`${auth}/${OLD}`, `${cachedir}/jobs/${jidDirectory(OLD, "sha256")}/jid`]) {
    Deno.utimeSync(path, past, past);
  }
  const left = () => [jobs.exists(OLD), jobs.exists(YOUNG), [...Deno.readDirSync(auth)].map(({ name }) => name).sort()];
  const rounds = async (keep_jobs_seconds: number, enough: () => boolean) => {
    const maintenance = new Maintenance({
      opts: { ...opts, keep_jobs_seconds },
      jobs: asyncJobStore(jobs),
      log,
      keyMadeMs: () => Date.now(),
      rotate: () => {},
      restoreAccessKeys: () => void count++,
      settlePair: () => {},
      removesJobs: () => true,
    });
    await eventually(enough, { what: "a round of Maintenance" });
    await maintenance.close();
  };
  let count = 0;
  await rounds(0, () => count > 1);
  assertEquals(left(), [true, true, [OLD, YOUNG]]);
  await rounds(24 * 3_600, () => services.logged.length > 0);
  assertEquals([left(), services.logged], [[false, true, [YOUNG]], ["INFO: Removed 1 old jobs from the cache"]]);
});
