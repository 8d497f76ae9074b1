/** @module */
import type { JobTurn } from "#lib/master/publisher/paced_jobs.ts";
import { readMoment } from "#lib/os/moment.ts";
import { map } from "#lib/values/value.ts";
import { assert, assertEquals } from "#tests/support/assert.ts";
import { eventually } from "#tests/support/eventually.ts";
import { DeliveryPlace, JID, LOAD, MINIONS, pacedOn, pushed } from "./delivery_place.ts";

Deno.test("a job that `running` bounds goes to the next of its minions by name when others have returned", async () => {
  using place = new DeliveryPlace();
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
  using place = new DeliveryPlace();
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

Deno.test("a job whose minions have all returned while no master ran has no file when the next one has begun", async () => {
  using place = new DeliveryPlace();
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
  using place = new DeliveryPlace();
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
  using place = new DeliveryPlace();
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

Deno.test("files of jobs that wait which cannot be written or removed are logged, and the jobs go on", async () => {
  using place = new DeliveryPlace();
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
