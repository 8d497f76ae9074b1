/** @module */
import { asyncJobStore } from "#lib/jobs/async_store.ts";
import type { JobStore } from "#lib/jobs/store.ts";
import { parseFlow } from "#lib/flow/flow_rules.ts";
import { RunningPlaces } from "#lib/flow/running_places.ts";
import { type DeliveryParts, JobDelivery } from "#lib/master/publisher/delivery.ts";
import { type JobTurn, openPacedJobs } from "#lib/master/publisher/paced_jobs.ts";
import { StoreError } from "#lib/errors.ts";
import { type Logger, SILENT_LOGGER } from "#lib/runtime/log.ts";
import { UndeliveredJobs } from "#lib/jobs/undelivered.ts";
import { momentAfter, readMoment } from "#lib/os/moment.ts";
import { encode } from "#lib/values/msgpack.ts";
import { map, toValue, type Value, type ValueMap } from "#lib/values/value.ts";
import { assert, assertEquals, assertRejects, assertStringIncludes } from "#tests/support/assert.ts";
import { eventually } from "#tests/support/eventually.ts";
import { jobStore } from "#tests/support/fleet/job_store.ts";

const JID = "20240102030405000001";

/** A master's cache directory, and the publishes. */
class Place implements Disposable {
  readonly root = Deno.makeTempDirSync({ prefix: "delivery_" });
  readonly jobs = jobStore(this.root);
  readonly undelivered = new UndeliveredJobs(this.root, "a private key");
  readonly published: ValueMap[] = [];
  readonly present = new Set<string>();
  /** What a publish waits for. */
  hold: Promise<void> | undefined;
  /** Returns that the master has published for minions. */
  readonly returns: ValueMap[] = [];

  async open(
    log: Logger = SILENT_LOGGER,
    pace?: DeliveryParts["pace"],
    jobs: JobStore = asyncJobStore(this.jobs),
  ): Promise<JobDelivery> {
    const delivery = new JobDelivery({
      jobs,
      undelivered: this.undelivered,
      log,
      isPresent: (id) => this.present.has(id),
      publish: async (load) => {
        this.published.push(load);
        await this.hold;
      },
      pace,
    });
    await delivery.takeUp();
    return delivery;
  }

  /** The publishes since the last call: their minions, and whether live output is requested. */
  takePublished(): Value[] {
    return this.published.splice(0).map((load) => [load.get("tgt") ?? null, load.get("live") ?? false]);
  }

  [Symbol.dispose](): void {
    Deno.removeSync(this.root, { recursive: true });
  }
}

const LOAD = map({ jid: JID, fun: "test.ping", tgt: "*", tgt_type: "glob" });
const MINIONS = ["web1", "web2", "web3"];

function pushed(more: Readonly<Record<string, Value>> = {}): Uint8Array {
  return encode(map({ load: LOAD, minions: MINIONS, ttl_ms: 60_000, live: false, ...more }), "disk");
}

Deno.test("a job is published once, and again by id for minions that connect and have not acknowledged it", async () => {
  using place = new Place();
  const delivery = await place.open();
  await delivery.deliver(pushed());
  assertEquals([place.takePublished(), delivery.size], [[["*", false]], 1]);
  delivery.noteEvent(`salt/job/${JID}/ack/web1`);
  delivery.noteEvent(`salt/job/${JID}/new`);
  await delivery.arrived(["web1", "web2", "db1"]);
  assertEquals(place.takePublished(), [[["web2"], false]]);
  delivery.noteEvent(`salt/job/${JID}/ret/web2`);
  delivery.noteEvent(`salt/job/${JID}/ret/web3`);
  assertEquals(delivery.size, 0);
  await delivery.arrived(MINIONS);
  assertEquals(place.takePublished(), []);
  delivery.close();
});

Deno.test("a job that a cluster has published goes by name to those that have neither acknowledged it nor returned", async () => {
  using place = new Place();
  place.jobs.prepare(JID);
  place.jobs.acks.save(JID, "web1", { state: "received", sinceMs: 1 });
  place.jobs.saveReturn(map({ jid: JID, id: "web3", return: true, fun: "test.ping", cmd: "_return" }));
  const delivery = await place.open();
  await delivery.deliver(pushed({ again: true }));
  await eventually(() => Promise.resolve(delivery.size === 1), { what: "the job is taken up" });
  await delivery.deliver(pushed({ again: true, minions: ["web1"] }));
  assertEquals(place.takePublished(), []);
  await delivery.arrived(MINIONS);
  assertEquals(place.takePublished(), [[["web2"], false]]);
  delivery.noteEvent(`salt/job/${JID}/ret/web2`);
  assertEquals(delivery.size, 0);
  delivery.close();
});

Deno.test("a silent minion is asked once more; then the store says whether its answer is only lost as an event", async () => {
  using place = new Place();
  place.jobs.prepare(JID);
  for (const id of MINIONS) place.present.add(id);
  const delivery = await place.open();
  await delivery.deliver(pushed());
  place.jobs.acks.save(JID, "web1", { state: "running", sinceMs: 1 });
  place.jobs.saveReturn(map({ jid: JID, id: "web2", return: true, fun: "test.ping", cmd: "_return" }));
  const isPublished = (count: number) => () => Promise.resolve(place.published.length === count);
  await eventually(isPublished(3), { what: "the job is published three times" });
  assertEquals(place.takePublished(), [["*", false], [MINIONS, false], [["web3"], false]]);
  place.jobs.acks.save(JID, "web3", { state: "running", sinceMs: 1 });
  await eventually(() => Promise.resolve(delivery.size === 0), { what: "nobody is silent" });
  assertEquals(place.takePublished(), []);
  delivery.close();
});

Deno.test("live output is requested from present minions, which are ours; the others get the plain job", async () => {
  using place = new Place();
  const delivery = await place.open();
  await delivery.deliver(pushed({ live: true }));
  assertEquals(place.takePublished(), [["*", false]]);
  place.present.add("web1").add("db1");
  await delivery.deliver(pushed({ live: true }));
  assertEquals(place.takePublished(), [[["web1"], true], ["*", false]]);
  for (const id of MINIONS) place.present.add(id);
  await delivery.deliver(pushed({ live: true }));
  assertEquals(place.takePublished(), [["*", true]]);
  delivery.close();
});

Deno.test("undelivered jobs of the previous master are delivered to minions without a return or acknowledgement", async () => {
  using place = new Place();
  place.jobs.saveLoad(JID, LOAD, MINIONS);
  place.jobs.saveReturn(map({ jid: JID, id: "web1", return: true }));
  place.jobs.acks.save(JID, "web2", { state: "received", sinceMs: Date.now() });
  place.undelivered.save({ jid: JID, load: LOAD, minions: MINIONS, ttlMs: 60_000, live: false }, readMoment());
  const delivery = await place.open();
  assertEquals([place.takePublished(), delivery.size], [[], 1]);
  await delivery.arrived(MINIONS);
  assertEquals(place.takePublished(), [[["web3"], false]]);
  delivery.noteEvent(`salt/job/${JID}/ret/web3`);
  delivery.close();
  const next = await place.open();
  assertEquals(next.size, 0);
  next.close();
});

Deno.test("a master that starts asks the store once about all jobs that were left", async () => {
  using place = new Place();
  for (let n = 0; n < 5; n++) {
    const jid = `${JID}_${n}`, load = map({ ...Object.fromEntries(LOAD), jid });
    place.jobs.prepare(jid);
    place.jobs.saveReturn(map({ jid, id: "web1", return: true, fun: "test.ping", cmd: "_return" }));
    place.undelivered.save({ jid, load, minions: MINIONS, ttlMs: 60_000, live: false }, readMoment());
  }
  const store = asyncJobStore(place.jobs), asked: Value[] = [];
  const counting = new Proxy(store, {
    get: (all, name) =>
    (
      ...given: never[]
    ) => (asked.push(String(name)), Reflect.apply(Reflect.get(all, name), all, given)),
  });
  const delivery = await place.open(SILENT_LOGGER, undefined, counting);
  assertEquals([asked, delivery.size], [["answered"], 5]);
  await delivery.arrived(["web1", "web2"]);
  assertEquals(place.takePublished(), Array.from({ length: 5 }, () => [["web2"], false]));
  delivery.close();
});

Deno.test("a job that ended while no master ran is logged with the minions that do not have it", async () => {
  using place = new Place();
  const early = momentAfter(readMoment(), -61_000);
  const job = { jid: JID, load: LOAD, minions: MINIONS, ttlMs: 60_000, live: false };
  place.undelivered.save(job, early);
  const jid = "20240102030405000002";
  place.undelivered.save({ ...job, jid }, early);
  for (const one of [JID, jid]) place.jobs.saveLoad(one, LOAD, MINIONS);
  place.jobs.saveReturn(map({ jid: JID, id: "web1", return: true }));
  for (const id of MINIONS) place.jobs.acks.save(jid, id, { state: "received", sinceMs: Date.now() });
  const warnings: string[] = [];
  (await place.open({ ...SILENT_LOGGER, warning: (text) => warnings.push(String(text)) })).close();
  assertEquals(warnings, [`Job ${JID} ended before 2 minions had it, while no master ran: web2, web3`]);
});

Deno.test("a pushed message that is no load is refused, and nothing is published", async () => {
  using place = new Place();
  const delivery = await place.open();
  await assertRejects(() => delivery.deliver(encode(map({ minions: MINIONS }), "disk")), TypeError);
  assertEquals([place.takePublished(), delivery.size], [[], 0]);
  delivery.close();
});

Deno.test("a job without a time limit is published, and ends at once", async () => {
  using place = new Place();
  const delivery = await place.open();
  await delivery.deliver(pushed({ ttl_ms: null }));
  assertEquals(place.takePublished(), [["*", false]]);
  await delivery.arrived(MINIONS);
  assertEquals(place.takePublished(), []);
  delivery.close();
});

Deno.test("a delivered job that cannot be removed is logged, and the next one is published", async () => {
  using place = new Place();
  const errors: string[] = [];
  const delivery = await place.open({ ...SILENT_LOGGER, error: (text) => errors.push(String(text)) });
  await delivery.deliver(pushed());
  Deno.removeSync(`${place.root}/undelivered`, { recursive: true });
  Deno.writeTextFileSync(`${place.root}/undelivered`, "");
  for (const id of MINIONS) delivery.noteEvent(`salt/job/${JID}/ret/${id}`);
  assertEquals(errors.length, 1);
  assertStringIncludes(errors[0], "An undelivered job could not be removed: ");
  await delivery.deliver(pushed());
  assertEquals(place.takePublished(), [["*", false], ["*", false]]);
  delivery.close();
});

/** The delivery of a place whose rule lets two minions run at once. */
function pacedOn(
  place: Place,
  turns: JobTurn[] = [],
  elsewhere: readonly string[] = [],
  more: Partial<NonNullable<DeliveryParts["pace"]>> & {
    readonly errors?: string[];
    readonly jobs?: JobStore;
  } = {},
) {
  const { running } = parseFlow(toValue([{ fun: "test.*", running: 2 }]));
  const log = { ...SILENT_LOGGER, error: (text: string | (() => string)) => void more.errors?.push(String(text)) };
  return place.open(log, {
    places: new RunningPlaces(running),
    open: openPacedJobs,
    isConnected: (id) => place.present.has(id),
    elsewhere: () => new Set(elsewhere),
    tell: (turn) => Promise.resolve(turns.push(turn)),
    fireReturn: (load) => Promise.resolve(place.returns.push(load)),
    ...more,
  }, more.jobs);
}

Deno.test("a job that `running` bounds goes to the next of its minions by name when others have returned", async () => {
  using place = new Place();
  const turns: JobTurn[] = [];
  for (const id of MINIONS) place.present.add(id);
  const delivery = await pacedOn(place, turns);
  await delivery.deliver(pushed());
  assertEquals(place.takePublished(), [[["web1", "web2"], false]]);
  assertEquals(turns.splice(0), [{ jid: JID, rule: 1, waiting: ["web3"], named: [] }]);
  delivery.noteEvent(`salt/job/${JID}/ack/web1`);
  delivery.noteEvent(`salt/job/${JID}/ret/web2`);
  await eventually(() => place.published.length > 0, { what: "the next minion" });
  assertEquals(place.takePublished(), [[["web3"], false]]);
  assertEquals(turns, [{ jid: JID, rule: 1, waiting: [], named: ["web3"] }]);
  for (const id of ["web1", "web3"]) delivery.noteEvent(`salt/job/${JID}/ret/${id}`);
  await eventually(() => delivery.paced + delivery.size === 0, { what: "the end of the job" });
  assertEquals(place.undelivered.left(readMoment()).deliveries, []);
  // What fits goes to all at once, and as it is.
  const other = pushed({ load: map({ ...Object.fromEntries(LOAD), jid: `${JID}_2` }), minions: ["web1", "web2"] });
  await delivery.deliver(other);
  assertEquals(place.takePublished(), [["*", false]]);
  delivery.close();
});

Deno.test("the next master names the minions that waited, and counts those that run", async () => {
  using place = new Place();
  for (const id of MINIONS) place.present.add(id);
  place.jobs.prepare(JID);
  const first = await pacedOn(place);
  await first.deliver(pushed());
  // An MWorker keeps the job too, as one that may be missed for a short time.
  place.undelivered.save({ jid: JID, load: LOAD, minions: MINIONS, ttlMs: 60_000, live: false }, readMoment());
  first.close();
  place.takePublished();
  place.jobs.acks.save(JID, "web1", { state: "running", sinceMs: 1 });
  place.jobs.saveReturn(map({ jid: JID, id: "web2", return: true, fun: "test.ping", cmd: "_return" }));
  const next = await pacedOn(place);
  await eventually(() => place.published.length > 0, { what: "the next minion" });
  assertEquals(place.takePublished(), [[["web3"], false]]);
  for (const id of ["web1", "web3"]) next.noteEvent(`salt/job/${JID}/ret/${id}`);
  await eventually(() => next.paced === 0, { what: "the end of the job" });
  assertEquals(place.undelivered.left(readMoment()).deliveries, []);
  next.close();
});

const KILL_JID = "20240102030405000009";

/** A job that ends others, on all minions. */
function ending(fun: Value, arg: Value[], more: Readonly<Record<string, Value>> = {}): Uint8Array {
  return pushed({ load: map({ jid: KILL_JID, fun, arg, tgt: "*", tgt_type: "glob" }), ...more });
}

/** The outcomes that are stored of the job. */
function storedOn(place: Place): Value[] {
  return [...place.jobs.getReturns(JID)].map((
    [id, { retcode, cancelled }],
  ) => [id, retcode ?? null, cancelled ?? false]);
}

const ENDINGS: readonly (readonly [string, Value, Value[], boolean])[] = [
  ["kill_job", "saltutil.kill_job", [JID], true],
  ["term_job with a named argument", "saltutil.term_job", [`jid=${JID}`], true],
  ["signal_job with SIGTERM", "saltutil.signal_job", [JID, 15], true],
  ["signal_job with SIGUSR1, which ends nothing", "saltutil.signal_job", [JID, 10], false],
  ["kill_all_jobs", "saltutil.kill_all_jobs", [], true],
  ["kill_job beside another function", ["test.ping", "saltutil.kill_job"], [[], [JID]], true],
  ["kill_job of another job", "saltutil.kill_job", [`${JID}_2`], false],
];

for (const [what, fun, arg, ends] of ENDINGS) {
  Deno.test(`a minion that waits for its turn: ${what} ${ends ? "ends its wait" : "leaves it"}`, async () => {
    using place = new Place();
    for (const id of MINIONS) place.present.add(id);
    place.jobs.prepare(JID);
    const delivery = await pacedOn(place);
    await delivery.deliver(pushed());
    place.takePublished();
    await delivery.deliver(ending(fun, arg));
    if (ends) await eventually(() => place.returns.length > 0, { what: "the return" });
    assertEquals(storedOn(place), ends ? [["web3", 1, true]] : []);
    assertEquals(place.returns.map((load) => [load.get("id"), load.get("cancelled")]), ends ? [["web3", true]] : []);
    place.takePublished();
    delivery.noteEvent(`salt/job/${JID}/ret/web1`);
    delivery.noteEvent(`salt/job/${JID}/ret/web2`);
    if (!ends) await eventually(() => place.published.length > 0, { what: "the third minion" });
    else await eventually(() => delivery.paced === (Array.isArray(fun) ? 1 : 0), { what: "the end of the job" });
    assertEquals(place.published.some((load) => load.get("jid") === JID), !ends);
    delivery.close();
  });
}

Deno.test("only minions of the job that ends another are ended, and none that have been sent it", async () => {
  using place = new Place();
  for (const id of MINIONS) place.present.add(id);
  place.jobs.prepare(JID);
  const delivery = await pacedOn(place);
  await delivery.deliver(pushed());
  await delivery.deliver(ending("saltutil.kill_job", [JID], { minions: ["web1", "web2"] }));
  place.takePublished();
  delivery.noteEvent(`salt/job/${JID}/ret/web1`);
  await eventually(() => place.published.length > 0, { what: "the third minion" });
  assertEquals([place.takePublished(), storedOn(place)], [[[["web3"], false]], []]);
  delivery.close();
});

Deno.test("a wait that was ended stays ended over the end of the master, and before the job has come", async () => {
  using place = new Place();
  for (const id of MINIONS) place.present.add(id);
  place.jobs.prepare(JID);
  const first = await pacedOn(place);
  // In a cluster the two may come in any order.
  await first.deliver(ending("saltutil.kill_job", [JID]));
  await first.deliver(pushed());
  // It waits for none of the three, as it ended before they were sent it.
  await eventually(() => place.returns.length === 3, { what: "the returns" });
  assertEquals(place.published.some((load) => load.get("jid") === JID), false);
  assertEquals(storedOn(place), MINIONS.map((id) => [id, 1, true]));
  first.close();
  await eventually(() => first.paced === 0, { what: "the end of the job" });
  // The last master was killed before it had stored what its file says.
  const other = `${JID}_2`;
  place.jobs.prepare(other);
  place.undelivered.save({
    jid: other,
    load: map({ ...Object.fromEntries(LOAD), jid: other }),
    minions: [],
    ttlMs: 60_000,
    live: false,
    sent: [],
    cancelled: ["web2"],
  }, readMoment());
  place.returns.length = 0;
  const next = await pacedOn(place);
  await eventually(() => place.returns.length === 1 && next.paced === 0, { what: "the return" });
  assertEquals(place.jobs.getReturn(other, "web2")?.cancelled, true);
  assertEquals(place.undelivered.left(readMoment()).deliveries.map(({ jid }) => jid).includes(other), false);
  next.close();
});

Deno.test("minions of another master of the cluster get no job here either, and that master says so", async () => {
  using place = new Place();
  for (const id of ["web1", "web2"]) place.present.add(id);
  place.jobs.prepare(JID);
  const delivery = await pacedOn(place, [], ["web3"]);
  await delivery.deliver(pushed());
  await delivery.deliver(ending("saltutil.kill_job", [JID]));
  for (const id of ["web1", "web2"]) delivery.noteEvent(`salt/job/${JID}/ret/${id}`);
  await eventually(() => delivery.paced === 0, { what: "the end of the job" });
  assertEquals([storedOn(place), place.returns], [[], []]);
  delivery.close();
});

Deno.test("a job whose minions have all returned while no master ran has no file when the next one has begun", async () => {
  using place = new Place();
  for (const id of MINIONS) place.present.add(id);
  place.jobs.prepare(JID);
  const first = await pacedOn(place);
  await first.deliver(pushed());
  first.close();
  for (const id of MINIONS) {
    place.jobs.saveReturn(map({ jid: JID, id, return: true, fun: "test.ping", cmd: "_return" }));
  }
  const next = await pacedOn(place);
  await eventually(() => next.paced === 0, { what: "the end of the job" });
  assertEquals([...Deno.readDirSync(`${place.root}/undelivered`)].some(({ name }) => name === JID), false);
  next.close();
});

Deno.test("a job that masters of a cluster have published waits for places here, once however often it comes", async () => {
  using place = new Place();
  for (const id of MINIONS) place.present.add(id);
  place.jobs.prepare(JID);
  place.jobs.acks.save(JID, "web1", { state: "running", sinceMs: 1 });
  const delivery = await pacedOn(place);
  for (let i = 0; i < 2; i++) await delivery.deliver(pushed({ again: true }));
  await eventually(() => place.published.length > 0, { what: "the next minion" });
  assertEquals([place.takePublished(), delivery.paced], [[[["web2"], false]], 1]);
  delivery.close();
});

Deno.test("a minion that has returned before its turn is published is sent nothing; a failed publish is logged", async () => {
  using place = new Place();
  const errors: string[] = [], other = `${JID}_2`;
  for (const id of [...MINIONS, "db1"]) place.present.add(id);
  for (const jid of [JID, other]) place.jobs.prepare(jid);
  const delivery = await pacedOn(place, [], [], { errors });
  await delivery.deliver(pushed());
  await delivery.deliver(pushed({ load: map({ ...Object.fromEntries(LOAD), jid: other }), minions: ["db1"] }));
  assertEquals(place.takePublished(), [[["web1", "web2"], false]]);
  const held = Promise.withResolvers<void>();
  place.hold = held.promise;
  for (const id of ["web1", "web2"]) delivery.noteEvent(`salt/job/${JID}/ret/${id}`);
  await eventually(() => place.published.length > 0, { what: "the next publish" });
  // Another master of the cluster has sent it.
  delivery.noteEvent(`salt/job/${other}/ret/db1`);
  await eventually(() => delivery.paced === 1, { what: "the end of the other job" });
  held.reject(new Error("no socket"));
  await eventually(() => errors.length > 0, { what: "the error" });
  assertEquals(errors, [`Could not publish job ${JID} to the next of its minions: no socket`]);
  assertEquals(place.takePublished(), [[["web3"], false]]);
  place.hold = undefined;
  delivery.close();
});

Deno.test("a hundred jobs that end others are remembered for jobs that come after them", async () => {
  using place = new Place();
  for (const id of MINIONS) place.present.add(id);
  const delivery = await pacedOn(place);
  const jid = (n: number) => `20240102030405${String(100 + n).padStart(6, "0")}`;
  for (let n = 0; n <= 100; n++) {
    const load = map({ jid: `${KILL_JID}_${n}`, fun: "saltutil.kill_job", arg: [jid(n)], tgt: "*", tgt_type: "glob" });
    await delivery.deliver(pushed({ load }));
  }
  for (const n of [0, 1, 100]) {
    place.jobs.prepare(jid(n));
    await delivery.deliver(pushed({ load: map({ ...Object.fromEntries(LOAD), jid: jid(n) }) }));
  }
  await eventually(() => place.returns.length === 6, { what: "the returns" });
  assertEquals(new Set(place.returns.map((load) => load.get("jid"))), new Set([jid(1), jid(100)]));
  delivery.close();
});

Deno.test("what ends a wait and cannot be stored is told once, and stored by the next master", async () => {
  using place = new Place();
  const errors: string[] = [];
  for (const id of MINIONS) place.present.add(id);
  const unstored = asyncJobStore(place.jobs);
  const full = { ...unstored, saveReturn: () => Promise.reject(new StoreError("the disk is full", "jobs")) };
  place.jobs.prepare(JID);
  const first = await pacedOn(place, [], [], { errors, jobs: full });
  await first.deliver(pushed());
  await first.deliver(ending("saltutil.kill_job", [JID]));
  await eventually(() => errors.length > 0, { what: "the error" });
  assertEquals(errors, [`That job ${JID} is cancelled on 1 minions is not stored: the disk is full`]);
  assertEquals([place.returns.map((load) => load.get("id")), storedOn(place)], [["web3"], []]);
  first.close();
  const next = await pacedOn(place);
  await eventually(() => storedOn(place).length > 0, { what: "the return" });
  assertEquals(storedOn(place), [["web3", 1, true]]);
  assertEquals(errors.length, 1);
  next.close();
});

Deno.test("an end of a wait of which no client can be told is logged", async () => {
  using place = new Place();
  const errors: string[] = [];
  for (const id of MINIONS) place.present.add(id);
  place.jobs.prepare(JID);
  const fireReturn = () => Promise.reject(new Error("no bus"));
  const delivery = await pacedOn(place, [], [], { errors, fireReturn });
  await delivery.deliver(pushed());
  await delivery.deliver(ending("saltutil.kill_job", [JID]));
  await eventually(() => errors.length > 0, { what: "the error" });
  assertEquals(errors, [`That job ${JID} is cancelled is not stored: no bus`]);
  delivery.close();
});

Deno.test("files of jobs that wait which cannot be written or removed are logged, and the jobs go on", async () => {
  using place = new Place();
  const errors: string[] = [];
  for (const id of MINIONS) place.present.add(id);
  const delivery = await pacedOn(place, [], [], { errors });
  await delivery.deliver(pushed());
  Deno.removeSync(`${place.root}/undelivered`, { recursive: true });
  Deno.writeTextFileSync(`${place.root}/undelivered`, "");
  delivery.noteEvent(`salt/job/${JID}/ret/web1`);
  await eventually(() => place.published.length === 2, { what: "the third minion" });
  for (const id of ["web2", "web3"]) delivery.noteEvent(`salt/job/${JID}/ret/${id}`);
  await eventually(() => delivery.paced === 0, { what: "the end of the job" });
  const starts = [`Cannot keep job ${JID} until it is delivered: `, `Cannot remove job ${JID}, which is delivered: `];
  for (const start of starts) assert(errors.some((line) => line.startsWith(start)), errors.join("\n"));
  delivery.close();
});
