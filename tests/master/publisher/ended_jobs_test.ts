/** @module */
import { asyncJobStore } from "#lib/jobs/async_store.ts";
import { StoreError } from "#lib/errors.ts";
import { readMoment } from "#lib/os/moment.ts";
import { map, type Value } from "#lib/values/value.ts";
import { assertEquals } from "#tests/support/assert.ts";
import { eventually } from "#tests/support/eventually.ts";
import { DeliveryPlace, JID, LOAD, MINIONS, pacedOn, pushed } from "./delivery_place.ts";

const KILL_JID = "20240102030405000009";

/** A job that ends others, on all minions. */
function ending(fun: Value, arg: Value[], more: Readonly<Record<string, Value>> = {}): Uint8Array {
  return pushed({ load: map({ jid: KILL_JID, fun, arg, tgt: "*", tgt_type: "glob" }), ...more });
}

/** The outcomes that are stored of the job. */
function storedOn(place: DeliveryPlace): Value[] {
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
    using place = new DeliveryPlace();
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
  using place = new DeliveryPlace();
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
  using place = new DeliveryPlace();
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
  using place = new DeliveryPlace();
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

Deno.test("a hundred jobs that end others are remembered for jobs that come after them", async () => {
  using place = new DeliveryPlace();
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
  using place = new DeliveryPlace();
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
  using place = new DeliveryPlace();
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
