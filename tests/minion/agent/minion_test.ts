/** @module */
import { dataCache, jobStore } from "#tests/support/fleet/job_store.ts";
import { writeDropfile } from "#lib/keys/dropfile.ts";
import { SignInError } from "#lib/errors.ts";
import { type BusEvent, stamp } from "#lib/bus/event.ts";
import type { EventSubscriber } from "#lib/bus/subscriber.ts";
import { EventSender } from "#lib/bus/sender.ts";
import { minionBus } from "#lib/bus/paths.ts";
import { decode } from "#lib/values/msgpack.ts";
import { notedJobs } from "#lib/minion/local_call/proc_jobs.ts";
import { Outbox } from "#lib/sockets/endpoint.ts";
import { isMap, map, type Value } from "#lib/values/value.ts";
import { assert, assertEquals, assertMatch, assertRejects } from "#tests/support/assert.ts";
import { eventually, type Fleet, fleetTest, startFleet, untilKey } from "#tests/support/fleet/fleet.ts";
import { runJob, runOn, startJob } from "#tests/support/fleet/jobs.ts";

async function event(events: EventSubscriber, tag: string | RegExp): Promise<BusEvent> {
  const deadline = performance.now() + 20_000;
  for (;;) {
    const next = await events.next(Math.max(0, deadline - performance.now()));
    if (next === undefined) throw new Error(`the event ${tag} did not come in 20 s`);
    if (typeof tag === "string" ? next.tag === tag : tag.test(next.tag)) return next;
  }
}

function busOf(fleet: Fleet, id: string) {
  return minionBus({ sock_dir: `${fleet.minionConfigDir(id)}/var/run/salt/minion`, id, hash_type: "sha256" });
}

/** Fires an event on a minion's own bus. */
async function fireOn(fleet: Fleet, id: string, tag: string, data: Readonly<Record<string, unknown>> = {}) {
  using bus = new EventSender(busOf(fleet, id).pull);
  assert(await bus.fire(tag, stamp(map(data))));
}

/** Writes a user's module for a minion. */
function writeModule(fleet: Fleet, id: string, path: string, text: string): void {
  const directory = `${fleet.minionConfigDir(id)}/var/cache/salt/minion/extmods/${path.replace(/\/.*/, "")}`;
  Deno.mkdirSync(directory, { recursive: true });
  Deno.writeTextFileSync(`${directory}/${path.replace(/.*\//, "")}`, text);
}

const grainsOf = (fleet: Fleet, id: string) => dataCache(fleet.masterOpts.cachedir).get(id)?.grains;
const jobsOf = ({ masterOpts: { cachedir, hash_type } }: Fleet) => jobStore(cachedir, { hashType: hash_type });

fleetTest(
  "a minion whose key is pending waits, and serves once it is accepted",
  { autoAccept: false },
  async (fleet) => {
    await fleet.startMinion("web1");
    await untilKey(fleet, "web1", "pending");
    await eventually(() => fleet.logs.some((line) => line.includes("has cached the public key for this node")), {
      what: "a word that it waits",
    });
    await fleet.untilServing(["web1"], () => fleet.saltKey("--accept-all", "--yes"));
    assertEquals(await runOn(fleet, "web1", "test.ping"), true);
  },
);

fleetTest("a minion with grains_refresh_every tells the master what its host has become", {}, async (fleet) => {
  await fleet.startMinion("web1", { grains_refresh_every: 0.005 });
  await eventually(() => grainsOf(fleet, "web1") !== undefined, { what: "the first grains at the master" });
  assertEquals(grainsOf(fleet, "web1")?.get("role"), undefined);
  Deno.writeTextFileSync(`${fleet.minionConfigDir("web1")}/grains`, "role: database\n");
  await eventually(() => grainsOf(fleet, "web1")?.get("role") === "database", { what: "the new grain at the master" });
});

fleetTest("a minion with random_startup_delay does not sign in at once, and ends while it waits", {}, async (fleet) => {
  await fleet.startMinion("web1", { random_startup_delay: 1e6 });
  const pattern = /Signing in after [\d.]+ seconds \(random_startup_delay\)/;
  await eventually(() => fleet.logs.some((line) => pattern.test(line)), { what: "a word that it waits" });
  assert(!fleet.logs.some((line) => line.includes("Authentication request from web1")), "it has signed in");
  await fleet.stopMinion("web1");
});

fleetTest(
  "a minion announces itself: the old event, then the new one, with the grains asked for",
  {},
  async (fleet) => {
    using events = await fleet.listen("minion_start", "salt/minion/");
    await fleet.startMinion("web1", { start_event_grains: ["os", "id", "no_such"] });
    const [first, second] = [await event(events, /./), await event(events, /./)];
    assertEquals([first.tag, second.tag], ["minion_start", "salt/minion/web1/start"]);
    for (const { data } of [first, second]) {
      const time = "(Mon|Tue|Wed|Thu|Fri|Sat|Sun) [A-Z][a-z]{2} [ 1-3]\\d \\d\\d:\\d\\d:\\d\\d \\d{4}";
      assertMatch(String(data.get("data")), new RegExp(`^Minion web1 started at ${time}$`));
      assertEquals([data.get("id"), data.get("cmd"), data.get("pretag")], ["web1", "_minion_event", null]);
      const grains = data.get("grains");
      assert(isMap(grains ?? null) && grains instanceof Map);
      assertEquals([...grains.keys()], ["os", "id"]);
    }
    assertEquals(grainsOf(fleet, "web1")?.get("id"), "web1");
  },
);

fleetTest("a job from its publish to its return: events, cache, files", { minions: ["web1", "db1"] }, async (fleet) => {
  using events = await fleet.listen("salt/job/");
  const job = await startJob(fleet, "test.echo", { tgt: "w*", kwargs: { text: [1, null] } });
  assertEquals(job.minions, ["web1"]);
  const started = await event(events, `salt/job/${job.jid}/new`);
  assertEquals([started.data.get("minions"), started.data.get("fun")], [["web1"], "test.echo"]);
  const { data } = await event(events, `salt/job/${job.jid}/ret/web1`);
  assertEquals(
    ["cmd", "id", "success", "return", "retcode", "jid", "fun", "fun_args", "user"].map((key) => data.get(key)),
    ["_return", "web1", true, [1, null], 0, job.jid, "test.echo", [map({ __kwarg__: true, text: [1, null] })], "root"],
  );
  assertMatch(String(data.get("_stamp")), /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}\+00:00$/);
  assertEquals((await job.done).map(({ id }) => id), ["web1"]);
  const jobs = jobsOf(fleet);
  assertEquals(jobs.getReturn(job.jid, "web1"), {
    return: [1, null],
    retcode: 0,
    success: true,
  });
  assertEquals(jobs.getLoad(job.jid)?.get("fun"), "test.echo");
  assertEquals([...Deno.readDirSync(`${fleet.minionConfigDir("web1")}/var/cache/salt/minion/proc`)], []);
  await eventually(
    () => [...Deno.readDirSync(`${fleet.minionConfigDir("web1")}/var/cache/salt/minion/returns`)].length === 0,
    { what: "an empty spool" },
  );
});

fleetTest("a minion's own business, on one fleet", { minions: ["web1", "db1"] }, async (fleet) => {
  const web1 = (fun: Value, ...arg: unknown[]) => runOn(fleet, "web1", fun, ...arg);
  assertEquals(await runJob(fleet, "test.ping"), new Map<string, Value>([["db1", true], ["web1", true]]));

  // Values arrive unchanged.
  for (
    const value of [
      null,
      true,
      0,
      -1.5,
      "",
      "é",
      "1.0",
      [1, [2]],
      map({ a: { b: [] } }),
      2n ** 63n,
      new Uint8Array([0xff]),
    ]
  ) {
    assertEquals<Value>(await web1("test.echo", value), value as Value);
  }

  // Failures.
  const [failed] = await (await startJob(fleet, "no.such", { tgt: "web1" })).done;
  assert(failed.kind === "returned");
  assertEquals([failed.return, failed.retcode, failed.out], ["'no.such' is not available.", 1, "nested"]);

  // A compound job.
  const both = await runJob(fleet, ["test.ping", "test.echo"], { tgt: "web1", arg: [[], ["x"]] });
  assertEquals(both.get("web1"), map({ "test.ping": true, "test.echo": "x" }));

  // A running job: found, in the proc file, and terminated.
  const long = await startJob(fleet, "test.sleep", { tgt: "web1", arg: [60], fields: { start_event: true } });
  const proc = `${fleet.minionConfigDir("web1")}/var/cache/salt/minion/proc`;
  const job = await eventually(async () => {
    const answer = await web1("saltutil.find_job", long.jid);
    return isMap(answer) && answer.size > 0 && answer;
  }, { what: "find_job's answer" });
  assertEquals(["jid", "fun", "arg", "tgt", "user", "pid"].map((key) => job.get(key)), [
    long.jid,
    "test.sleep",
    [60],
    "web1",
    "root",
    null,
  ]);
  const noted = decode(Deno.readFileSync(`${proc}/${long.jid}`), "disk");
  assert(isMap(noted));
  assertEquals([noted.get("fun"), noted.get("pid"), noted.has("serial")], ["test.sleep", Deno.pid, false]);
  assertEquals(await runOn(fleet, "db1", "saltutil.find_job", long.jid), new Map());
  assertEquals(await web1("saltutil.kill_job", long.jid), `Signal 9 sent to job ${long.jid}`);
  const [ended] = await long.done;
  assert(ended.kind === "returned");
  // On a busy machine its thread has not stopped yet when the job has ended.
  assertMatch(String(ended.return), /^The job was ended by signal 9(, and its thread continues: .*)?$/);
  assertEquals(ended.retcode, 1);
  assertEquals([...Deno.readDirSync(proc)], []);
  assertEquals(await web1("test.ping"), true);

  // Events of the minion's own bus.
  using events = await fleet.listen("from/web1", "minion/refresh/");
  await fireOn(fleet, "web1", "fire_master", { tag: "from/web1/a", data: { n: 1 } });
  const fired = await event(events, "from/web1/a");
  assertEquals([fired.data.get("id"), fired.data.get("data")], ["web1", map({ n: 1 })]);
  await fireOn(fleet, "web1", "fire_master", { events: [{ tag: "from/web1/b", data: { n: 2 } }] });
  assertEquals((await event(events, "from/web1/b")).data.get("n"), 2);
  assertEquals(await web1("event.send", "from/web1/c", map({ n: 3 })), true);
  assertEquals((await event(events, "from/web1/c")).tag, "from/web1/c");
  await fireOn(fleet, "web1", "of no interest", {});

  writeModule(fleet, "web1", "modules/own.js", "export function version() { return 1; }");
  assertMatch(String(await web1("own.version")), /^'own\.version' is not available\./);
  await fireOn(fleet, "web1", "module_refresh");
  await eventually(async () => await web1("own.version") === 1, { what: "the new module" });
  writeModule(fleet, "web1", "modules/own.js", "export function version() { return 2; }");
  assertEquals(await web1("saltutil.refresh_modules"), true);
  assertEquals(await web1("own.version"), 2);

  const grains = `${fleet.minionConfigDir("web1")}/grains`;
  Deno.writeTextFileSync(grains, "role: web\n");
  await fireOn(fleet, "web1", "grains_refresh");
  await eventually(() => grainsOf(fleet, "web1")?.get("role") === "web", { what: "the new grain at the master" });
  assertEquals(await web1("grains.get", "role"), "web");
  Deno.writeTextFileSync(grains, "role: db\n");
  assertEquals(await web1("saltutil.refresh_grains"), true);
  assertEquals([await web1("grains.get", "role"), grainsOf(fleet, "web1")?.get("role")], ["db", "db"]);
  assertEquals(await web1("saltutil.refresh_pillar"), true);
  await fireOn(fleet, "web1", "pillar_refresh");

  const served = {
    "_modules/own.js": "version() { return 3; }",
    "_grains/mine.js": "colours() { return { colour: 'blue' }; }",
  };
  for (const [path, text] of Object.entries(served)) {
    Deno.mkdirSync(`${fleet.root}/srv/${path.split("/")[0]}`, { recursive: true });
    Deno.writeTextFileSync(`${fleet.root}/srv/${path}`, `export function ${text}`);
  }
  const synced = await web1("saltutil.sync_all");
  assert(isMap(synced));
  assertEquals([synced.get("modules"), synced.get("grains")], [["modules.own"], ["grains.mine"]]);
  assertEquals([await web1("own.version"), await web1("grains.get", "colour")], [3, "blue"]);
  assertEquals(grainsOf(fleet, "web1")?.get("colour"), "blue");

  // Files, in threads with only the permissions that fetching needs.
  const own = `export function ${served["_modules/own.js"]}`;
  assertEquals(await web1("cp.get_file_str", "salt://_modules/own.js"), own);
  assertEquals(await web1("cp.get_file", "salt://_modules/own.js", `${fleet.root}/copy`), `${fleet.root}/copy`);
  assertEquals(Deno.readTextFileSync(`${fleet.root}/copy`), own);
  const { cachedir } = fleet.minionOpts("web1");
  assertEquals(
    await web1("cp.list_minion"),
    ["_grains/mine.js", "_modules/own.js"].map((path) => `${cachedir}/files/base/${path}`),
  );
  await using web = Deno.serve(
    { hostname: "127.0.0.1", port: 0, onListen: () => {} },
    () => new Response("from the web"),
  );
  assertEquals(await web1("cp.get_file_str", `http://127.0.0.1:${web.addr.port}/x`), "from the web");
  assertEquals(await web1("cp.push", `${fleet.root}/copy`), false);

  // An invalid event has no effect.
  using bus = Outbox.push({ lingerMs: 1_000 });
  bus.connect(`ipc://${busOf(fleet, "web1").pull}`);
  for (const frame of [new Uint8Array(), new Uint8Array([0xc1]), new TextEncoder().encode("tag without data")]) {
    await bus.send([frame]);
  }
  assertEquals(await web1("test.ping"), true);
  await fireOn(fleet, "web1", "fire_master", { tag: "from/web1/d", data: {} });
  await event(events, "from/web1/d");
});

fleetTest("start_event has a minion say that it begins a job", { minions: ["web1"] }, async (fleet) => {
  using events = await fleet.listen("salt/job/");
  const job = await startJob(fleet, "test.ping", { fields: { start_event: true, metadata: { why: "x" } } });
  const { data } = await event(events, `salt/job/${job.jid}/start/web1`);
  const inner = data.get("data");
  assert(inner instanceof Map);
  assertEquals(inner, map({ id: "web1", jid: job.jid, fun: "test.ping", tgt: "*", tgt_type: "glob", user: "root" }));
  assertEquals((await event(events, `salt/job/${job.jid}/ret/web1`)).data.get("metadata"), map({ why: "x" }));
  await job.done;
});

fleetTest("with process_count_max more jobs than that wait for their turn", {
  minions: ["web1"],
  minion: { process_count_max: 2 },
}, async (fleet) => {
  writeModule(
    fleet,
    "web1",
    "modules/own.js",
    `
    export async function wait(path) {
      for (;;) {
        try {
          const text = Deno.readTextFileSync(path);
          if (text !== "") return text; // made, and not yet written
        } catch { /* not yet made */ }
        await new Promise((r) => setTimeout(r, 5));
      }
    }
    wait.permissions = { read: true };`,
  );
  assertEquals(await runOn(fleet, "web1", "saltutil.refresh_modules"), true);
  const paths = [1, 2, 3, 4].map((n) => `${fleet.root}/go${n}`);
  const jobs = await Promise.all(paths.map((path) => startJob(fleet, "own.wait", { arg: [path] })));
  await eventually(
    () => fleet.logs.filter((line) => line.includes("2 jobs are running (process_count_max)")).length === 2,
    { what: "two jobs that wait" },
  );
  const cachedir = `${fleet.minionConfigDir("web1")}/var/cache/salt/minion`;
  const notes = () => [...Deno.readDirSync(`${cachedir}/proc`)].length;
  assertEquals([notes(), notedJobs(cachedir).length], [4, 2]);
  for (const [i, path] of paths.entries()) Deno.writeTextFileSync(path, `${i}`);
  const returns = await Promise.all(
    jobs.map(async ({ done }) => (await done).map((one) => one.kind === "returned" && one.return)),
  );
  assertEquals(returns, [["0"], ["1"], ["2"], ["3"]]);
  assertEquals(notes(), 0);
});

fleetTest("after a rotation of the shared key the next job is not lost, and no minion claims to have started", {
  minions: ["web1", "db1"],
  master: { loop_interval: 1 },
}, async (fleet) => {
  using events = await fleet.listen("key", "salt/minion/", "minion_start");
  for (let round = 0; round < 2; round++) {
    writeDropfile(fleet.masterOpts.cachedir, fleet.masterOpts.id);
    assertEquals((await event(events, "key")).data.get("rotate_aes_key"), true);
    assertEquals([...(await runJob(fleet, "test.ping")).keys()].sort(), ["db1", "web1"]);
  }
  assertEquals(await events.next(100), undefined);
});

/** Reconnection with Salt's defaults at the slowest delay. */

fleetTest("a minion whose key is rejected while it runs ends with 77", { minions: ["web1"] }, async (fleet) => {
  assertEquals((await fleet.saltKey("--reject", "web1", "--include-accepted", "--yes")).code, 0);
  await untilKey(fleet, "web1", "rejected");
  const closed = fleet.minions.get("web1")?.closed ?? Promise.resolve();
  await fireOn(fleet, "web1", "fire_master", { tag: "from/web1", data: {} });
  const error = await assertRejects(() => closed, SignInError, "rejected");
  assertEquals(error.exitCode, 77);
});

fleetTest("a minion that finds another master key than it may trust ends with 42", {}, async (fleet) => {
  const minion = await fleet.startMinion("web1", { master_finger: "00:11:22" });
  const error = await assertRejects(() => minion.closed, SignInError, "master_finger");
  assertEquals(error.exitCode, 42);
  assertEquals([...Deno.readDirSync(`${fleet.minionConfigDir("web1")}/var/run/salt/minion`)], []);
});

Deno.test("a minion that waits for its master ends at once on request, and leaves no files", async () => {
  await using fleet = await startFleet();
  await fleet.stopMaster();
  const minion = await fleet.startMinion("web1");
  const before = fleet.logs.length;
  await minion.close();
  await minion.closed;
  assertEquals(fleet.logs.slice(before).filter((line) => /\[(ERROR|CRITICAL)/.test(line)), []);
  assertEquals([...Deno.readDirSync(`${fleet.minionConfigDir("web1")}/var/run/salt/minion`)], []);
});

fleetTest(
  "a minion with file_client: local compiles its own pillar, and says what its threads do",
  {},
  async (fleet) => {
    const roots = `${fleet.root}/pillar`;
    Deno.mkdirSync(roots);
    Deno.writeTextFileSync(`${roots}/top.sls`, "base: {'*': [a]}\n");
    Deno.writeTextFileSync(`${roots}/a.sls`, "own: {{ grains['id'] }}\n");
    await fleet.untilServing(
      ["web1"],
      () => fleet.startMinion("web1", { file_client: "local", pillar_roots: { base: [roots] } }),
    );
    assertEquals(await runOn(fleet, "web1", "pillar.raw", "own"), "web1");
    Deno.writeTextFileSync(`${roots}/a.sls`, "own: changed\n");
    const shown = map({ __kwarg__: true, unmask: true });
    assertEquals(await runOn(fleet, "web1", "pillar.items", shown), map({ own: "changed" }));
    const [main] = await fleet.minions.get("web1")?.describeThreads() ?? [];
    assertMatch(main, /^Main: listening for jobs; \d+ returns wait$/);
    await fleet.stopMinion("web1");
  },
);

fleetTest("with zmq_filtering a minion gets the jobs for it and those for all", {
  master: { zmq_filtering: true },
  minion: { zmq_filtering: true },
  minions: ["web1", "db1"],
}, async (fleet) => {
  const targets: readonly (readonly [tgt: Value, tgtType: string, ids: string[]])[] = [
    ["web1", "glob", ["web1"]],
    [["db1", "web1"], "list", ["db1", "web1"]],
    ["id:db1", "grain", ["db1"]],
  ];
  for (const [tgt, tgtType, ids] of targets) {
    const job = await startJob(fleet, "test.ping", { tgt, tgtType });
    assertEquals((await job.done).map(({ id }) => id).sort(), ids);
  }
});
