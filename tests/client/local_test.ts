/** @module */
import { EventSubscriber } from "#lib/bus/subscriber.ts";
import { masterBus } from "#lib/bus/paths.ts";
import { dataCache, jobStore } from "#tests/support/fleet/job_store.ts";
import { NoMasterError, RefusedError, TargetError, WireError } from "#lib/errors.ts";
import { jobAck, jobReturn, stateProgress } from "#lib/protocol/tags.ts";
import { writePresence } from "#lib/fleet/presence_file.ts";
import type { CollectTimeouts, PublishedJob, Returned, Silent, StateDone } from "#lib/client/job.ts";
import { LocalClient } from "#lib/client/local.ts";
import { localCommands } from "#lib/client/runner_local.ts";
import { type Logger, SILENT_LOGGER } from "#lib/runtime/log.ts";
import { encode } from "#lib/values/msgpack.ts";
import { map, type Value } from "#lib/values/value.ts";
import { assert, assertEquals, assertRejects } from "#tests/support/assert.ts";
import { eventually } from "#tests/support/eventually.ts";
import { MasterHost } from "#tests/support/fleet/master_host.ts";
import { SkippedTime } from "#tests/support/skipped_time.ts";
import { AT_ONCE_MS } from "#tests/support/time.ts";

const JID = "20260101000000000001";

const QUICK: CollectTimeouts = { timeoutMs: 40, gatherMs: 60 };
const LONG = 30_000;

interface Collecting {
  readonly client: LocalClient;
  readonly all: (Returned | Silent)[];
  /** Each as `id: return`, `id is silent`, `id is not connected`. */
  readonly seen: string[];
  /** The minions reported as not connected at the time-out. */
  readonly absent: string[];
  /** Finished states, each as `id number/total`. */
  readonly states: string[];
  readonly done: Promise<void>;
}

async function collect(
  host: MasterHost,
  minions: string[],
  timeouts: CollectTimeouts,
  { signal, log = SILENT_LOGGER }: { readonly signal?: AbortSignal; readonly log?: Logger } = {},
): Promise<Collecting> {
  const client = await LocalClient.connect(host.opts, { user: "root", log });
  const job: PublishedJob = { jid: JID, minions, missing: [] };
  const all: (Returned | Silent)[] = [];
  const seen: string[] = [], absent: string[] = [], states: string[] = [];
  const onState = (id: string, { ret, len }: StateDone) => void states.push(`${id} ${ret.get("__run_num__")}/${len}`);
  const onAbsent = (ids: readonly string[]) => void absent.push(...ids);
  const run = async () => {
    try {
      for await (const one of client.collect(job, timeouts, { signal, onAbsent, onState })) {
        all.push(one);
        if (one.kind === "returned") seen.push(`${one.id}: ${one.return}`);
        else seen.push(`${one.id} is ${one.outcome === "not connected" ? "not connected" : "silent"}`);
      }
    } finally {
      client.close();
    }
  };
  return { client, all, seen, absent, states, done: run() };
}

Deno.test("returns are reported at once, and the last one ends the wait", async () => {
  await using host = await MasterHost.start();
  const { all, seen, done } = await collect(host, ["a", "b", "c"], { timeoutMs: LONG, gatherMs: LONG });
  await host.returns(JID, "c", true, { out: "nested", retcode: 3 });
  await eventually(() => seen.length === 1, { what: "the first return" });
  await host.returns(JID, "a", "x");
  await host.returns(JID, "b", null, { retcode: { f: 1 } });
  await done;
  assertEquals<unknown>(all, [
    { kind: "returned", id: "c", return: true, retcode: 3, out: "nested", outcome: "failed" },
    { kind: "returned", id: "a", return: "x", retcode: 0, outcome: "returned" },
    { kind: "returned", id: "b", return: null, retcode: map({ f: 1 }), outcome: "failed" },
  ]);
  assertEquals(host.published, []);
});

Deno.test("only returns of this job and of these minions are reported, each once", async () => {
  await using host = await MasterHost.start();
  const { seen, done } = await collect(host, ["a", "b"], { timeoutMs: LONG, gatherMs: LONG });
  await host.returns("20260101000000000002", "a", "of another job");
  await host.returns(JID, "z", "of another minion");
  await host.fire(`salt/job/${JID}/new`, { jid: JID, minions: ["a"] });
  await host.fire(`salt/job/${JID}/prog/a/0`, { id: "a", return: "progress" });
  await host.fire(jobReturn(JID, "a"), { id: "a" });
  await host.fire(jobReturn(JID, "a"), { id: "b", return: "signed by another" });
  await host.fire(jobReturn(JID, "a"), { id: 5, return: "no id" });
  await host.fire(`salt/job/${JID}0/ret/a`, { id: "a", return: "of a longer id" });
  await host.returns(JID, "a", 1);
  await host.returns(JID, "a", 2);
  await host.returns(JID, "b", 3);
  await done;
  assertEquals(seen, ["a: 1", "b: 3"]);
});

Deno.test("finished states are reported as they arrive, but not those of other jobs, of other senders, or without a result", async () => {
  await using host = await MasterHost.start();
  const { seen, states, done } = await collect(host, ["a"], { timeoutMs: LONG, gatherMs: LONG });
  const state = (jid: string, id: string, number: number, more: Record<string, unknown> = {}) =>
    host.fire(stateProgress(jid, "a", number), { id, data: { ret: { __run_num__: number }, len: 2, ...more } });
  await state("20260101000000000002", "a", 7);
  await state(JID, "b", 8);
  await state(JID, "a", 9, { ret: "nothing" });
  await state(JID, "a", 0);
  await state(JID, "a", 1);
  await host.returns(JID, "a", true);
  await done;
  assertEquals([states, seen], [["a 0/2", "a 1/2"], ["a: true"]]);
});

Deno.test("a client that reads nothing during a burst of events reports each return once", async () => {
  await using host = await MasterHost.start({ maxWaitingEvents: 1_000 });
  const minions = Array.from({ length: 300 }, (_, i) => `m${i}`);
  using client = await LocalClient.connect(host.opts, { user: "root", log: SILENT_LOGGER });
  // 30,000 events take longer than usual on a busy machine.
  const timeouts = { timeoutMs: 10 * LONG, gatherMs: LONG };
  const returns = client.collect({ jid: JID, minions, missing: [] }, timeouts);
  await host.returns(JID, "m0", 0);
  const first = await returns.next();
  assert(first.value?.kind === "returned" && first.value.id === "m0");
  using quick = await EventSubscriber.connect(masterBus(host.opts.sock_dir).pub, [""]);
  // More than all queues hold, with a return of this job among each hundred.
  for (let n = 1; n < 30_000; n++) {
    if (n % 100 === 0) await host.returns(JID, `m${n / 100}`, n);
    else await host.returns("20260101000000000002", "m1", "x");
    assert(await quick.next() !== undefined);
  }
  const seen: string[] = ["m0"];
  for await (const one of returns) seen.push(one.kind === "returned" ? one.id : `${one.id} is silent`);
  assertEquals(seen, minions);
  assertEquals(host.published, []);
});

Deno.test("a job without minions ends at once", async () => {
  await using host = await MasterHost.start();
  const { seen, done } = await collect(host, [], { timeoutMs: LONG, gatherMs: LONG });
  await done;
  assertEquals(seen, []);
});

Deno.test("after the timeout only missing minions are asked whether they run the job; no answer means no", async () => {
  await using host = await MasterHost.start();
  const { seen, done } = await collect(host, ["a", "b", "c"], { timeoutMs: 3_000, gatherMs: 60 });
  await host.returns(JID, "b", 1);
  await done;
  assertEquals([seen, host.questions], [["b: 1", "a is silent", "c is silent"], [["a", "c"]]]);
  const [question] = host.published;
  assertEquals([question.get("tgt_type"), question.get("arg")], ["list", [JID]]);
});

for (
  const [what, answer] of [["{}", new Map()], ["an error", "'saltutil.find_job' is not available."], [
    "None",
    null,
  ]] as const
) {
  Deno.test(`a minion that answers ${what} does not run the job: it is not waited for`, async () => {
    await using host = await MasterHost.start();
    host.running.set("a", answer).set("b", answer);
    const { seen, done } = await collect(host, ["a", "b"], { timeoutMs: 40, gatherMs: LONG });
    await done;
    assertEquals([seen, host.questions.length], [["a is silent", "b is silent"], 1]);
  });
}

Deno.test("a minion that still runs the job is waited for, and asked again after another timeout", async () => {
  await using host = await MasterHost.start();
  host.running.set("a", map({ jid: JID })).set("b", new Map());
  const { seen, done } = await collect(host, ["a", "b"], { timeoutMs: 40, gatherMs: LONG });
  await eventually(() => host.questions.length >= 3, { what: "three questions" });
  assertEquals(host.questions.slice(0, 3), [["a", "b"], ["a"], ["a"]]);
  await host.returns(JID, "a", "at last");
  await done;
  assertEquals(seen, ["a: at last", "b is silent"]);
});

Deno.test("a minion that does not run the job may still return while others run it", async () => {
  await using host = await MasterHost.start();
  host.running.set("a", map({ jid: JID })).set("b", new Map());
  const { seen, done } = await collect(host, ["a", "b"], { timeoutMs: 40, gatherMs: LONG });
  await eventually(() => host.questions.length >= 2, { what: "two questions" });
  await host.returns(JID, "b", "late");
  await host.returns(JID, "a", "at last");
  await done;
  assertEquals(seen, ["b: late", "a: at last"]);
});

Deno.test("the client stops waiting for a minion that ran the job and stops answering", async () => {
  await using host = await MasterHost.start();
  host.running.set("a", map({ jid: JID }));
  const { seen, done } = await collect(host, ["a"], { timeoutMs: 40, gatherMs: 3_000 });
  await eventually(() => host.questions.length >= 2, { what: "two questions" });
  host.running.clear();
  await done;
  assertEquals(seen, ["a is silent"]);
});

Deno.test("a return that arrives before the answer that the job runs ends the wait", async () => {
  await using host = await MasterHost.start();
  const { seen, done } = await collect(host, ["a", "b"], { timeoutMs: 40, gatherMs: 3_000 });
  await eventually(() => host.questions.length === 1, { what: "the question" });
  await host.returns(JID, "a", 1);
  await host.returns("20260101000000001001", "a", map({ jid: JID }));
  await done;
  assertEquals([seen, host.questions.length], [["a: 1", "b is silent"], 1]);
});

Deno.test("a return that only the job cache has is reported at the end", async () => {
  await using host = await MasterHost.start();
  host.accept("a", "b");
  const jobs = jobStore(host.opts.cachedir, { hashType: host.opts.hash_type });
  jobs.prepare(JID);
  jobs.saveLoad(JID, map({ fun: "test.ping", jid: JID }), ["a", "b"]);
  jobs.saveReturn(map({ id: "b", jid: JID, return: "kept", retcode: 2, success: false, out: "nested" }));
  const { all, done } = await collect(host, ["a", "b"], QUICK);
  await done;
  assertEquals<unknown>(all, [
    { kind: "silent", id: "a", outcome: "not received" },
    { kind: "returned", id: "b", return: "kept", retcode: 2, out: "nested", outcome: "failed" },
  ]);
});

Deno.test("a return whose event was lost as the bus began again is found in the job cache", async () => {
  await using host = await MasterHost.start();
  host.accept("a", "b");
  const { seen, done } = await collect(host, ["a", "b"], { timeoutMs: 3_000, gatherMs: 60 });
  await host.fire(jobAck(JID, "a"), { id: "a" });
  await host.returns(JID, "b", "in time");
  await eventually(() => seen.length === 1, { what: "a return" });
  const jobs = jobStore(host.opts.cachedir, { hashType: host.opts.hash_type });
  jobs.prepare(JID);
  jobs.saveLoad(JID, map({ fun: "test.ping", jid: JID }), ["a", "b"]);
  jobs.saveReturn(map({ id: "a", jid: JID, return: "meanwhile", retcode: 0, success: true }));
  await host.restartBus();
  await done;
  assertEquals([seen, host.questions], [["b: in time", "a: meanwhile"], [["a"]]]);
});

Deno.test("in a cluster a return that is stored and of which no event came is found after half a minute", async () => {
  await using host = await MasterHost.start();
  host.accept("a", "b");
  using time = new SkippedTime();
  const client = await LocalClient.connect({ ...host.opts, cluster_id: "c" }, { user: "root", log: SILENT_LOGGER });
  try {
    const jobs = jobStore(host.opts.cachedir, { hashType: host.opts.hash_type });
    jobs.prepare(JID);
    jobs.saveLoad(JID, map({ fun: "test.ping", jid: JID }), ["a", "b"]);
    const job: PublishedJob = { jid: JID, minions: ["a", "b"], missing: [] };
    const collected = client.collect(job, { timeoutMs: 300_000, gatherMs: 300_000 }, {});
    const next = collected.next();
    jobs.saveReturn(map({ id: "b", jid: JID, return: "elsewhere", retcode: 0, success: true }));
    await time.to(25_000);
    let isFound = false;
    void next.then(() => isFound = true);
    assertEquals(isFound, false);
    await time.to(32_000);
    const { value } = await next;
    assertEquals([value?.kind, value?.id, value?.kind === "returned" && value.return], ["returned", "b", "elsewhere"]);
    const last = collected.next();
    await host.returns(JID, "a", "here");
    const { value: a } = await last;
    assertEquals([a?.id, (await collected.next()).done], ["a", true]);
    assertEquals(host.questions, []);
  } finally {
    client.close();
  }
});

Deno.test("a silent minion is reported as not connected if no connection has its address", async () => {
  await using host = await MasterHost.start();
  host.accept("away", "here", "new");
  const data = dataCache(host.opts.cachedir);
  data.setGrains("here", map({ ipv4: ["127.0.0.1"] }));
  data.setGrains("away", map({ ipv4: ["192.0.2.1"] }));
  const unknown = await collect(host, ["away", "here", "new"], QUICK);
  await unknown.done;
  // Without any connection, connections are no evidence.
  assertEquals(unknown.seen, ["away is silent", "here is silent", "new is silent"]);
  using _connection = await Deno.connect({ hostname: "127.0.0.1", port: host.opts.publish_port });
  const { seen, done } = await collect(host, ["away", "here", "new"], QUICK);
  await done;
  assertEquals(seen, ["away is not connected", "here is silent", "new is silent"]);
});

Deno.test("a minion with a recorded disconnection is not asked, and is reported at the time-out", async () => {
  await using host = await MasterHost.start();
  host.accept("away", "here");
  writePresence(host.opts.cachedir, { present: new Map([["here", 1]]), gone: new Map([["away", 1]]) });
  const alone = await collect(host, ["away"], { timeoutMs: 40, gatherMs: LONG });
  await alone.done;
  assertEquals([alone.seen, alone.absent, host.questions], [["away is not connected"], [], []]);

  // While another minion is awaited, it is named at once, and reported with the rest at the end.
  host.running.set("here", map({ jid: JID }));
  const both = await collect(host, ["away", "here"], { timeoutMs: 40, gatherMs: LONG });
  await eventually(() => host.questions.length > 0, { what: "a question" });
  assertEquals([both.absent, both.seen, host.questions[0]], [["away"], [], ["here"]]);
  await host.returns(JID, "here", 1);
  await both.done;
  assertEquals(both.seen, ["here: 1", "away is not connected"]);
});

Deno.test("abort ends the collection at once, and no minion is reported as silent", async () => {
  await using host = await MasterHost.start();
  const controller = new AbortController();
  const { seen, done } = await collect(host, ["a", "b"], { timeoutMs: LONG, gatherMs: LONG }, controller);
  await host.returns(JID, "a", 1);
  await eventually(() => seen.length === 1, { what: "the first return" });
  const started = performance.now();
  controller.abort();
  await done;
  assert(performance.now() - started < AT_ONCE_MS);
  assertEquals(seen, ["a: 1"]);
  const late = await collect(host, ["a"], { timeoutMs: LONG, gatherMs: LONG }, controller);
  await late.done;
  assertEquals(late.seen, []);
});

Deno.test("a master that dies while a minion runs the job is an error after the timeout", async () => {
  await using host = await MasterHost.start();
  const { seen, done } = await collect(host, ["a", "b"], { timeoutMs: 3_000, gatherMs: 60 });
  await host.fire(jobAck(JID, "a"), { id: "a" });
  await host.returns(JID, "b", "in time");
  await eventually(() => seen.length === 1, { what: "a return" });
  await host.die();
  await assertRejects(() => done, NoMasterError, `salt-run jobs.attach ${JID}`);
});

Deno.test("a find_job that the master refuses to publish has no answers", async () => {
  await using host = await MasterHost.start();
  host.master.script = () => encode(map({ enc: "clear", load: { jid: null, minions: [], error: "gone" } }), "wire");
  const { seen, done } = await collect(host, ["a"], QUICK);
  await done;
  assertEquals(seen, ["a is silent"]);
});

Deno.test("when the master refuses find_job, as to a token that expired, returns are waited for and one line says so", async () => {
  await using host = await MasterHost.start();
  host.accept("away", "slow");
  const refused = { error: { name: "TokenAuthenticationError", message: "Authentication failure" } };
  let refusals = 0;
  host.master.script = () => (refusals++, encode(map(refused), "wire"));
  const warnings: string[] = [];
  const log: Logger = { ...SILENT_LOGGER, named: () => log, warning: (text) => void warnings.push(String(text)) };
  const { seen, done } = await collect(host, ["away", "slow"], QUICK, { log });
  await eventually(() => refusals >= 4, { what: "more than one question" });
  writePresence(host.opts.cachedir, { present: new Map([["slow", 1]]), gone: new Map([["away", 1]]) });
  await host.returns(JID, "slow", "at last");
  await done;
  assertEquals(seen, ["slow: at last", "away is not connected"]);
  assertEquals(warnings, [
    `The master does not let this user ask whether minions run job ${JID}: Authentication failure. Waiting for them`,
  ]);
});

Deno.test("a minion that cannot be asked and whose return the job cache has is not waited for", async () => {
  await using host = await MasterHost.start();
  host.accept("a", "b");
  const jobs = jobStore(host.opts.cachedir, { hashType: host.opts.hash_type });
  jobs.prepare(JID);
  jobs.saveLoad(JID, map({ fun: "test.ping", jid: JID }), ["a", "b"]);
  jobs.saveReturn(map({ id: "b", jid: JID, return: "kept", retcode: 0, success: true }));
  host.master.script = () => encode(map({ error: { name: "EauthAuthenticationError", message: "no" } }), "wire");
  const { seen, done } = await collect(host, ["b"], QUICK);
  await done;
  assertEquals(seen, ["b: kept"]);
});

const JOB = { tgt: "*", tgtType: "glob", fun: "test.ping", arg: [] };

Deno.test("minions below syndics are those that the syndics name; without any the target has none", async () => {
  await using host = await MasterHost.start();
  const opts = { ...host.opts, order_masters: true, syndic_wait: 1 };
  using client = await LocalClient.connect(opts, { user: "root", log: SILENT_LOGGER });
  const job = { jid: JID, minions: [], missing: [] }, times = { timeoutMs: LONG, gatherMs: LONG };
  const collected = Array.fromAsync(client.collect(job, times));
  await host.fire("syndic/s1/salt/job/20260101000000000002/new", { minions: ["other"] });
  // As Salt 3008 and Salt 3006 send them.
  await host.fire(`syndic/s1/salt/job/${JID}/new`, { minions: ["a", 5] });
  await host.fire(`syndic/s2/${JID}`, { minions: ["b", "a"] });
  for (const id of ["a", "b"]) await host.returns(JID, id, true);
  assertEquals((await collected).map(({ id, kind }) => [id, kind]), [["a", "returned"], ["b", "returned"]]);
  const nobody = Array.fromAsync(client.collect({ ...job, jid: "20260101000000000003" }, times));
  await assertRejects(() => nobody, TargetError, "No minion of this master or below it matches");
});

Deno.test("a minion that has acknowledged a job before is not asked", async () => {
  await using host = await MasterHost.start();
  using client = await LocalClient.connect(host.opts, { user: "root", log: SILENT_LOGGER });
  const job = { jid: JID, minions: ["a", "b"], missing: [], acknowledged: ["a"] };
  const collected = Array.fromAsync(client.collect(job, QUICK));
  await eventually(() => host.questions.length === 1, { what: "the question" });
  await host.returns(JID, "a", true);
  assertEquals((await collected).map(({ id, kind }) => `${id} ${kind}`), ["a returned", "b silent"]);
  assertEquals(host.questions, [["b"]]);
});

const REFUSALS: readonly (readonly [what: string, reply: Value, error: new (...args: never[]) => Error])[] = [
  ["an error", map({ error: { name: "AuthorizationError", message: "no" } }), RefusedError],
  [
    "no minions",
    map({ enc: "clear", load: { jid: null, minions: [], error: "Master could not resolve" } }),
    TargetError,
  ],
  ["a string", "Some exception handling minion payload", WireError],
  ["None", null, WireError],
];
for (const [what, reply, error] of REFUSALS) {
  Deno.test(`a master that answers a publish with ${what} is a ${error.name}`, async () => {
    await using host = await MasterHost.start();
    host.master.script = () => encode(reply, "wire");
    using client = await LocalClient.connect(host.opts, { user: "root", log: SILENT_LOGGER });
    await assertRejects(() => client.publish(JOB), error);
  });
}

Deno.test("without a master, the connection fails at once", async () => {
  const host = await MasterHost.start();
  await host[Symbol.asyncDispose]();
  const started = performance.now();
  // A wait for the bus would take five seconds each.
  for (let n = 0; n < 4; n++) {
    await assertRejects(
      () => LocalClient.connect(host.opts, { user: "root", log: SILENT_LOGGER }),
      NoMasterError,
      "Unable to connect to the salt master",
    );
  }
  assert(performance.now() - started < AT_ONCE_MS);
});

Deno.test("commands of runners return the answers of minions, and nothing without a match", async () => {
  await using host = await MasterHost.start();
  const minions = localCommands(host.opts, { user: "root", log: SILENT_LOGGER });
  const running = minions.run(["a", "b"], "test.ping", { tgtType: "list", timeoutS: 3, gatherJobTimeoutS: 0.1 });
  await eventually(() => host.published.length === 1, { what: "the publish" });
  await host.returns("20260101000000001001", "a", true, { retcode: { f: 1 } });
  assertEquals(await running, new Map([["a", { return: true as Value, retcode: 1 }]]));
  host.master.script = () => encode(map({ enc: "clear", load: { jid: null, minions: [], error: "gone" } }), "wire");
  assertEquals(await minions.run("x*", "test.ping"), new Map());
});
