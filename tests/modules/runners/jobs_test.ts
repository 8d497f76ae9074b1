import { noteRunner, runningRunners } from "#lib/client/runner_notes.ts";
import type { AttachedReturn } from "#lib/client/runner_context.ts";
import { CommandError, InvocationError } from "#lib/errors.ts";
import { parseTime } from "#lib/jobs/listing.ts";
import { decode, encode } from "#lib/values/msgpack.ts";
import { isMap, map, repr, str, toValue, type ValueMap } from "#lib/values/value.ts";
import { assert, assertEquals, assertMatch, assertRejects, assertThrows } from "#tests/support/assert.ts";
import { RECORDED_JID, withRecordedJobs } from "#tests/support/fleet/recorded_jobs.ts";
import { addJob, withRunnerFixture } from "#tests/support/fleet/runner_services.ts";
import { fromTyped, readCorpus, type Typed } from "#tests/support/typed_values.ts";

const JID = "20250102030405000001";

Deno.test("jobs.last_run requires metadata as a dictionary; otherwise it finds nothing, as in Salt", () =>
  withRunnerFixture(async (fixture) => {
    addJob(fixture, JID, "test.ping");
    assertEquals(await fixture.call("jobs.last_run", [], { metadata: "text" }), false);
    const jobs = await fixture.call("jobs.last_run") as ValueMap;
    assertEquals([...jobs.keys()], [JID]);
    assertEquals(await fixture.call("jobs.last_run", [], { metadata: { none: "x" } }), false);
  }));

Deno.test("jobs.list_jobs shows the end of jobs if the master stores it", () =>
  withRunnerFixture(async (fixture) => {
    const { context, call } = fixture;
    addJob(fixture, JID, "test.ping");
    await context.jobs.saveEndTime(JID, "2025, Jan 02 03:04:06.000000");
    const jobs = await call("jobs.list_jobs") as ValueMap;
    const job = jobs.get(JID);
    assert(isMap(job));
    assertEquals(job.get("EndTime"), "2025, Jan 02 03:04:06.000000");
  }, "job_cache_store_endtime: True\n"));

Deno.test("jobs.outcomes and jobs.attach reject a job that is not in the cache", () =>
  withRunnerFixture(async ({ call }) => {
    for (const fun of ["jobs.outcomes", "jobs.attach"]) {
      await assertRejects(() => call(fun, [JID]), CommandError, `There is no job ${JID} in the job cache`);
    }
  }));

Deno.test("jobs.active with display_progress names the minions that are asked, and each that answers", () =>
  withRunnerFixture(async ({ call, answers, done }) => {
    answers.set("web1", { return: [], retcode: 0 }).set("db1", { return: [], retcode: 0 });
    assertEquals(await call("jobs.active", [], { display_progress: true }), new Map());
    assertEquals(done.slice(1), [
      "{'message': 'Attempting to contact minions: web1, db1'}",
      "{'message': 'Received reply from minion web1'}",
      "{'message': 'Received reply from minion db1'}",
    ]);
  }));

// corpus/runners.json: the results of Salt's own runners for the cache of corpus/job_cache.json.
for (const [name, ...typed] of await readCorpus<[string, Typed, Typed, Typed]>("runners.json")) {
  const [args, kwargs, expected] = typed.map(fromTyped);
  assert(Array.isArray(args) && isMap(kwargs));
  if (!name.startsWith("jobs.")) continue;
  // Salt looks whether the return is true; the test below shows what we look at.
  if (name === "jobs.exit_success") continue;
  Deno.test(`${name} of ${repr(args)}${repr(kwargs)} returns the same as Salt, in the same order`, () =>
    withRecordedJobs(async ({ call }) => {
      // The corpus has lists for tuples, as what crosses the wire.
      const result = decode(encode(toValue(await call(name, args, Object.fromEntries(kwargs))), "disk"), "disk");
      assertEquals(repr(result), repr(expected));
    }));
}

Deno.test("jobs.list_jobs finds a job of several functions by any of them, where Salt fails", () =>
  withRecordedJobs(async ({ call }) => {
    for (const search_function of ["test.ech*", ["nothing", "test.echo"], "x, test.echo"]) {
      const jobs = await call("jobs.list_jobs", [], { search_function }) as ValueMap;
      assertEquals([...jobs.keys()], ["20240102030405000003"]);
    }
  }));

Deno.test("jobs.exit_success looks at the return code; at the return only where a cache has no code", () =>
  withRecordedJobs(async ({ call, context }) => {
    const jid = await context.jobs.prepare("20250102030405000002");
    const minions = ["db1", "m1", "m2", "web1", "web2"];
    await context.jobs.saveLoad(jid, map({ fun: "state.apply", arg: [], tgt: "*", jid }), minions);
    const returned = (id: string, load: Record<string, unknown>) => context.jobs.saveReturn(map({ jid, id, ...load }));
    returned("db1", { return: { failed: "states" }, retcode: 2, success: false });
    returned("web1", { return: "", retcode: 0, success: true });
    returned("web2", { return: { of: "two" }, retcode: { "test.ping": 0, "cmd.run": 3 }, success: true });
    returned("m1", { return: "text" });
    const exits = await call("jobs.exit_success", [jid]);
    assertEquals(repr(exits), "{'db1': False, 'm1': True, 'm2': False, 'web1': True, 'web2': False}");
  }));

Deno.test("jobs.list_jobs rejects an invalid time, and another returner", () =>
  withRecordedJobs(async ({ call }) => {
    await assertRejects(() => call("jobs.list_jobs", [], { start_time: "yesteryear" }), InvocationError, "yesteryear");
    await assertRejects(() => call("jobs.list_jobs", [], { ext_source: "nosuch" }), CommandError, "nosuch");
    await assertRejects(() => call("jobs.list_jobs", [], { search_metadata: "a" }), InvocationError);
  }));

Deno.test("jobs.list_jobs leaves find_job out of the filtered list unless requested", () =>
  withRecordedJobs(async ({ call, context }) => {
    const jid = await context.jobs.prepare("20250102030405000001");
    await context.jobs.saveLoad(jid, map({ fun: "saltutil.find_job", arg: ["x"], tgt: "*", jid }));
    const jids = async (kwargs: Record<string, unknown>) =>
      (await call("jobs.list_jobs_filter", [1], kwargs) as ValueMap[]).map((job) => job.get("JID"));
    assertEquals(await jids({}), ["20240102030405000003"]);
    assertEquals(await jids({ filter_find_job: false }), [jid]);
  }));

Deno.test("jobs.list_jobs leaves out jobs that monitor others, unless they are searched for or requested", () =>
  withRecordedJobs(async ({ call, context }) => {
    for (const [i, fun] of ["saltutil.find_job", "saltutil.running"].entries()) {
      const jid = await context.jobs.prepare(`2025010203040500000${i}`);
      await context.jobs.saveLoad(jid, map({ fun, arg: [], tgt: "*", jid }));
    }
    const count = async (kwargs: Record<string, unknown>) =>
      (await call("jobs.list_jobs", [], kwargs) as ValueMap).size;
    const all = await count({ filter_find_job: false });
    assertEquals([await count({}), await count({ search_function: "saltutil.*" })], [all - 2, 2]);
  }));

Deno.test("jobs.list_jobs shows the newest jobs on a terminal, and all jobs to programs", () =>
  withRecordedJobs(async ({ call, context, done }) => {
    for (let i = 0; i < 60; i++) {
      const jid = await context.jobs.prepare(`202501020304050000${10 + i}`);
      await context.jobs.saveLoad(jid, map({ fun: "test.ping", arg: [], tgt: "*", jid }));
    }
    const jids = async (
      kwargs: Record<string, unknown> = {},
    ) => [...(await call("jobs.list_jobs", [], kwargs) as ValueMap).keys()];
    const all = await jids();
    assert(all.length > 60);
    assertEquals(await jids({ limit: 2 }), all.slice(-2));
    Object.assign(context, { forTerminal: true });
    assertEquals([await jids(), await jids({ limit: 0 })], [all.slice(-50), all]);
    assertEquals(done, ["print The newest 50 jobs; limit=0 shows all."]);
  }));

Deno.test("jobs.lookup_jid of a running job names the minions that have not returned", () =>
  withRecordedJobs(async ({ call, context }) => {
    const logged: string[] = [];
    Object.assign(context, { log: (level: string, text: string) => void logged.push(`${level}: ${text}`) });
    const jid = await context.jobs.prepare("20250102030405000001");
    await context.jobs.saveLoad(jid, map({ fun: "test.sleep", arg: [9], tgt: "*", jid }), ["db1", "web1", "web2"]);
    await context.jobs.saveReturn(map({ id: "db1", jid, return: true }));
    await context.jobs.acks.save(jid, "web1", { state: "running", sinceMs: 1 });
    assertEquals(await call("jobs.lookup_jid", [jid]), map({ db1: true }));
    assertEquals(logged, ["warning: 2 of 3 minions have not returned: running: web1; no word: web2"]);
    await context.jobs.saveReturn(map({ id: "web1", jid, return: true }));
    await context.jobs.saveReturn(map({ id: "web2", jid, return: true }));
    await call("jobs.lookup_jid", [jid]);
    assertEquals(logged.length, 1);
  }));

Deno.test("jobs.list_job shows the end of a job if the master stores it", () =>
  withRecordedJobs(async ({ call, context }) => {
    Object.assign(context.opts, { job_cache_store_endtime: true });
    const job = await call("jobs.list_job", [RECORDED_JID]) as ValueMap;
    assertEquals(job.get("EndTime"), "2024, Jan 02 03:04:06.000000");
  }));

Deno.test("jobs.active groups running jobs of minions by job; a minion that has returned does not run it any more", () =>
  withRecordedJobs(async ({ call, answers, done }) => {
    const job = { jid: RECORDED_JID, fun: "test.sleep", arg: [9], tgt: "*", tgt_type: "glob", user: "ann", ret: "" };
    answers.set("web1", { return: [map({ ...job, pid: 7 })], retcode: 0 });
    answers.set("web2", { return: [map({ ...job, pid: 8 }), "junk"], retcode: 0 });
    answers.set("db1", { return: "no list", retcode: 1 });
    assertEquals(
      repr(await call("jobs.active")),
      "{'20240102030405000001': {'Function': 'test.sleep', 'Arguments': [9], 'Target': '*', 'Target-type': 'glob', " +
        "'User': 'ann', 'StartTime': '2024, Jan 02 03:04:05.000001', 'Running': [{'web2': 8}], " +
        "'Returned': ['db1', 'web1']}}",
    );
    assertEquals(done, ["saltutil.running on '*' (glob) in 5 s"]);
  }));

Deno.test("a hostile jid gets the answer of an unknown job", () =>
  withRecordedJobs(async ({ call }) => {
    assertEquals(await call("jobs.lookup_jid", ["../../etc"]), new Map());
    assertEquals((await call("jobs.list_job", ["../../etc"]) as ValueMap).has("Error"), true);
  }));

Deno.test("display_progress reports each step", () =>
  withRecordedJobs(async ({ call, done }) => {
    await call("jobs.lookup_jid", [RECORDED_JID], { display_progress: true });
    assertEquals(done, [
      "{'message': 'Querying returner: local_cache'}",
      "{'message': 'db1'}",
      "{'message': 'web1'}",
    ]);
  }));

Deno.test("jobs.master lists running runners, and removes ended ones", () =>
  withRecordedJobs(async ({ call, root }) => {
    const forget = noteRunner(root, map({ fun: "runner.test.sleep", jid: RECORDED_JID, user: "root", fun_args: [9] }));
    const dead = noteRunner(root, map({ jid: "20240102030405000002" }));
    const listed = await call("jobs.master") as ValueMap[];
    assertEquals(listed.map((note) => note.get("jid")), [RECORDED_JID, "20240102030405000002"]);
    for (const note of listed) assertMatch(str(note.get("_stamp") ?? null), /^\d{4}-\d\d-\d\dT[\d:.]+\+00:00$/);
    dead();
    Deno.writeFileSync(`${root}/proc/20240102030405000003`, new Uint8Array());
    assertEquals(runningRunners(root).length, 1);
    assertEquals([...Deno.readDirSync(`${root}/proc`)].length, 1);
    forget();
    forget();
    assertEquals(await call("jobs.master"), []);
  }));

const TIMES: readonly (readonly [words: string, digits: string])[] = [
  ["2015, Mar 16 19:00", "20150316190000000000"],
  ["2014, May 23 10:11:12.123456", "20140523101112123456"],
  ["2015-03-16", "20150316000000000000"],
  ["2015-3-6 9:05:01.5", "20150306090501500000"],
  ["2015-03-16T19:00:00Z", "20150316190000000000"],
  ["2015-03-16T19:00:00+02:00", "20150316170000000000"],
  ["2015-03-16 00:30 -0100", "20150316013000000000"],
  ["2015/03/16 19:00", "20150316190000000000"],
  ["03/16/2015 7:00 pm", "20150316190000000000"],
  ["16 Mar 2015 12:00 am", "20150316000000000000"],
  ["March 16, 2015 19:00:01", "20150316190001000000"],
  ["20150316", "20150316000000000000"],
  ["20150316190000", "20150316190000000000"],
  ["20150316190000123456", "20150316190000123456"],
];

for (const [words, digits] of TIMES) {
  Deno.test(`the time "${words}" is read`, () => assertEquals(parseTime(words), digits));
}

for (
  const words of [
    "",
    "soon",
    "2015-13-01",
    "2015-02-30",
    "2015-01-01 25:00",
    "2015-01-01 7",
    "2015-01-01 13 pm",
    "13 Foo 2015",
    "1:2",
  ]
) {
  Deno.test(`the time "${words}" is refused`, () => {
    assertThrows(() => parseTime(words), InvocationError);
  });
}

Deno.test("a time without a date is today's", () => {
  const today = () => new Date().toISOString().replace(/-/g, "").slice(0, 8);
  const before = today();
  const read = parseTime("19:30");
  assert([before, today()].map((day) => `${day}193000000000`).includes(read), read);
});

Deno.test("jobs.list_job returns the same as Salt's if all have returned, otherwise also the outcomes", () =>
  withRecordedJobs(async ({ call, outcomes }) => {
    const received = { sinceMs: undefined, acknowledges: true };
    outcomes.set("web1", { outcome: "returned", ...received }).set("db1", { outcome: "failed", ...received });
    assertEquals((await call("jobs.list_job", [RECORDED_JID]) as ValueMap).has("Outcomes"), false);
    outcomes.set("web2", { outcome: "running", ...received });
    const job = await call("jobs.list_job", [RECORDED_JID]) as ValueMap;
    assertEquals(job.get("Outcomes"), map({ web1: "returned", db1: "failed", web2: "running" }));
  }));

/** Returners of an operator: one whose answers are no jobs, one whose database is away, one that cannot be loaded. */
const OWN_RETURNERS = {
  odd: `const answer = (value) => ({ params: {}, varArgs: "args", run: () => value });
export const get_jids = answer("no map");
export const get_load = answer(new Map());
export const get_jid = answer("no map");
`,
  away: `const fail = { params: {}, varArgs: "args", run() { throw new Error("the database is away"); } };
export { fail as get_jids, fail as get_load, fail as get_jid };
`,
  good: `const job = new Map([["Function", "test.ping"], ["Arguments", []], ["Target", "*"], ["Target-type", "glob"]]);
export const get_jids = { params: {}, run: () => new Map([["${JID}", job.set("User", "ann")], ["no jid", job]]) };
`,
  broken: `throw new Error("it cannot be loaded");\nexport const get_jids = { run: () => new Map() };\n`,
};

Deno.test("jobs of a returner: answers that are none, failures, and modules that do not load", () =>
  withRunnerFixture(async ({ call, root, done }) => {
    Deno.mkdirSync(`${root}/ext/returners`, { recursive: true });
    for (const [name, text] of Object.entries(OWN_RETURNERS)) {
      Deno.writeTextFileSync(`${root}/ext/returners/${name}.ts`, text);
    }
    assertEquals(await call("jobs.list_jobs", [], { ext_source: "odd" }), new Map());
    for (const jid of [JID, "no jid"]) {
      assertEquals(await call("jobs.exit_success", [jid], { ext_source: "odd" }), new Map());
    }
    const good = map({ Function: "test.ping", Arguments: [], Target: "*", "Target-type": "glob", User: "ann" });
    const [[jid, job]] = [...await call("jobs.list_jobs", [], { ext_source: "good" }) as ValueMap];
    assertEquals([jid, isMap(job) && [...good].every(([key, value]) => repr(job.get(key) ?? null) === repr(value))], [
      JID,
      true,
    ]);
    assertEquals(isMap(job) && job.has("EndTime"), false);
    for (const [fun, args] of [["jobs.list_jobs", []], ["jobs.lookup_jid", [JID]]] as const) {
      await assertRejects(
        () => call(fun, args, { ext_source: "away" }),
        CommandError,
        "Jobs cannot be read by the returner away: the database is away",
      );
    }
    await assertRejects(
      () => call("jobs.list_jobs", [], { ext_source: "broken" }),
      CommandError,
      "'broken.get_jids' is not available",
    );
    assertEquals(done.filter((line) => line.includes("it cannot be loaded")).length, 1, done.join("\n"));
  }, "extension_modules: {root}/ext\njob_cache_store_endtime: True\n"));

Deno.test("jobs.attach prints each return, and fails if a minion has not returned", () =>
  withRunnerFixture(async (fixture) => {
    addJob(fixture, JID, "test.ping");
    const { context, call, done } = fixture;
    const attached: AttachedReturn[] = [
      { id: "web1", returned: map({ a: 1 }), outcome: "returned", out: "json" },
      { id: "web2", returned: true, outcome: "returned" },
    ];
    Object.assign(context.local, {
      async *attach() {
        for (const one of attached) yield await Promise.resolve(one);
      },
    });
    assertEquals(await call("jobs.attach", [JID]), new Map([["web1", "returned"], ["web2", "returned"]]));
    assertEquals(done.splice(0), [
      'print {\n    "web1": {\n        "a": 1\n    }\n}',
      "print web2:\n    True",
    ]);
    attached.splice(0, 2, { id: "web3", returned: undefined, outcome: "not connected" });
    assertEquals(await call("jobs.attach", [JID]), new Map([["web3", "not connected"]]));
    assertEquals(done, ["retcode 1"]);
  }));

Deno.test("jobs.audit with export needs the key of an operator", () =>
  withRunnerFixture(async ({ call, done, root }) => {
    await assertRejects(
      () => call("jobs.audit", [], { export: root }),
      CommandError,
      "export= needs an operator's key: sign in ~/.saltrc",
    );
    assertEquals(done, []);
  }));
