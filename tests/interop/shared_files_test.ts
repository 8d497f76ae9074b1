/**
 * One root, two implementations: each takes over the keys that the other made and reads the jobs that the other stored.
 * @module
 */

import { assert, assertEquals } from "../assert.ts";
import { PYTHON_SALTS } from "./python_salt.ts";
import { OURS, type Salt, testWithPython } from "./salts.ts";
import { Site } from "./site.ts";

for (const version of PYTHON_SALTS) {
  await testWithPython(version, "our master and one of {} follow each other on the same files", (python, t) => {
    return proveSuccession(t, [OURS, python]);
  });
  await testWithPython(version, "a master of {} and ours follow each other on the same files", (python, t) => {
    return proveSuccession(t, [python, OURS]);
  });
}

/** What is run under each master: whatever may look different once it is stored. */
const JOBS: readonly (readonly string[])[] = [
  ["*", "test.ping"],
  ["*", "cmd.run", "echo 'ä €'; exit 3"],
  ["*", "test.arg", "1", "1.5", "text", "[1, 2]", "{a: null}", "key=value"],
  ["-L", "own1,py1", "test.echo", "listed"],
  ["py*", "no.such"],
];

async function proveSuccession(t: Deno.TestContext, [first, second]: readonly [Salt, Salt]): Promise<void> {
  await using site = new Site();
  const step = (name: string, prove: () => Promise<void>) => t.step(name, () => site.explain(prove));
  const python = first.version === undefined ? second : first;
  const minions: Record<string, Salt> = { own1: OURS, py1: python };
  const ids = Object.keys(minions);

  const allAnswer = async () => {
    await Promise.all(ids.map((id) => site.answers(id)));
    const { minions, minions_pre, minions_rejected, minions_denied } = await site.keys();
    assertEquals({ minions, others: [minions_pre, minions_rejected, minions_denied].flat() }, {
      minions: ids,
      others: [],
    });
  };
  const runJobs = async () => {
    for (const job of JOBS) await site.operate("salt", ["--out=json", ...job]);
  };

  const met = await step(`${first.name}: a master makes its keys, accepts both minions and stores jobs`, async () => {
    await site.startMaster(first);
    for (const id of ids) site.startMinion(minions[id], id);
    for (const id of ids) await site.keyComes(id, "minions_pre");
    await site.acceptAll();
    await allAnswer();
    await runJobs();
    await site.stopMaster();
  });
  if (!met) return;

  await step("both list its jobs and keys alike, without a master", async () => {
    assertEquals(await site.keys(OURS), await site.keys(python), "salt-key -L");
    assertEquals(await listJobs(site, OURS), await listJobs(site, python), "jobs.list_jobs");
  });

  await step(`${second.name}: a master serves both minions on, with the keys that it finds`, async () => {
    await site.startMaster(second);
    await allAnswer();
    await runJobs();
  });
  // Python's salt-run waits for a bus that it understands, so everything is read where its own master runs.
  if (second === python) await step("both read the jobs of both masters alike", () => compareJobs(site, python));

  await step(`${first.name}: the first master comes back`, async () => {
    await site.stopMaster();
    await site.startMaster(first);
    await allAnswer();
  });
  if (first === python) await step("both read the jobs of both masters alike", () => compareJobs(site, python));

  await step("a minion takes over the keys of one of the other implementation", async () => {
    await Promise.all(ids.map((id) => site.stopMinion(id)));
    site.startMinion(python, "own1");
    site.startMinion(OURS, "py1");
    await allAnswer();
    assertEquals((await site.salt(["own1", "test.version"])).own1, python.version);
  });
}

/** What the two read of the same jobs cache must be the same. */
async function compareJobs(site: Site, python: Salt): Promise<void> {
  const [ours, theirs] = [await listJobs(site, OURS), await listJobs(site, python)];
  assertEquals(ours, theirs, "jobs.list_jobs");
  const functions = Object.values(ours).map((job) => (job as { Function: unknown }).Function);
  for (const [, fun] of JOBS) {
    assert(functions.filter((name) => name === fun).length >= 2, `${fun} of both masters in ${functions}`);
  }
  const stored = Object.entries(ours).filter(([, job]) =>
    JOBS.some(([, fun]) => fun === (job as { Function: unknown }).Function)
  );
  for (const [jid] of stored) {
    for (const runner of ["jobs.lookup_jid", "jobs.list_job"]) {
      const answers = await Promise.all([site.saltRun([runner, jid], OURS), site.saltRun([runner, jid], python)]);
      assertEquals(answers[0], answers[1], `${runner} ${jid}`);
    }
  }
}

/** All jobs but those of the runners, which come to be by asking. */
async function listJobs(site: Site, salt: Salt): Promise<Record<string, unknown>> {
  const jobs = await site.saltRun(["jobs.list_jobs"], salt) as Record<string, { Function: unknown }>;
  return Object.fromEntries(Object.entries(jobs).filter(([, job]) => !String(job.Function).startsWith("runner.")));
}
