/** @module */
import { StoreError } from "#lib/errors.ts";
import { asyncJobStore } from "#lib/jobs/async_store.ts";
import { SILENT_LOGGER } from "#lib/runtime/log.ts";
import { momentAfter, readMoment } from "#lib/os/moment.ts";
import { encode } from "#lib/values/msgpack.ts";
import { map, type Value } from "#lib/values/value.ts";
import { assertEquals, assertRejects, assertStringIncludes } from "#tests/support/assert.ts";
import { eventually } from "#tests/support/eventually.ts";
import { DeliveryPlace, JID, LOAD, MINIONS, pushed } from "./delivery_place.ts";

Deno.test("a job is published once, and again by id for minions that connect and have not acknowledged it", async () => {
  using place = new DeliveryPlace();
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
  using place = new DeliveryPlace();
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
  using place = new DeliveryPlace();
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
  using place = new DeliveryPlace();
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
  using place = new DeliveryPlace();
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
  using place = new DeliveryPlace();
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

Deno.test("a job of which the store cannot say who has answered goes to all its minions again, and that is named", async () => {
  using place = new DeliveryPlace();
  const errors: string[] = [];
  const away = () => Promise.reject(new StoreError("the database is away", "jobs"));
  const jobs = { ...asyncJobStore(place.jobs), answered: away };
  place.undelivered.save({ jid: JID, load: LOAD, minions: MINIONS, ttlMs: 60_000, live: false }, readMoment());
  const delivery = await place.open({ ...SILENT_LOGGER, error: (text) => errors.push(String(text)) }, undefined, jobs);
  await delivery.arrived(MINIONS);
  assertEquals(place.takePublished(), [[MINIONS, false]]);
  assertEquals(errors, [`Job ${JID} is delivered to all its minions again: the database is away`]);
  delivery.close();
});

Deno.test("a job that ended while no master ran is logged with the minions that do not have it", async () => {
  using place = new DeliveryPlace();
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
  using place = new DeliveryPlace();
  const delivery = await place.open();
  await assertRejects(() => delivery.deliver(encode(map({ minions: MINIONS }), "disk")), TypeError);
  assertEquals([place.takePublished(), delivery.size], [[], 0]);
  delivery.close();
});

Deno.test("a job without a time limit is published, and ends at once", async () => {
  using place = new DeliveryPlace();
  const delivery = await place.open();
  await delivery.deliver(pushed({ ttl_ms: null }));
  assertEquals(place.takePublished(), [["*", false]]);
  await delivery.arrived(MINIONS);
  assertEquals(place.takePublished(), []);
  delivery.close();
});

Deno.test("a delivered job that cannot be removed is logged, and the next one is published", async () => {
  using place = new DeliveryPlace();
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
