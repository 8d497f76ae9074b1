import * as own from "#modules/execution/saltutil/minion.ts";
import * as syncing from "#modules/execution/saltutil/syncing.ts";
import {
  CommandError,
  InvocationError,
  NoMasterError,
  RequestTimeoutError,
  RequestTooLargeError,
} from "#lib/errors.ts";
import { KeptReturns } from "#lib/jobs/kept_returns.ts";
import { invoke } from "#lib/plugins/call.ts";
import type { JobContext, Outside, Refresh, RunningJob } from "#lib/plugins/job_context.ts";
import type { ModuleFunction } from "#lib/plugins/module.ts";
import { encode } from "#lib/values/msgpack.ts";
import { isMap, map, toValue, type Value, type ValueMap } from "#lib/values/value.ts";
import { assert, assertEquals, assertRejects, assertStringIncludes } from "#tests/support/assert.ts";
import {
  answeringContext,
  resultOrError,
  type TestContext,
  testContext,
  testOpts,
} from "#tests/support/calls/job_context.ts";
import { ScriptedFileServer } from "#tests/support/files/scripted_file_server.ts";
import { memoryLog } from "#tests/support/fleet/scripted_master.ts";
import { withTemporaryDirectory } from "#tests/support/temporary_directory.ts";
import { filesBelow } from "#tests/support/tree.ts";

const FUNCTIONS: Readonly<Record<string, ModuleFunction<JobContext>>> = { ...own, ...syncing };

function call(name: string, context: JobContext, args: unknown[] = [], kwargs: Record<string, unknown> = {}) {
  const values = args.map((arg) => toValue(arg));
  return invoke(FUNCTIONS[name], { name: `saltutil.${name}`, args: values, kwargs: map(kwargs), context });
}

function job(jid: string, fun: string, pid: number): RunningJob {
  return { jid, fun, arg: [1], tgt: "*", tgt_type: "glob", ret: "", user: "root", pid };
}

/** The map of a job, with `pid` first as in Salt's files. */
function shown(jid: string, fun: string, pid: number): ValueMap {
  return map({ pid, fun, arg: [1], tgt: "*", jid, ret: "", tgt_type: "glob", user: "root" });
}

const SELF = "20260101000000000000";

/** A minion that runs the calling job and two more; signals are recorded, and reach all jobs except "3". */
function busy(): { context: JobContext; signals: [string, number][] } {
  const signals: [string, number][] = [];
  const context = testContext({
    job: { jid: SELF, fun: "saltutil.running" },
    jobs: {
      running: () =>
        Promise.resolve([job("1", "test.sleep", 41), job(SELF, "saltutil.x", 42), job("3", "state.sls", 43)]),
      signal: (jid, signal) => {
        signals.push([jid, signal]);
        return Promise.resolve(jid !== "3");
      },
    },
  });
  return { context, signals };
}

const GONE = "Job 3 was not running and job data has been cleaned up";

const CASES: [string, unknown[], unknown, [string, number][]][] = [
  ["running", [], [shown("1", "test.sleep", 41), shown("3", "state.sls", 43)], []],
  ["is_running", ["state.*"], [shown("3", "state.sls", 43)], []],
  ["is_running", ["state"], [], []],
  ["find_job", ["1"], shown("1", "test.sleep", 41), []],
  ["find_job", [1], shown("1", "test.sleep", 41), []],
  ["find_job", ["2"], {}, []],
  ["find_job", [SELF], {}, []],
  ["kill_job", ["1"], "Signal 9 sent to job 1 at pid 41", [["1", 9]]],
  ["term_job", ["1"], "Signal 15 sent to job 1 at pid 41", [["1", 15]]],
  ["signal_job", ["1", 2], "Signal 2 sent to job 1 at pid 41", [["1", 2]]],
  ["kill_job", ["2"], "", []],
  ["kill_job", [SELF], "", []],
  ["kill_job", ["3"], GONE, [["3", 9]]],
  ["kill_all_jobs", [], ["Signal 9 sent to job 1 at pid 41", GONE], [["1", 9], ["3", 9]]],
  ["term_all_jobs", [], ["Signal 15 sent to job 1 at pid 41", GONE], [["1", 15], ["3", 15]]],
];

for (const [name, args, expected, sent] of CASES) {
  Deno.test(`saltutil.${name} ${JSON.stringify(args)} returns ${Deno.inspect(expected, { compact: true })}`, async () => {
    const { context, signals } = busy();
    assertEquals<unknown>(await call(name, context, args), toValue(expected));
    assertEquals(signals, sent);
  });
}

Deno.test("saltutil.signal_job rejects a signal that is not a number", async () => {
  await assertRejects(() => call("signal_job", busy().context, ["1", "KILL"]), InvocationError, "sig");
});

/** A minion that records the requested refreshes, and answers `answer`. */
function refreshing(
  answer: boolean,
  overrides: Partial<JobContext> = {},
): { context: TestContext; refreshes: Refresh[] } {
  const refreshes: Refresh[] = [];
  const outside: Outside = {
    ...testContext().outside,
    refresh: (what) => {
      refreshes.push(what);
      return Promise.resolve(answer);
    },
  };
  return { context: testContext({ outside, ...overrides }), refreshes };
}

const REFRESHES: [string, Record<string, unknown>, boolean, boolean, Refresh[]][] = [
  ["refresh_modules", {}, true, true, ["modules"]],
  ["refresh_modules", { async: false }, false, false, ["modules"]],
  ["refresh_pillar", {}, true, true, ["pillar"]],
  ["refresh_pillar", { wait: true, timeout: 5 }, false, false, ["pillar"]],
  ["pillar_refresh", {}, true, true, ["pillar"]],
  ["refresh_grains", {}, false, true, ["grains", "pillar"]],
  ["refresh_grains", { refresh_pillar: false }, true, true, ["grains", "modules"]],
];

for (const [name, kwargs, answer, expected, refreshed] of REFRESHES) {
  Deno.test(`saltutil.${name} ${JSON.stringify(kwargs)} refreshes ${refreshed} and returns ${expected}`, async () => {
    const { context, refreshes } = refreshing(answer);
    assertEquals(await call(name, context, [], kwargs), expected);
    assertEquals(refreshes, refreshed);
  });
}

Deno.test("saltutil.refresh_grains rejects an unknown keyword", async () => {
  await assertRejects(() => call("refresh_grains", refreshing(true).context, [], { x: 1 }), InvocationError, "x=1");
});

/** A minion in `dir` whose master serves `files`, by environment. */
function served(dir: string, files: Record<string, Record<string, string>>, overrides: Record<string, unknown> = {}) {
  const server = new ScriptedFileServer(files);
  const opts = { ...testOpts(), cachedir: `${dir}/cache`, extension_modules: `${dir}/ext`, ...overrides };
  const { context, refreshes } = refreshing(true, { opts });
  const outside = { ...context.outside, request: server.request };
  // The top file, which `state.show_top` would show, has no environment, so base is used.
  const call = () => Promise.resolve(new Map());
  return { server, refreshes, context: { ...context, outside, call } };
}

Deno.test("sync_modules copies new and changed files, removes deleted ones and keeps files that were added by hand", async () => {
  await withTemporaryDirectory(async (dir) => {
    const files = {
      base: { "_modules/b.ts": "1", "_modules/sub/a.js": "1", "_modules/c.py": "1", "_modules/README.md": "" },
    };
    const { context, refreshes, server } = served(dir, files);
    const sync = (kwargs: Record<string, unknown> = {}) => call("sync_modules", context, [], kwargs);
    await Deno.mkdir(`${dir}/ext/modules`, { recursive: true });
    await Deno.writeTextFile(`${dir}/ext/modules/own.ts`, "by hand");
    assertEquals(await sync(), ["modules.b", "modules.c", "modules.sub.a"]);
    assertEquals([...filesBelow(`${dir}/ext/modules`)].map((path) => path.slice(dir.length + 13)).sort(), [
      "b.ts",
      "c.py",
      "own.ts",
      "sub/a.js",
    ]);
    assertEquals(context.logged.filter((line) => line.includes("not loaded here")), []);
    assertEquals(await sync(), []);
    server.files.base["_modules/b.ts"] = "2";
    assertEquals(await sync({ extmod_blacklist: "b" }), []);
    assertEquals(await sync({ extmod_whitelist: { grains: ["b"] }, refresh: false }), ["modules.b"]);
    assertEquals(await Deno.readTextFile(`${dir}/ext/modules/b.ts`), "2");
    server.files.base = { "_modules/b.ts": "2" };
    assertEquals(await sync(), []);
    assertEquals([...filesBelow(`${dir}/ext`)].map((path) => path.slice(dir.length + 13)).sort(), ["b.ts", "own.ts"]);
    assertEquals([...Deno.readDirSync(`${dir}/ext/modules`)].length, 2);
    assertEquals(refreshes, Array<Refresh>(4).fill("modules"));
    assertEquals(await call("list_extmods", context), map({ modules: ["b", "own"] }));
  });
});

Deno.test("functions that sync say why the top file, which names their environments, cannot be read", async () => {
  await withTemporaryDirectory(async (dir) => {
    const { context } = served(dir, { base: { "_modules/b.ts": "1" } });
    const broken = { ...context, call: () => Promise.resolve(["Rendering SLS 'top' failed: no colon", "in line 2"]) };
    for (const name of ["sync_modules", "sync_all"]) {
      await assertRejects(
        () => call(name, broken),
        CommandError,
        "Unable to render top file(s): Rendering SLS 'top' failed: no colon\nin line 2",
      );
    }
    assertEquals(await call("sync_modules", broken, [], { saltenv: "base" }), ["modules.b"]);
  });
});

Deno.test("a file in Python of a family that is not loaded is copied and named", async () => {
  await withTemporaryDirectory(async (dir) => {
    const { context } = served(dir, { base: { "_thorium/r.py": "1" } });
    assertEquals(await call("sync_thorium", context), ["thorium.r"]);
    assertStringIncludes(context.logged.join("\n"), `and not loaded here, because they are for Python: thorium.r`);
  });
});

Deno.test("only modules of the whitelist are copied, and with clean_dynamic_modules off none is removed", async () => {
  await withTemporaryDirectory(async (dir) => {
    const { context, server } = served(dir, { base: { "_modules/a.ts": "", "_modules/b.ts": "" } }, {
      clean_dynamic_modules: false,
      extmod_whitelist: map({ modules: ["a"] }),
    });
    assertEquals(await call("sync_modules", context), ["modules.a"]);
    server.files.base = {};
    await call("sync_modules", context);
    assertEquals([...filesBelow(`${dir}/ext`)], [`${dir}/ext/modules/a.ts`]);
  });
});

Deno.test("sync_modules accepts several environments, of which the last one wins, and reports errors of the file server", async () => {
  await withTemporaryDirectory(async (dir) => {
    const files = { base: { "_modules/a.ts": "base" }, dev: { "_modules/a.ts": "dev", "_modules/d.ts": "" } };
    const { context, server } = served(dir, files);
    assertEquals(await call("sync_modules", context, ["base,dev"]), ["modules.a", "modules.d"]);
    assertEquals(await Deno.readTextFile(`${dir}/ext/modules/a.ts`), "dev");
    server.before = () => {
      throw new RequestTimeoutError("tcp://master", 5);
    };
    assertEquals(await call("sync_modules", context), []);
    assertStringIncludes(context.logged.join("\n"), "error: Failed to sync modules module: No reply from tcp://master");
    assertEquals([...filesBelow(`${dir}/ext/modules`)].length, 2);
  });
});

Deno.test("sync_grains and sync_all see their families, and sync_all names Salt's", async () => {
  await withTemporaryDirectory(async (dir) => {
    const files = { base: { "_grains/rack.ts": "export const rack = () => 1;", "_proxy/p.py": "" } };
    const { context, refreshes } = served(dir, files);
    const all = await call("sync_all", context, [], { refresh: false });
    assert(all instanceof Map);
    const got = ["grains", "modules", "proxymodules"].map((family) => all.get(family));
    assertEquals([all.size, ...got], [18, ["grains.rack"], [], ["proxy.p"]]);
    assertEquals(refreshes, []);
    assertEquals(await call("sync_grains", context), []);
    assertEquals(refreshes, ["modules", "grains"]);
    await call("sync_all", context);
    assertEquals(refreshes.slice(2), ["modules", "grains"]);
    await assertRejects(async () => await call("sync_tops", context), CommandError, "masterless minions");
  });
});

Deno.test("the minion's own job cache is read and cleared", async () => {
  await withTemporaryDirectory(async (dir) => {
    const plain = testContext({ opts: { ...testOpts(), cachedir: dir } });
    const caching = testContext({ opts: { ...testOpts(), cachedir: dir, cache_jobs: true } });
    const find = (jid: string, context: JobContext = caching) => call("find_cached_job", context, [jid]);
    assertEquals(
      await find("1", plain),
      "Local jobs cache directory not found; you may need to enable cache_jobs on this minion",
    );
    assertEquals(await find("1"), `Local jobs cache directory ${dir}/minion_jobs/1 not found`);
    assertEquals(await call("clear_job_cache", caching), true);

    const store = async (jid: string, hours: number, value: Value) => {
      await Deno.mkdir(`${dir}/minion_jobs/${jid}`, { recursive: true });
      await Deno.writeFile(`${dir}/minion_jobs/${jid}/return.p`, encode(value, "disk"));
      const then = Date.now() / 1000 - hours * 3600;
      await Deno.utime(`${dir}/minion_jobs/${jid}`, then, then);
    };
    await store("1", 30, map({ return: true }));
    await store("2", 2, "no map");
    assertEquals(await find("1"), map({ return: true }));
    assertEquals(await find("2"), null);
    assertEquals(
      await find("../minion_jobs/1"),
      `Local jobs cache directory ${dir}/minion_jobs/../minion_jobs/1 not found`,
    );
    assertEquals(await call("clear_job_cache", caching), true);
    assertEquals(Array.from(Deno.readDirSync(`${dir}/minion_jobs`), ({ name }) => name), ["2"]);
    assertEquals(await call("clear_job_cache", caching, [1]), true);
    assertEquals(Array.from(Deno.readDirSync(`${dir}/minion_jobs`)), []);
  });
});

Deno.test("revoke_auth asks the master to remove this minion's key, and returns whether it did", async () => {
  const loads: Value[] = [];
  const answering = (answer: () => Promise<Value>) =>
    testContext({ outside: { ...testContext().outside, request: (load) => (loads.push(load), answer()) } });
  assertEquals(await call("revoke_auth", answering(() => Promise.resolve(true))), true);
  const silent = answering(() => Promise.reject(new RequestTimeoutError("tcp://master:4506", 100)));
  assertEquals(await call("revoke_auth", silent, [true]), false);
  // Answers: denied by our master and by Salt's, and a failure.
  for (const no of [false, map({ cmd: "revoke_auth" }), ""]) {
    assertEquals(await call("revoke_auth", answering(() => Promise.resolve(no))), false);
  }
  loads.splice(2);
  assertEquals(loads, [
    map({ cmd: "revoke_auth", id: "web1", preserve_minion_cache: false }),
    map({ cmd: "revoke_auth", id: "web1", preserve_minion_cache: true }),
  ]);
  await assertRejects(() => call("revoke_auth", testContext()), NoMasterError);
});

Deno.test("regen_keys removes the keys, but no directory", async () => {
  await withTemporaryDirectory(async (dir) => {
    for (const name of ["minion.pem", "minion.pub", "minion_master.pub"]) {
      await Deno.writeTextFile(`${dir}/${name}`, "");
    }
    await Deno.mkdir(`${dir}/keep`);
    assertEquals(await call("regen_keys", testContext({ opts: { ...testOpts(), pki_dir: dir } })), null);
    assertEquals(Array.from(Deno.readDirSync(dir), ({ name }) => name), ["keep"]);
  });
});

Deno.test("saltutil.clear_cache keeps the files of jobs and returns, and follows no link", async () => {
  await withTemporaryDirectory(async (root) => {
    const cachedir = `${root}/cache`;
    for (const name of ["files/base", "returns", "proc"]) Deno.mkdirSync(`${cachedir}/${name}`, { recursive: true });
    for (const name of ["files/base/f", "returns/r", "proc/1", "x"]) Deno.writeTextFileSync(`${cachedir}/${name}`, "");
    Deno.mkdirSync(`${root}/outside`);
    Deno.writeTextFileSync(`${root}/outside/kept`, "");
    Deno.symlinkSync(`${root}/outside`, `${cachedir}/link`);
    const context = testContext({ opts: testOpts({ root_dir: root, cachedir }) });
    assertEquals(await context.call("saltutil.clear_cache"), true);
    assertEquals(Array.from(Deno.readDirSync(cachedir), ({ name }) => name).sort(), ["files", "proc", "returns"]);
    assertEquals([...Deno.readDirSync(`${cachedir}/files/base`)].length, 0);
    for (const path of [`${cachedir}/returns/r`, `${cachedir}/proc/1`, `${root}/outside/kept`]) Deno.statSync(path);
    assertEquals(await context.call("saltutil.refresh_beacons"), true);
    assertEquals(context.fired.map(({ tag }) => tag), ["beacons_refresh"]);
    assertEquals(await context.call("saltutil.mmodule", ["base", "test.echo", "x"]), "x");
  });
});

const minion = (answers: Readonly<Record<string, Value>>, options: Readonly<Record<string, Value>> = {}) =>
  answeringContext(answers, { opts: testOpts(options) });

Deno.test("saltutil.sync_beacons makes the minion reload its beacons", async () => {
  await withTemporaryDirectory(async (root) => {
    Deno.mkdirSync(`${root}/files/_beacons`, { recursive: true });
    Deno.writeTextFileSync(`${root}/files/_beacons/mine.py`, "");
    const file_roots = new Map([["base", [`${root}/files`]]]);
    const opts = testOpts({ root_dir: root, file_client: "local", file_roots, extension_modules: `${root}/ext` });
    const context = testContext({ opts });
    assertEquals(await resultOrError(context, "saltutil.sync_beacons", [], { saltenv: "base" }), ["beacons.mine"]);
    assertEquals(context.fired, [{ tag: "beacons_refresh", data: new Map() }]);
  });
});

Deno.test("saltutil.kept_returns lists returns that were too large for the master", async () => {
  await withTemporaryDirectory(async (cachedir) => {
    const jid = "20260101000000000001";
    const ret = map({
      cmd: "_return",
      id: "web1",
      jid,
      fun: "cmd.run",
      fun_args: [],
      return: "x".repeat(97) + "äö",
      retcode: 0,
    });
    const keeper = new KeptReturns(cachedir, memoryLog().log);
    keeper.keep(ret, new RequestTooLargeError(200, 100));
    keeper.close();
    const result = await testContext({ opts: { ...testOpts(), cachedir } }).call("saltutil.kept_returns");
    assert(Array.isArray(result) && isMap(result[0] ?? null));
    const { since, ...known } = Object.fromEntries(result[0] as ValueMap);
    assertEquals(known, { jid, fun: "cmd.run", bytes: 200, limit: 100, kept: 101 });
    assertEquals(String(since).slice(0, 4), String(new Date().getUTCFullYear()));
    const part = (...args: Value[]) => resultOrError(minion({}, { cachedir }), "saltutil.kept_return", args);
    assertEquals([await part(jid), await part(jid, 95), await part(jid, 0, 2)], ["x".repeat(97) + "äö", "xxäö", "xx"]);
    assertEquals([await part(jid, 101), await part(jid, 500)], ["", ""]);
    // A character is a part of one part, whichever bytes are asked for.
    const cuts = [await part(jid, 95, 3), await part(jid, 98, 2), await part(jid, 100, 9)];
    assertEquals(cuts, ["xxä", "ö", ""]);
    assertEquals(await part("20260101000000000002"), "Nothing is kept of a return of job 20260101000000000002");
    for (const wrong of [[-1, 1], [0, 0]]) {
      assertEquals(await part(jid, ...wrong), "offset is to be 0 or more, size 1 or more");
    }
  });
});

Deno.test("saltutil reports that it could not clear a cache, and finds no modules without a directory", async () => {
  await withTemporaryDirectory(async (root) => {
    const none = minion({}, { cachedir: `${root}/none`, extension_modules: `${root}/none` });
    assertEquals(await resultOrError(none, "saltutil.clear_cache"), false);
    assert(none.logged[0].startsWith("error: Attempt to clear cache with saltutil.clear_cache FAILED with: "));
    assertEquals(await resultOrError(none, "saltutil.list_extmods"), new Map());
    Deno.writeTextFileSync(`${root}/minion_jobs`, "");
    const odd = minion({}, { cachedir: root, extension_modules: `${root}/minion_jobs` });
    assertEquals(await resultOrError(odd, "saltutil.clear_job_cache"), false);
    assert(odd.logged[0].startsWith("error: Attempt to clear cache with saltutil.clear_job_cache FAILED with: "));
    await assertRejects(() => odd.call("saltutil.list_extmods"), Deno.errors.NotADirectory);
  });
});
