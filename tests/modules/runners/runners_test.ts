import { dataCache, jobStore } from "#tests/support/fleet/job_store.ts";
import { invoke } from "#lib/plugins/call.ts";
import { CommandError, InvocationError } from "#lib/errors.ts";
import type { JobOutcome } from "#lib/jobs/outcomes.ts";
import { parseTime } from "#lib/jobs/listing.ts";
import { writePresence } from "#lib/fleet/presence_file.ts";
import { KeyStore } from "#lib/keys/store.ts";
import { type Family, loadFamily } from "#lib/plugins/loader.ts";
import type { MasterOpts } from "#lib/config/options.ts";
import type { LocalOptions, LocalReturn, RunnerContext } from "#lib/client/runner_context.ts";
import { RUNNERS } from "#modules/runners/_built_in.ts";
import { WHEEL } from "#modules/wheel/_built_in.ts";
import { KeyManager } from "#lib/keys/manager.ts";
import { noteRunner, runningRunners } from "#lib/client/runner_notes.ts";
import { decode, encode } from "#lib/values/msgpack.ts";
import { isMap, map, repr, str, toValue, type Value, type ValueMap } from "#lib/values/value.ts";
import { VERSION } from "#lib/version.ts";
import { assert, assertEquals, assertMatch, assertRejects, assertThrows } from "#tests/support/assert.ts";
import files from "#tests/corpus/job_cache.json" with { type: "json" };
import { fromTyped, readCorpus, type Typed } from "#tests/support/typed_values.ts";
import { batchState } from "#tests/support/fleet/batch_state.ts";

const JID = "20240102030405000001";

interface Fixture {
  readonly context: RunnerContext;
  readonly root: string;
  /** Further actions besides the return. */
  readonly done: string[];
  /** The answers of minions. */
  readonly answers: Map<string, LocalReturn>;
  readonly here: Map<string, string | undefined>;
  readonly outcomes: Map<string, JobOutcome>;
  call(name: string, args?: unknown[], kwargs?: Record<string, unknown>): Promise<Value>;
}

async function withFixture(run: (fixture: Fixture) => Promise<void>): Promise<void> {
  const root = Deno.makeTempDirSync({ prefix: "runners_" });
  try {
    for (const [path, base64] of Object.entries(files.files)) {
      Deno.mkdirSync(`${root}/${path}`.replace(/\/[^/]*$/, ""), { recursive: true });
      Deno.writeFileSync(`${root}/${path}`, Uint8Array.from(atob(base64), (char) => char.charCodeAt(0)));
    }
    for (const id of ["db1", "web1", "web2"]) {
      Deno.mkdirSync(`${root}/pki/minions`, { recursive: true });
      Deno.writeTextFileSync(`${root}/pki/minions/${id}`, "PEM");
    }
    const done: string[] = [];
    const answers = new Map<string, LocalReturn>();
    const here = new Map<string, string | undefined>();
    const outcomes = new Map<string, JobOutcome>();
    const catalogue: Family<RunnerContext> = loadFamily<RunnerContext>(RUNNERS);
    const opts = { cachedir: root, timeout: 5, gather_job_timeout: 10, extra: new Map() } as unknown as MasterOpts;
    const context: RunnerContext = {
      opts,
      jobs: jobStore(root),
      keys: new KeyStore(`${root}/pki`),
      data: dataCache(root),
      local: {
        attach: () => {
          throw new Error("no job is attached to here");
        },
        present: () => Promise.resolve(new Map([...here].sort())),
        gone: () => new Set(),
        outcomes: () => Promise.resolve(new Map(outcomes)),
        job: async (tgt, fun, runOptions) => ({ returns: await context.local.run(tgt, fun, runOptions), silent: [] }),
        run(tgt, fun, options: LocalOptions = {}) {
          done.push(`${fun} on ${repr(tgt)} (${options.tgtType ?? "glob"}) in ${options.timeoutS} s`);
          return Promise.resolve(new Map(answers));
        },
      },
      catalogue,
      wheel: loadFamily<RunnerContext>(WHEEL),
      jid: JID,
      user: "root",
      signal: new AbortController().signal,
      reactor: { render: () => Promise.reject(new Error("nothing is rendered here")) },
      manager: new KeyManager(new KeyStore(`${root}/pki`), {
        fire: (tag, data) => Promise.resolve(void done.push(`${tag} ${data.get("act")} ${data.get("id")}`)),
        forget: (id) => void done.push(`forget ${id}`),
      }),
      rotateKey: () => void done.push("rotate"),
      fire: (tag) => Promise.resolve(done.push(`fire ${tag}`) > 0),
      pillar: {
        compile: ({ id, pillarenv, grains }) => Promise.resolve(map({ id, pillarenv, grains })),
        top: ({ id }) => Promise.resolve({ top: map({ base: { "*": [id] } }), errors: [] }),
      },
      execute: ({ fun, args, kwargs }) => Promise.resolve(`${fun}${repr([...args])}${repr(kwargs)}`),
      progress: (data) => Promise.resolve(void done.push(repr(data))),
      print: (line) => done.push(`print ${line}`) > 0,
      setRetcode: (retcode) => void done.push(`retcode ${retcode}`),
      log: () => {},
    };
    const call = async (name: string, args: unknown[] = [], kwargs: Record<string, unknown> = {}) => {
      const fun = await catalogue.get(name);
      assert(fun !== undefined, `no runner ${name}`);
      return await invoke(fun, { name, args: args.map(toValue), kwargs: map(kwargs), context });
    };
    await run({ context, root, done, answers, here, outcomes, call });
  } finally {
    Deno.removeSync(root, { recursive: true });
  }
}

// corpus/runners.json: the results of Salt's own runners for the cache of corpus/job_cache.json.
for (const [name, ...typed] of await readCorpus<[string, Typed, Typed, Typed]>("runners.json")) {
  const [args, kwargs, expected] = typed.map(fromTyped);
  assert(Array.isArray(args) && isMap(kwargs));
  // Salt looks whether the return is true; the test below shows what we look at.
  if (name === "jobs.exit_success") continue;
  Deno.test(`${name} of ${repr(args)}${repr(kwargs)} returns the same as Salt, in the same order`, () =>
    withFixture(async ({ call }) => {
      // The corpus has lists for tuples, as what crosses the wire.
      const result = decode(encode(toValue(await call(name, args, Object.fromEntries(kwargs))), "disk"), "disk");
      assertEquals(repr(result), repr(expected));
    }));
}

Deno.test("jobs.list_jobs finds a job of several functions by any of them, where Salt fails", () =>
  withFixture(async ({ call }) => {
    for (const search_function of ["test.ech*", ["nothing", "test.echo"], "x, test.echo"]) {
      const jobs = await call("jobs.list_jobs", [], { search_function }) as ValueMap;
      assertEquals([...jobs.keys()], ["20240102030405000003"]);
    }
  }));

Deno.test("jobs.exit_success looks at the return code; at the return only where a cache has no code", () =>
  withFixture(async ({ call, context }) => {
    const jid = context.jobs.prepare("20250102030405000002");
    const minions = ["db1", "m1", "m2", "web1", "web2"];
    context.jobs.saveLoad(jid, map({ fun: "state.apply", arg: [], tgt: "*", jid }), minions);
    const returned = (id: string, load: Record<string, unknown>) => context.jobs.saveReturn(map({ jid, id, ...load }));
    returned("db1", { return: { failed: "states" }, retcode: 2, success: false });
    returned("web1", { return: "", retcode: 0, success: true });
    returned("web2", { return: { of: "two" }, retcode: { "test.ping": 0, "cmd.run": 3 }, success: true });
    returned("m1", { return: "text" });
    const exits = await call("jobs.exit_success", [jid]);
    assertEquals(repr(exits), "{'db1': False, 'm1': True, 'm2': False, 'web1': True, 'web2': False}");
  }));

Deno.test("jobs.list_jobs rejects an invalid time, and another returner", () =>
  withFixture(async ({ call }) => {
    await assertRejects(() => call("jobs.list_jobs", [], { start_time: "yesteryear" }), InvocationError, "yesteryear");
    await assertRejects(() => call("jobs.list_jobs", [], { ext_source: "mysql" }), CommandError, "mysql");
    await assertRejects(() => call("jobs.list_jobs", [], { search_metadata: "a" }), InvocationError);
  }));

Deno.test("jobs.list_jobs leaves find_job out of the filtered list unless requested", () =>
  withFixture(async ({ call, context }) => {
    const jid = context.jobs.prepare("20250102030405000001");
    context.jobs.saveLoad(jid, map({ fun: "saltutil.find_job", arg: ["x"], tgt: "*", jid }));
    const jids = async (kwargs: Record<string, unknown>) =>
      (await call("jobs.list_jobs_filter", [1], kwargs) as ValueMap[]).map((job) => job.get("JID"));
    assertEquals(await jids({}), ["20240102030405000003"]);
    assertEquals(await jids({ filter_find_job: false }), [jid]);
  }));

Deno.test("jobs.list_jobs leaves out jobs that monitor others, unless they are searched for or requested", () =>
  withFixture(async ({ call, context }) => {
    for (const [i, fun] of ["saltutil.find_job", "saltutil.running"].entries()) {
      const jid = context.jobs.prepare(`2025010203040500000${i}`);
      context.jobs.saveLoad(jid, map({ fun, arg: [], tgt: "*", jid }));
    }
    const count = async (kwargs: Record<string, unknown>) =>
      (await call("jobs.list_jobs", [], kwargs) as ValueMap).size;
    const all = await count({ filter_find_job: false });
    assertEquals([await count({}), await count({ search_function: "saltutil.*" })], [all - 2, 2]);
  }));

Deno.test("jobs.list_jobs shows the newest jobs on a terminal, and all jobs to programs", () =>
  withFixture(async ({ call, context, done }) => {
    for (let i = 0; i < 60; i++) {
      const jid = context.jobs.prepare(`202501020304050000${10 + i}`);
      context.jobs.saveLoad(jid, map({ fun: "test.ping", arg: [], tgt: "*", jid }));
    }
    const jids = async (
      kwargs: Record<string, unknown> = {},
    ) => [...(await call("jobs.list_jobs", [], kwargs) as ValueMap).keys()];
    const all = await jids();
    assert(all.length > 60);
    assertEquals(await jids({ limit: 2 }), all.slice(-2));
    Object.assign(context, { forTerminal: true });
    assertEquals([await jids(), await jids({ limit: 0 })], [all.slice(-50), all]);
    assertEquals(done, [`print The newest 50 of ${all.length} jobs; limit=0 shows all.`]);
  }));

Deno.test("jobs.lookup_jid of a running job names the minions that have not returned", () =>
  withFixture(async ({ call, context }) => {
    const logged: string[] = [];
    Object.assign(context, { log: (level: string, text: string) => void logged.push(`${level}: ${text}`) });
    const jid = context.jobs.prepare("20250102030405000001");
    context.jobs.saveLoad(jid, map({ fun: "test.sleep", arg: [9], tgt: "*", jid }), ["db1", "web1", "web2"]);
    context.jobs.saveReturn(map({ id: "db1", jid, return: true }));
    context.jobs.acks.save(jid, "web1", { state: "running", sinceMs: 1 });
    assertEquals(await call("jobs.lookup_jid", [jid]), map({ db1: true }));
    assertEquals(logged, ["warning: 2 of 3 minions have not returned: running: web1; no word: web2"]);
    context.jobs.saveReturn(map({ id: "web1", jid, return: true }));
    context.jobs.saveReturn(map({ id: "web2", jid, return: true }));
    await call("jobs.lookup_jid", [jid]);
    assertEquals(logged.length, 1);
  }));

Deno.test("jobs.list_job shows the end of a job if the master stores it", () =>
  withFixture(async ({ call, context }) => {
    Object.assign(context.opts, { job_cache_store_endtime: true });
    const job = await call("jobs.list_job", [JID]) as ValueMap;
    assertEquals(job.get("EndTime"), "2024, Jan 02 03:04:06.000000");
  }));

Deno.test("jobs.active groups running jobs of minions by job; a minion that has returned does not run it any more", () =>
  withFixture(async ({ call, answers, done }) => {
    const job = { jid: JID, fun: "test.sleep", arg: [9], tgt: "*", tgt_type: "glob", user: "ann", ret: "" };
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
  withFixture(async ({ call }) => {
    assertEquals(await call("jobs.lookup_jid", ["../../etc"]), new Map());
    assertEquals((await call("jobs.list_job", ["../../etc"]) as ValueMap).has("Error"), true);
  }));

Deno.test("display_progress reports each step", () =>
  withFixture(async ({ call, done }) => {
    await call("jobs.lookup_jid", [JID], { display_progress: true });
    assertEquals(done, [
      "{'message': 'Querying returner: local_cache'}",
      "{'message': 'db1'}",
      "{'message': 'web1'}",
    ]);
  }));

Deno.test("manage.status, up and down list the minions by whether they answered", () =>
  withFixture(async ({ call, answers, done }) => {
    answers.set("web2", { return: true, retcode: 0 }).set("db1", { return: true, retcode: 0 });
    assertEquals(await call("manage.status"), map({ up: ["db1", "web2"], down: ["web1"] }));
    assertEquals(await call("manage.up", [], { timeout: 2 }), ["db1", "web2"]);
    assertEquals(await call("manage.down"), ["web1"]);
    assertEquals(await call("manage.down", [], { removekeys: true, tgt: "web1,web2", tgt_type: "list" }), ["web1"]);
    assertEquals(done, [
      "test.ping on '*' (glob) in 5 s",
      "test.ping on '*' (glob) in 2 s",
      "test.ping on '*' (glob) in 5 s",
      "test.ping on 'web1,web2' (list) in 5 s",
      "salt/key delete web1",
      "forget web1",
      "rotate",
    ]);
  }));

Deno.test("manage.status of an empty target contacts no minion", () =>
  withFixture(async ({ call, done }) => {
    assertEquals(await call("manage.status", [], { tgt: "nobody*" }), map({ up: [], down: [] }));
    assertEquals(done, []);
  }));

Deno.test("manage.versions sorts minions by the age of their version", () =>
  withFixture(async ({ call, answers }) => {
    for (const [id, version] of [["web1", VERSION], ["web2", "99.1"], ["db1", "0.0.1"]]) {
      answers.set(id, { return: version, retcode: 0 });
    }
    answers.set("gone", { return: "no such function", retcode: 1 });
    const expected = {
      Master: VERSION,
      "Minion requires update": { db1: "0.0.1" },
      "Minion offline": { gone: false },
      "Up to date": { web1: VERSION },
      "Minion newer than master": { web2: "99.1" },
    };
    assertEquals(await call("manage.versions"), toValue(expected));
  }));

Deno.test("doc.runner documents every runner, doc.execution the functions of minions", () =>
  withFixture(async ({ call, answers, context }) => {
    const docs = await call("doc.runner") as ValueMap;
    assertEquals([...docs.keys()], (await context.catalogue.all()).map(({ name }) => name));
    assert([...docs.values()].every((doc) => /CLI Example:\n\n +salt-run [a-z_]+\.[a-z_]+/.test(String(doc))));
    answers.set("web1", { return: map({ "test.ping": "a" }), retcode: 0 });
    answers.set("web2", { return: map({ "test.echo": "b" }), retcode: 0 });
    assertEquals(await call("doc.execution"), map({ "test.ping": "a", "test.echo": "b" }));
  }));

Deno.test("the test runner prints, waits and fires progress events", () =>
  withFixture(async ({ call, done }) => {
    assertEquals(await call("test.stdout_print"), "bar");
    assertEquals(await call("test.sleep", [0.001]), true);
    assertEquals(done, ["print foo", "print 0.001"]);
    assertEquals((await call("test.get_opts") as ValueMap).get("timeout"), 5);
  }));

Deno.test("jobs.master lists running runners, and removes ended ones", () =>
  withFixture(async ({ call, root }) => {
    const forget = noteRunner(root, map({ fun: "runner.test.sleep", jid: JID, user: "root", fun_args: [9] }));
    const dead = noteRunner(root, map({ jid: "20240102030405000002" }));
    const listed = await call("jobs.master") as ValueMap[];
    assertEquals(listed.map((note) => note.get("jid")), [JID, "20240102030405000002"]);
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

Deno.test("manage.present and similar functions list connected minions, as Salt does, and contact no minion", () =>
  withFixture(async ({ call, here, done }) => {
    here.set("db1", "10.0.0.7").set("web2", undefined);
    for (const name of ["present", "joined", "allowed", "alived", "reaped", "list_state"]) {
      assertEquals(await call(`manage.${name}`), ["db1", "web2"]);
      assertEquals(await call(`manage.${name}`, [], { subset: ["web2", "web1"] }), ["web2"]);
      assertEquals(await call(`manage.${name}`, [], { subset: "web2,db1" }), ["db1", "web2"]);
      assertEquals(await call(`manage.${name}`, [], { show_ip: true }), map({ db1: "10.0.0.7", web2: null }));
    }
    for (const name of ["not_present", "not_joined", "not_allowed", "not_alived", "not_reaped", "list_not_state"]) {
      assertEquals(await call(`manage.${name}`), ["web1"]);
      assertEquals(await call(`manage.${name}`, [], { subset: ["db1", "web1"], show_ip: true }), ["web1"]);
      assertEquals(await call(`manage.${name}`, [], { subset: ["db1"] }), []);
      assertEquals(await call(`manage.${name}`, [], { subset: [] }), []);
    }
    assertEquals(done, []);
  }));

Deno.test("jobs.list_job returns the same as Salt's if all have returned, otherwise also the outcomes", () =>
  withFixture(async ({ call, outcomes }) => {
    const received = { sinceMs: undefined, acknowledges: true };
    outcomes.set("web1", { outcome: "returned", ...received }).set("db1", { outcome: "failed", ...received });
    assertEquals((await call("jobs.list_job", [JID]) as ValueMap).has("Outcomes"), false);
    outcomes.set("web2", { outcome: "running", ...received });
    const job = await call("jobs.list_job", [JID]) as ValueMap;
    assertEquals(job.get("Outcomes"), map({ web1: "returned", db1: "failed", web2: "running" }));
  }));

Deno.test("a batch whose process has ended is shown as halted, is not active, and can be stopped for good", () =>
  withFixture(async ({ call, context, done }) => {
    const state = batchState({
      jid: "20250102030405000001",
      minions: ["db1", "web1", "web2"],
      pending: ["web2"],
      active: new Map([["web1", 1_000]]),
      done: new Map([["db1", 0]]),
      progressMs: 2_500,
      createdMs: 1_500,
    });
    const { batches } = context.jobs;
    batches.save(state);
    assertEquals(batches.read(state.jid), state);
    const shown = async () => {
      const summary = await call("batch.status", [state.jid]) as ValueMap;
      return ["completed", "active", "pending", "halted", "halted_reason"].map((name) => summary.get(name));
    };
    assertEquals(await shown(), [1, 1, 1, false, null]);
    assertEquals((await call("batch.list_active") as Value[]).length, 1);
    assertEquals(await call("batch.stop", [state.jid], { kill: true }), true);
    assertEquals(done.splice(0), [
      `fire salt/batch/${state.jid}/stop`,
      "saltutil.kill_job on ['web1'] (list) in undefined s",
    ]);

    // A pid without a process.
    batches.save({ ...state, pid: 2 ** 22 + 1 });
    assertEquals(await shown(), [1, 1, 1, true, "its process ended"]);
    assertEquals(await call("batch.list_active"), []);
    assertEquals(await call("batch.stop", [state.jid]), true);
    assertEquals([await shown(), done], [[1, 1, 1, true, "stop"], []]);
    assertEquals([await call("batch.stop", [state.jid]), batches.active()], [false, []]);
    assertEquals([await call("batch.status", ["../../etc"]), await call("batch.stop", ["x"])], [null, false]);
  }));

/** The rows of a table, each with these columns. */
function rows(table: Value, ...columns: string[]): unknown[][] {
  assert(isMap(table) && table.get("outputter") === "overview");
  const data = table.get("data");
  assert(Array.isArray(data));
  return data.map((row) => columns.map((name) => isMap(row) ? row.get(name) : undefined));
}

Deno.test("overview.minions has a row for each key, with the master's data of the minion", () =>
  withFixture(async ({ call, context, root, here }) => {
    Deno.mkdirSync(`${root}/pki/minions_pre`, { recursive: true });
    Deno.writeTextFileSync(`${root}/pki/minions_pre/new1`, "PEM");
    writePresence(root, { present: new Map([["web1", Date.UTC(2026, 10, 22, 10, 0, 1)]]), gone: new Map() });
    here.set("web1", "192.0.2.1").set("web2", undefined);
    context.data.setGrains("web1", map({ saltversion: "3008.3", osfinger: "Debian-13" }));
    const jid = context.jobs.prepare("20250102030405000001");
    context.jobs.saveLoad(jid, map({ fun: ["test.ping", "test.echo"], arg: [], tgt: "web1", jid }), ["web1"]);
    const columns = ["id", "key", "connected", "address", "version", "os", "last_job"];
    assertEquals(rows(await call("overview.minions", ["[nw]*"]), ...columns), [
      ["new1", "pending", "", "", "", "", ""],
      [
        "web1",
        "accepted",
        "2026-11-22 10:00:01",
        "192.0.2.1",
        "3008.3",
        "Debian-13",
        "test.ping,test.echo 20250102030405000001",
      ],
      ["web2", "accepted", "yes", "", "", "", rows(await call("overview.minions", ["web2"]), "last_job")[0][0]],
    ]);
    assertEquals(rows(await call("overview.keys"), "id", "key"), [
      ["db1", "accepted"],
      ["new1", "pending"],
      ["web1", "accepted"],
      ["web2", "accepted"],
    ]);
  }));

Deno.test("overview.jobs has a row for each of the newest jobs, with its outcome", () =>
  withFixture(async ({ call, context }) => {
    const jid = context.jobs.prepare("20250102030405000001");
    const tgt = Array.from({ length: 20 }, (_, i) => `m${i}`);
    context.jobs.saveLoad(jid, map({ fun: "test.ping", arg: [], tgt, tgt_type: "list", jid, user: "ann" }), [
      "m1",
      "m2",
    ]);
    context.jobs.saveReturn(map({ id: "m1", jid, return: true, retcode: 0 }));
    context.jobs.saveReturn(map({ id: "m2", jid, return: "", retcode: 3 }));
    const watching = context.jobs.prepare("20250102030405000002");
    context.jobs.saveLoad(watching, map({ fun: "saltutil.find_job", arg: [], tgt: "*", jid: watching }));
    const columns = ["jid", "started", "function", "user", "minions", "returned", "failed"];
    const [row] = rows(await call("overview.jobs", [1]), ...columns);
    assertEquals(row, [jid, "2025-01-02 03:04:05", "test.ping", "ann", 20, 2, 1]);
    assertEquals(rows(await call("overview.jobs", [1]), "target"), [[`${tgt.join(",").slice(0, 39)}…`]]);
    assertEquals(rows(await call("overview.jobs", [], { match: "no.*" }), "jid"), []);
    const listed = await call("jobs.list_jobs", [], { search_function: "test.ping" }) as ValueMap;
    const job = listed.get(jid) as ValueMap;
    assertEquals([job.get("Returned"), job.get("Failed")], [2, 1]);
    const all = await call("jobs.list_jobs") as ValueMap;
    assertEquals((all.get(jid) as ValueMap).has("Failed"), false);
  }));
