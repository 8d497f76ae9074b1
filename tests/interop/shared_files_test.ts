/**
 * Two implementations on one root directory: each uses the keys that the other made and reads the jobs that the other
 * stored.
 * @module
 */

import { assert, assertEquals } from "#tests/support/assert.ts";
import { PYTHON_SALTS } from "./python_salt.ts";
import { OURS, pythonOf, type Salt, testWithPython } from "./salts.ts";
import { Site } from "./site.ts";
import { run } from "#tests/support/processes.ts";

const SCRIPT = decodeURIComponent(new URL("./runner_calls.py", import.meta.url).pathname);

for (const version of PYTHON_SALTS) {
  await testWithPython(version, "a master of {} takes over from ours, and gives back", async (python, t) => {
    await using site = new Site();
    if (!await proveSuccession(t, [OURS, python], site)) return;
    await proveReturn(t, python, site);
  });
  await testWithPython(version, "our master takes over from one of {}", async (python, t) => {
    await using site = new Site();
    await proveSuccession(t, [python, OURS], site);
  });
}

/** The jobs under each master, with values that may be stored differently. */
const JOBS: readonly (readonly string[])[] = [
  ["*", "cmd.run", "echo 'ä €'; exit 3"],
  ["*", "test.arg", "1", "1.5", "text", "[1, 2]", "{a: null}", "key=value"],
  ["-L", "own1,py1", "test.echo", "listed"],
  ["py*", "no.such"],
];

const FUNCTIONS = ["cmd.run", "test.arg", "test.echo", "no.such"];

/** The runners that read one job. */
const RUNNERS = ["jobs.lookup_jid", "jobs.list_job"];

/** Number of our commands that run at once. */
const AT_ONCE = 4;

/** The minions by id, one of each implementation. */
const IDS = ["own1", "py1"];

/** @returns Whether `first` completed all its steps. */
async function proveSuccession(
  t: Deno.TestContext,
  [first, second]: readonly [Salt, Salt],
  site: Site,
): Promise<boolean> {
  const step = (name: string, prove: () => Promise<void>) => t.step(name, () => site.explain(prove));
  const python = first.version === undefined ? second : first;

  const met = await step(`${first.name}: a master makes its keys, accepts both minions and stores jobs`, async () => {
    await site.startMaster(first);
    site.startMinion(OURS, "own1");
    site.startMinion(python, "py1");
    for (const id of IDS) await site.keyComes(id, "minions_pre");
    await site.acceptAll();
    await allAnswer(site);
    await runJobs(site);
    await site.stopMaster();
  });
  if (!met) return false;

  const servedOn = await step(
    `${second.name}: a master serves both minions with the existing keys`,
    async () => {
      await site.startMaster(second);
      await allAnswer(site);
      await runJobs(site);
      await site.stopMaster();
    },
  );

  if (!servedOn) return false;

  return await step(
    "both read the jobs and keys of both masters in the same way, without a running master",
    async () => {
      const [ours, theirs] = await Promise.all([OURS, python].map((salt) => site.keys(salt)));
      assertEquals(ours, theirs, "salt-key -L");
      await compareJobs(site, python);
    },
  );
}

async function proveReturn(t: Deno.TestContext, python: Salt, site: Site): Promise<void> {
  const step = (name: string, prove: () => Promise<void>) => t.step(name, () => site.explain(prove));

  const back = await step("our master runs with the files that Python's master has changed", async () => {
    await site.startMaster(OURS);
    await allAnswer(site);
  });
  if (!back) return;

  await step("each minion uses the keys of the other", async () => {
    await Promise.all(IDS.map((id) => site.stopMinion(id)));
    site.startMinion(python, "own1");
    site.startMinion(OURS, "py1");
    await allAnswer(site);
    assertEquals((await site.salt(["own1", "test.version"])).own1, python.version);
  });
}

/** Both minions answer, and there is no other key. */
async function allAnswer(site: Site): Promise<void> {
  await Promise.all(IDS.map((id) => site.answers(id)));
  const { minions, minions_pre, minions_rejected, minions_denied } = await site.keys();
  const others = [minions_pre, minions_rejected, minions_denied].flat();
  assertEquals({ minions, others }, { minions: IDS, others: [] });
}

async function runJobs(site: Site): Promise<void> {
  // On a slow host a minion may be slow; if it is stopped too early, its return is lost.
  for (const job of JOBS) await site.operate("salt", ["--out=json", "-t", "30", ...job]);
}

/** Both must read the same from the same jobs cache. */
async function compareJobs(site: Site, python: Salt): Promise<void> {
  const [ours, theirs] = await Promise.all([OURS, python].map((salt) => listJobs(site, salt)));
  assertEquals(ours, theirs, "jobs.list_jobs");
  const jids = Object.keys(ours).filter((jid) => FUNCTIONS.includes(String(ours[jid].Function)));
  assertEquals(jids.length, 2 * FUNCTIONS.length, "the jobs of both masters");
  const calls = RUNNERS.flatMap((runner) => jids.map((jid): RunnerCall => [runner, jid]));
  const results = await callRunners(site, python, calls);
  // Several at once, but not more than fit into the memory of a small host.
  for (let i = 0; i < calls.length; i += AT_ONCE) {
    await Promise.all(
      calls.slice(i, i + AT_ONCE).map(async (call, j) => {
        const ours = await site.saltRun(call, OURS);
        assertEquals(ours, results[i + j], call.join(" "));
        assert(JSON.stringify(ours).includes("py1"), `the return of py1 in ${JSON.stringify(ours)}`);
      }),
    );
  }
  // Without a master Python's salt-run waits some seconds for its bus, so it runs once for each runner.
  await Promise.all(RUNNERS.map(async (runner) => {
    const call: RunnerCall = [runner, jids[0]];
    assertEquals(
      await site.saltRun(call, python),
      results[calls.findIndex(([name]) => name === runner)],
      call.join(" "),
    );
  }));
}

/** A runner and its argument. */
type RunnerCall = readonly [runner: string, jid: string];

/** The results of runners of Python Salt, all by one process, in the order of the calls. */
async function callRunners(site: Site, python: Salt, calls: readonly RunnerCall[]): Promise<unknown[]> {
  const words = [pythonOf(python), SCRIPT, `${site.root}/etc/salt/master`, JSON.stringify(calls)];
  const { code, out, err } = await run(words);
  assertEquals(code, 0, `${out}${err}`);
  return JSON.parse(out.trim().split("\n").at(-1) ?? "");
}

/** All jobs except those of the runners that read the cache. */
async function listJobs(site: Site, salt: Salt): Promise<Record<string, { readonly Function: unknown }>> {
  // Ours leaves out jobs that only monitor others, unless an argument says otherwise; Python's has no such argument.
  const args = salt === OURS ? ["jobs.list_jobs", "filter_find_job=False"] : ["jobs.list_jobs"];
  const jobs = await site.saltRun(args, salt) as Record<string, { readonly Function: unknown }>;
  return Object.fromEntries(Object.entries(jobs).filter(([, job]) => !String(job.Function).startsWith("runner.")));
}
