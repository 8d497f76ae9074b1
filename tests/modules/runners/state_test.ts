import { packEvent } from "#lib/bus/event.ts";
import { masterBus, minionBus } from "#lib/bus/paths.ts";
import { BusPump } from "#lib/bus/pump.ts";
import { EventSender } from "#lib/bus/sender.ts";
import { BUS_WELCOME } from "#lib/bus/subscriber.ts";
import { readSubscriberTopic } from "#lib/bus/subscribers.ts";
import { eventLogDirectory } from "#lib/config/master_paths.ts";
import { CommandError, InvocationError, NoMasterError } from "#lib/errors.ts";
import { EventLogReader } from "#lib/event_log/reader.ts";
import { EventLogWriter } from "#lib/event_log/writer.ts";
import { executeOnMaster } from "#lib/master/processes/master_execution.ts";
import { SILENT_LOGGER } from "#lib/runtime/log.ts";
import { Duplex } from "#lib/sockets/endpoint.ts";
import { isMap, map, repr } from "#lib/values/value.ts";
import { assert, assertEquals, assertRejects, assertStringIncludes } from "#tests/support/assert.ts";
import { eventually, WITHIN_MS } from "#tests/support/eventually.ts";
import { type RunnerFixture, withRunnerFixture } from "#tests/support/fleet/runner_services.ts";
import { SkippedTime } from "#tests/support/skipped_time.ts";

const FILES = {
  "salt/top.sls": "base:\n  '*_master': [orch]\n",
  "salt/orch.sls": "{{ opts.id }}-{{ pillar['group'] }}:\n  test.nop:\n    - require:\n      - test: first\n" +
    "first:\n  test.nop: []\n",
  "salt/steps.sls": "one:\n  test.succeed_with_changes: []\ntwo:\n  test.configurable_test_state:\n" +
    "    - result: {{ pillar['good'] }}\n    - require:\n      - test: one\n",
  "pillar/top.sls": "base:\n  'host_master': [p]\n",
  "pillar/p.sls": "group: webs\n",
};

const OPTIONS = "file_roots: {base: ['{root}/salt']}\npillar_roots: {base: ['{root}/pillar']}\n";

/** A context in which execution functions run, as in the master's process for runners. */
const withFiles = (test: (fixture: RunnerFixture) => Promise<void>) =>
  withRunnerFixture(async (fixture) => {
    const { root, context } = fixture;
    for (const [name, text] of Object.entries(FILES)) {
      const path = `${root}/${name}`;
      await Deno.mkdir(path.slice(0, path.lastIndexOf("/")), { recursive: true });
      await Deno.writeTextFile(path, text);
    }
    const parts = { opts: context.opts, log: SILENT_LOGGER, signal: context.signal, user: "root" };
    context.execute = (call) => executeOnMaster(call, parts);
    await test(fixture);
  }, OPTIONS);

Deno.test("state.orchestrate_show_sls shows the states of the master's own host, with its pillar or a given one", () =>
  withFiles(async ({ call }) => {
    const own = repr(await call("state.orchestrate_show_sls", ["orch"]));
    assert(own.startsWith("{'host_master': {'host_master-webs': {'"), own);
    const shown = repr(await call("state.orch_show_sls", ["orch"], { pillar: { group: "dbs" } }));
    assertStringIncludes(shown, "'host_master-dbs'");
    await assertRejects(
      () => call("state.orch_show_sls", ["orch"], { pillar: "x" }),
      InvocationError,
      "as a dictionary",
    );
    assertStringIncludes(repr(await call("state.orch_show_sls", ["nothing"])), "No matching sls found for 'nothing'");
  }));

Deno.test("state.graph and graph_highstate draw the states of the master's own host, or of minions", () =>
  withFiles(async ({ call, answers, done }) => {
    for (const [fun, args] of [["state.graph", ["orch"]], ["state.graph_highstate", []]] as const) {
      const dot = String(await call(fun, [...args]));
      assert(dot.startsWith("digraph"), dot);
      assertStringIncludes(dot, "host_master-webs");
    }
    answers.set("web1", { return: "digraph {}", retcode: 0 });
    const graph = await call("state.graph", ["web"], { tgt: "web*", pillar: { a: 1 } });
    assertEquals(repr(graph), "{'web1': 'digraph {}'}");
    await call("state.graph_highstate", [], { tgt: "db1", tgt_type: "list" });
    assertEquals(done, [
      "state.graph['web']{'pillar': {'a': 1}, 'saltenv': 'base'} on 'web*' (glob)",
      "state.graph_highstate[]{} on 'db1' (list)",
    ]);
  }));

Deno.test("salt.cmd passes the pillar of the master's host to its function on request", () =>
  withFiles(async ({ call }) => {
    assertEquals(await call("salt.cmd", ["pillar.get", "group"], { with_pillar: true, unmask: true }), "webs");
    assertEquals(await call("salt.cmd", ["pillar.get", "group"], { unmask: true }), "");
  }));

Deno.test("state.orchestrate runs states on the master's own host, and its return code shows whether all succeeded", () =>
  withFiles(async ({ call }) => {
    const good = repr(await call("state.orchestrate", ["steps"], { pillar: { good: true } }));
    assert(good.startsWith("{'data': {'host_master': {'test_|-one_|-one_|-succeed_with_changes': {"), good);
    assert(good.endsWith("'outputter': 'highstate', 'retcode': 0}"), good);
    const bad = repr(await call("state.orch", ["steps"], { pillar: { good: false } }));
    assert(bad.endsWith("'retcode': 1}"), bad);
    const tested = repr(await call("state.sls", ["steps"], { pillar: { good: true }, test: true }));
    assertStringIncludes(tested, "'result': None");
    const excluded = repr(await call("state.orch", ["steps"], { pillar: { good: false }, exclude: [{ id: "two" }] }));
    assert(!excluded.includes("|-two_|"), excluded);
    await assertRejects(() => call("state.orch", ["steps"], { pillar: "x" }), InvocationError, "as a dictionary");
    const typo = call("state.orch", ["steps"], { pillar: '{"one": x' });
    await assertRejects(() => typo, InvocationError, "as a dictionary. pillar:1:");
    assert(repr(await call("state.orch", ["nothing"])).endsWith("'retcode': 1}"));
  }));

Deno.test("a runner that an orchestration calls is recorded as a job of the user who started the orchestration", () =>
  withFiles(async ({ root, call, context }) => {
    await Deno.writeTextFile(
      `${root}/salt/calls.sls`,
      "test.arg:\n  salt.runner: []\nkey.list_all:\n  salt.wheel: []\n",
    );
    const parts = { opts: context.opts, log: SILENT_LOGGER, signal: context.signal, user: "ann" };
    context.execute = (wanted) => executeOnMaster(wanted, parts);
    const done = repr(await call("state.orchestrate", ["calls"]));
    assert(done.endsWith("'outputter': 'highstate', 'retcode': 0}"), done);
    const jobs = await call("jobs.list_jobs");
    assert(isMap(jobs));
    const jobsOfUsers = [...jobs.values()].map((job) => isMap(job) ? [job.get("Function"), job.get("User")] : job);
    assertEquals(jobsOfUsers.sort(), [["runner.salt.wheel", "ann"], ["runner.test.arg", "ann"]]);
  }));

Deno.test("state.orchestrate_single and orchestrate_high run the given states, and show them", () =>
  withFiles(async ({ call, done }) => {
    const single = repr(await call("state.orchestrate_single", ["test.nop"], { name: "x" }));
    assert(single.startsWith("{'host_master': {'test_|-x_|-x_|-nop': {"), single);
    const high = repr(await call("state.orchestrate_high", [{ x: { test: ["nop"] } }]));
    assert(high.startsWith("{'host_master': {'test_|-x_|-x_|-nop': {"), high);
    assertEquals(done.map((line) => line.slice(0, 25)), Array(2).fill("{'data': {'host_master': "));
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

const JID = "20250102030405000001";

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

Deno.test("state.event with since or offsets needs a log of the bus", () =>
  withRunnerFixture(async ({ call }) => {
    await assertRejects(
      () => call("state.event", [], { node: "minion", since: "start" }),
      CommandError,
      "since: only the master's bus has a log",
    );
    for (const given of [{ since: "start" }, { offsets: true }]) {
      await assertRejects(
        () => call("state.event", [], given),
        CommandError,
        "since, offsets: the events of this bus are not kept (event_log: none)",
      );
    }
  }, "event_log: none\n"));

Deno.test("state.event since an offset says how many events the log does not have any more", () =>
  withRunnerFixture(async ({ call, context, done }) => {
    const directory = eventLogDirectory(context.opts.cachedir), limits = { keepS: 3600, maxBytes: 1 << 30 };
    const parts = { log: { error() {}, info() {} }, onWritten() {}, firstNumber: 100 };
    const writer = new EventLogWriter(directory, limits, parts);
    writer.append(packEvent("my/tag", map({ n: 1 })));
    writer.close();
    Deno.mkdirSync(context.opts.sock_dir);
    const paths = masterBus(context.opts.sock_dir);
    const bus = await BusPump.open(paths, { log: SILENT_LOGGER, eventLog: { directory, ...limits } });
    try {
      using reader = new EventLogReader(directory);
      await call("state.event", ["my/*"], { since: `${reader.id}.10`, offsets: true, count: 1 });
      assertEquals(done[0], "warning: 89 events are not in the event log any more");
      assertStringIncludes(done[1], `"_offset": "${reader.id}.100"`);
    } finally {
      await bus.close();
    }
  }));

Deno.test("state.event reads the bus if nothing answers for the log, unless the log is needed", () =>
  withRunnerFixture(async ({ call, context, done }) => {
    Deno.mkdirSync(context.opts.sock_dir);
    const paths = masterBus(context.opts.sock_dir);
    const bus = await BusPump.open(paths, { log: SILENT_LOGGER });
    try {
      using time = new SkippedTime();
      using sender = new EventSender(paths.pull);
      const needed = assertRejects(() => call("state.event", ["my/*"], { since: "start" }), NoMasterError);
      const shown = call("state.event", ["my/*"], { count: 1 });
      await time.to(5_100);
      await needed;
      await eventually(() => bus.describe().includes(" 1 subscribers"), { what: "a subscriber" });
      assert(await sender.fire("my/tag", map({ n: 1 })));
      await shown;
      assertEquals(done.map((line) => line.slice(0, 14)), ["print my/tag\t{"]);
    } finally {
      await bus.close();
    }
  }));

Deno.test("state.event of a bus without a log says how many events came faster than they were read", () =>
  withRunnerFixture(async ({ call, context, done }) => {
    Deno.mkdirSync(context.opts.sock_dir);
    const outlet = Duplex.xpub();
    try {
      outlet.welcome(BUS_WELCOME);
      await outlet.bind(`ipc://${masterBus(context.opts.sock_dir).pub}`);
      const shown = call("state.event", ["my/*"], { count: 1 });
      let topic = "";
      while (readSubscriberTopic(topic) === undefined) {
        const frames = await outlet.receive(WITHIN_MS);
        assert(frames !== undefined);
        topic = new TextDecoder().decode(frames[0].subarray(1));
      }
      outlet.offer([new TextEncoder().encode(`${topic}\n7`)]);
      outlet.offer([packEvent("my/tag", map({ n: 1 }))]);
      await shown;
      assertEquals(done.map((line) => line.slice(0, 26)), ["warning: 7 events were mis", 'print my/tag\t{"n": 1}']);
    } finally {
      outlet.close();
    }
  }, "event_log: none\n"));
