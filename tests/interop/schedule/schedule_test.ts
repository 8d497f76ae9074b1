/**
 * Scheduled jobs between implementations: the returns of Python minions on our master, and of our minion on Python
 * masters, are stored and shown; the functions of `schedule` answer the same on both.
 * @module
 */

import { assert, assertEquals } from "#tests/support/assert.ts";
import { eventually } from "#tests/support/eventually.ts";
import { PYTHON_SALTS } from "#tests/interop/python_salt.ts";
import { OURS, type Salt, testWithPython } from "#tests/interop/salts.ts";
import { Site } from "#tests/interop/site.ts";

/** Calls of functions of `schedule`, and the exit code of `salt`. */
const CALLS: readonly (readonly [words: readonly string[], code: number])[] = [
  [["schedule.add", "j1", "function=test.ping", "hours=9", "run_on_start=False", "job_args=[]"], 0],
  [["schedule.list"], 0],
  [["schedule.add", "j1", "function=test.ping", "hours=9"], 1],
  [["schedule.disable_job", "j1"], 0],
  [["schedule.enable_job", "j1"], 0],
  [["schedule.is_enabled", "none"], 0],
  [["schedule.skip_job", "j1", "2040-01-01T10:00:00"], 0],
  [["schedule.delete", "none"], 1],
  [["schedule.delete", "j1"], 0],
  [["schedule.list"], 0],
];

/** The answers that are recorded of Salt 3008.3 for {@linkcode CALLS}. */
const ANSWERS: readonly unknown[] = [
  { comment: "Added job: j1 to schedule.", result: true, changes: { j1: "added" } },
  "schedule:\n  j1:\n    args: []\n    enabled: true\n    function: test.ping\n    hours: 9\n    jid_include: true\n" +
  "    maxrunning: 1\n    name: j1\n    run_on_start: false\n    saved: true\n",
  { comment: "Job j1 already exists in schedule.", result: false, changes: {} },
  { comment: "Disabled Job j1 in schedule.", result: true, changes: { j1: "disabled" } },
  { comment: "Enabled Job j1 in schedule.", result: true, changes: { j1: "enabled" } },
  {},
  { comment: "Added Skip Job j1 in schedule.", result: true },
  { comment: "Job none does not exist.", result: false, changes: {} },
  { comment: "Deleted Job j1 from schedule.", result: true, changes: { j1: "removed" } },
  "schedule: {}\n",
];

async function prove(t: Deno.TestContext, { master, minion }: { readonly master: Salt; readonly minion: Salt }) {
  await using site = new Site();
  const id = "web1";
  await site.explain(async () => {
    await site.startMaster(master);
    site.startMinion(minion, id);
    await site.keyComes(id, "minions_pre");
    await site.acceptAll();
    await site.answers(id);
  });
  await t.step("the functions answer as recorded", () =>
    site.explain(async () => {
      for (const [i, [words, code]] of CALLS.entries()) {
        const answer = await site.salt([id, ...words], code);
        assertEquals(answer[id], ANSWERS[i], words.join(" "));
      }
    }));
  await t.step("the return of a scheduled job is stored", () =>
    site.explain(async () => {
      await site.salt([id, "schedule.add", "often", "function=test.echo", "job_args=[by the schedule]", "seconds=2"]);
      await eventually(async () => {
        const jobs = await site.saltRun(["jobs.list_jobs", "search_function=test.echo"]);
        const jid = Object.keys(typeof jobs === "object" && jobs !== null ? jobs : {}).at(-1);
        if (jid === undefined) return false;
        const found = await site.saltRun(["jobs.lookup_jid", jid]);
        const text = JSON.stringify(found);
        assert(text.includes("by the schedule"), text);
        return true;
      }, { withinMs: 60_000, what: "a stored return of the schedule" });
      await site.salt([id, "schedule.delete", "often"]);
    }));
}

for (const version of PYTHON_SALTS) {
  await testWithPython(version, "the schedule of a minion of {} on our master", (python, t) => {
    return prove(t, { master: OURS, minion: python });
  });
  await testWithPython(version, "the schedule of our minion on a master of {}", (python, t) => {
    return prove(t, { master: python, minion: OURS });
  });
}
