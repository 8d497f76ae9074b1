/**
 * Runners with invalid arguments, with rare options, and with missing or locked files.
 * @module
 */

import { masterBus, minionBus } from "#lib/bus/paths.ts";
import { BusPump } from "#lib/bus/pump.ts";
import { EventSender } from "#lib/bus/sender.ts";
import { SILENT_LOGGER } from "#lib/runtime/log.ts";
import { writeBusState } from "#lib/bus/state_file.ts";
import { optsValues } from "#lib/config/opts_map.ts";
import { CommandError, InvocationError } from "#lib/errors.ts";
import { configuredPillarRepositories } from "#lib/files/git/pillar_updates.ts";
import { isMap, map, repr, type ValueMap } from "#lib/values/value.ts";
import { assert, assertEquals, assertRejects } from "#tests/support/assert.ts";
import { eventually } from "#tests/support/eventually.ts";
import { git } from "#tests/support/files/file_server.ts";
import { type RunnerFixture, withRunnerFixture } from "#tests/support/fleet/runner_services.ts";
import { batchState } from "#tests/support/fleet/batch_state.ts";
import { withTemporaryDirectory } from "#tests/support/temporary_directory.ts";

const JID = "20250102030405000001";

/** Adds a job of `web1` to the job cache. */
function addJob({ context }: RunnerFixture, jid: string, fun: string): void {
  context.jobs.prepare(jid);
  context.jobs.saveLoad(jid, map({ fun, arg: [], tgt: "web1", tgt_type: "glob", jid, user: "ann" }), ["web1"]);
}

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
    context.jobs.saveEndTime(JID, "2025, Jan 02 03:04:06.000000");
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

Deno.test("overview.minions does not show a job that monitors another one as a minion's last job", () =>
  withRunnerFixture(async (fixture) => {
    fixture.context.keys.put("web1", "accepted", "PEM");
    addJob(fixture, JID, "test.ping");
    addJob(fixture, "20250102030405000002", "saltutil.find_job");
    const table = await fixture.call("overview.minions") as ValueMap;
    assertEquals(repr(table).match(/'last_job': '([^']*)'/)?.[1], `test.ping ${JID}`);
  }));

Deno.test("pillar.show_top uses the grains of the first known minion, and shows errors of top files", () =>
  withRunnerFixture(async ({ call, context, done }) => {
    assertEquals(repr(await call("pillar.show_top")), "{'base': {'*': ['*']}}");
    context.data.setGrains("web1", map({ os: "Debian" }));
    assertEquals(repr(await call("pillar.show_top")), "{'base': {'*': ['web1']}}");
    context.pillar.top = () => Promise.resolve({ top: new Map(), errors: ["wrong"] });
    assertEquals(await call("pillar.show_top"), ["wrong"]);
    assertEquals(done, ["{'data': ['wrong'], 'outputter': 'nested'}"]);
  }));

Deno.test("pillar.show_top on a master without a minion data cache finds no minion", () =>
  withRunnerFixture(async ({ call, context }) => {
    context.data.setGrains("web1", map({ os: "Debian" }));
    assertEquals(repr(await call("pillar.show_top")), "{'base': {'*': ['*']}}");
  }, "minion_data_cache: False\n"));

Deno.test("salt.returns runs a job on a subset of minions, in batches, until one fails", () =>
  withRunnerFixture(async ({ call, context, answers, done, gone }) => {
    const ids = ["a1", "a2", "a3", "a4", "a5"];
    const targets: string[][] = [];
    const failing = new Set<string>();
    context.local.job = (tgt, fun) => {
      const meant = Array.isArray(tgt) ? tgt.map(String) : ids;
      if (fun !== "test.ping") targets.push(meant);
      const returns = new Map(meant.map((id) => [id, { return: true, retcode: failing.has(id) ? 1 : 0 }]));
      return Promise.resolve({ jid: JID, returns, silent: [...gone] });
    };
    const returned = async (kwargs: Record<string, unknown>) =>
      [...(await call("salt.returns", ["*", "test.arg"], kwargs) as ValueMap).keys()].map(String).sort();
    assertEquals(await returned({}), ids);
    for (const [subset, size] of [[2, 2], [4, 4], [true, 1]] as const) {
      const some = await returned({ subset });
      assertEquals([some.length, some.every((id) => ids.includes(id))], [size, true]);
    }
    await assertRejects(() => returned({ subset: "2" }), CommandError, "subset: '2' is no number");
    targets.length = 0;
    assertEquals(await returned({ batch: "40%" }), ids);
    assertEquals(targets, ids.map((id) => [id]));
    failing.add("a2");
    assertEquals(await returned({ batch: 1, failhard: true }), ["a1", "a2"]);
    assertEquals(await returned({ batch: 1 }), ids);
    await assertRejects(() => returned({ batch: "some" }), CommandError, "Data must be in the form of %10, 10% or 3");
    gone.add("b1");
    assertEquals(
      repr((await call("salt.returns", ["*", "test.arg"], { expect_minions: true }) as ValueMap).get("b1") ?? null),
      "{'failed': True}",
    );
    await assertRejects(() => call("salt.execute", ["*", "test.ping"], { jid: JID }), CommandError, "makes the job id");
    assertEquals([answers.size, done], [0, []]);
  }));

Deno.test("the order of minions of a subset is random", () =>
  withRunnerFixture(async ({ call, context }) => {
    const ids = Array.from({ length: 50 }, (_, i) => `m${i}`);
    context.local.job = (tgt) => {
      const meant = Array.isArray(tgt) ? tgt.map(String) : ids;
      return Promise.resolve({ returns: new Map(meant.map((id) => [id, { return: true, retcode: 0 }])), silent: [] });
    };
    const some = async () => [...(await call("salt.returns", ["*", "test.ping"], { subset: 10 }) as ValueMap).keys()];
    // The probability of the same ten of fifty twice is one in ten thousand million.
    assert(repr(await some()) !== repr(await some()));
  }));

Deno.test("state.event reports an invalid bus, and a missing bus of a minion", () =>
  withRunnerFixture(async ({ call, root }) => {
    await assertRejects(() => call("state.event", [], { node: "proxy" }), CommandError, "master or minion, not proxy");
    const of = (message: string) =>
      assertRejects(() => call("state.event", [], { node: "minion", sock_dir: `${root}/sock` }), CommandError, message);
    await of("No minion has its event bus in");
    Deno.mkdirSync(`${root}/sock`, { recursive: true });
    for (const name of ["1111111111", "2222222222"]) {
      Deno.writeTextFileSync(`${root}/sock/minion_bus_${name}_pub.ipc`, "");
    }
    await of("Several minions have their event bus in");
  }));

Deno.test("state.event shows the events of the only minion whose bus is in a directory", () =>
  withRunnerFixture(async ({ call, root, done }) => {
    const sock_dir = `${root}/sock`;
    Deno.mkdirSync(sock_dir);
    const paths = minionBus({ sock_dir, id: "web1", hash_type: "sha256" });
    const bus = await BusPump.open(paths, { log: SILENT_LOGGER });
    try {
      using sender = new EventSender(paths.pull);
      const shown = call("state.event", ["my/*"], { node: "minion", sock_dir, count: 1 });
      await eventually(() => bus.describe().includes(" 1 subscribers"), { what: "a subscriber" });
      assert(await sender.fire("my/tag", map({ n: 1 })));
      await shown;
      assertEquals(done.map((line) => line.slice(0, 14)), ["print my/tag\t{"]);
    } finally {
      await bus.close();
    }
  }));

Deno.test("state.pause, resume and soft_kill control a run on the master's own host", () =>
  withRunnerFixture(async ({ call, context }) => {
    const executed: string[] = [];
    context.execute = ({ fun, args }) => {
      executed.push(`${fun}${repr([...args])}`);
      return Promise.resolve(null);
    };
    for (
      const [fun, ...args] of [["pause", JID, "a", 5], ["set_pause", JID], ["resume", JID], ["rm_pause", JID], [
        "soft_kill",
        JID,
        "a",
      ]]
    ) assertEquals(await call(`state.${fun}`, args), null);
    assertEquals(executed, [
      `state.pause['${JID}', 'a', 5]`,
      `state.pause['${JID}', None, None]`,
      `state.resume['${JID}', None]`,
      `state.resume['${JID}', None]`,
      `state.soft_kill['${JID}', 'a']`,
    ]);
  }));

Deno.test("batch.stop with kill of a batch that no minion runs yet kills nothing", () =>
  withRunnerFixture(async ({ call, context, done }) => {
    const state = batchState({ jid: JID });
    context.jobs.prepare(JID);
    context.jobs.batches.save(state);
    assertEquals(await call("batch.stop", [JID], { kill: true }), true);
    assertEquals(done, [`fire salt/batch/${JID}/stop {'jid': '${JID}', 'reason': 'stop'}`]);
  }));

Deno.test("bus.subscribers shows the counts of the bus, and nothing without a bus", () =>
  withRunnerFixture(async ({ call, context }) => {
    assertEquals(await call("bus.subscribers"), []);
    Deno.mkdirSync(context.opts.sock_dir, { recursive: true });
    writeBusState(masterBus(context.opts.sock_dir), [
      { name: { key: "k", pid: 7, prefixes: ["salt/job"], missed: 0 }, topic: "t", dropped: 2, stuck: true },
    ]);
    assertEquals(
      repr(await call("bus.subscribers")),
      "[{'pid': 7, 'tags': ['salt/job'], 'dropped': 2, 'reads': False}]",
    );
  }));

Deno.test("git_pillar.update reports that a repository with a lock is not fetched", () =>
  withTemporaryDirectory(async (repository) => {
    await git(["init", "--quiet", "--initial-branch=main", repository]);
    const url = `file://${repository}`;
    await withRunnerFixture(async ({ call, context, done }) => {
      const [remote] = configuredPillarRepositories(optsValues(context.opts));
      await remote.fetch().catch(() => {});
      await remote.lock.set();
      assertEquals(repr(await call("git_pillar.update")), `{'main ${url}': False}`);
      assertEquals(done, [
        `error: git_pillar remote 'main ${url}' could not be fetched: another process is fetching it, or its updates are locked`,
      ]);
      const cleared = await call("cache.clear_git_lock", ["git_pillar"]);
      assert(isMap(cleared) && cleared.has("cleared"), repr(cleared));
    }, `ext_pillar:\n  - git: ["main ${url}"]\n`);
  }));

Deno.test("cache.clear_git_lock accepts Salt's roles; targets of the cache are read by their given type", () =>
  withRunnerFixture(async ({ call, context }) => {
    await assertRejects(() => call("cache.clear_git_lock", ["gitea"]), InvocationError, "Invalid role 'gitea'");
    await assertRejects(() => call("cache.clear_git_lock", ["winrepo"]), CommandError, "winrepo is not built yet");
    context.keys.put("web1", "accepted", "PEM");
    const refused = () => call("cache.grains", ["web1"], { tgt_type: "nope" });
    await assertRejects(refused, CommandError, "nope");
  }));
