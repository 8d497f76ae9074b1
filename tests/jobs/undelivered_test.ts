/** @module */
import { UndeliveredJobs } from "#lib/jobs/undelivered.ts";
import { decode, encode, type Packable } from "#lib/values/msgpack.ts";
import { map } from "#lib/values/value.ts";
import type { Moment } from "#lib/os/moment.ts";
import { assert, assertEquals } from "#tests/support/assert.ts";

/** Any string can be the master's key in this test. */
const PEM = "the master's private key";
const JID = "20260101000000000001";
const LATER = "20260101000000000002";
/** A job with a time to live of ten minutes: it has its own file. */
const DELIVERY = {
  jid: JID,
  load: map({ fun: "test.ping", jid: JID }),
  minions: ["web1", "db1"],
  ttlMs: 600_000,
  live: true,
};
/** A job with a short time to live, as nearly all jobs: it is a record of the log. */
const BRIEF = { ...DELIVERY, ttlMs: 5_000 };
const NOW: Moment = { wallMs: 100 * 60_000 };

/** The moment `ms` milliseconds after {@linkcode NOW}, on a host that has no clock of its boot. */
const after = (ms: number): Moment => ({ wallMs: NOW.wallMs + ms });

/** The jobs that a restarted master finds, with their remaining time. */
const left = (jobs: UndeliveredJobs, now: Moment) => jobs.left(now).deliveries;

function withCache(test: (cachedir: string) => void): void {
  const cachedir = Deno.makeTempDirSync({ prefix: "undelivered_" });
  try {
    test(cachedir);
  } finally {
    Deno.removeSync(cachedir, { recursive: true });
  }
}

const names = (cachedir: string) => [...Deno.readDirSync(`${cachedir}/undelivered`)].map(({ name }) => name);

const path = (cachedir: string, name: string) => `${cachedir}/undelivered/${name}`;

Deno.test("the next master finds the jobs of a crashed master, with their remaining time", () =>
  withCache((cachedir) => {
    for (const [i, delivery] of [DELIVERY, BRIEF].entries()) {
      new UndeliveredJobs(cachedir, PEM).save({ ...delivery, jid: `${JID}_${i}` }, NOW);
    }
    assertEquals(left(new UndeliveredJobs(cachedir, PEM), after(2_000)), [
      { ...BRIEF, jid: `${JID}_1`, ttlMs: 3_000 },
      { ...DELIVERY, jid: `${JID}_0`, ttlMs: 598_000 },
    ]);
  }));

Deno.test("a job whose time is over is removed, and so is a truncated file", () =>
  withCache((cachedir) => {
    const jobs = new UndeliveredJobs(cachedir, PEM);
    jobs.save(DELIVERY, NOW);
    Deno.writeFileSync(path(cachedir, LATER), new Uint8Array([0x84, 0xa4]));
    assertEquals(left(jobs, after(600_000)), []);
    assertEquals(names(cachedir), []);
  }));

Deno.test("the jobs that are not over can be looked at, and stay", () =>
  withCache((cachedir) => {
    const jobs = new UndeliveredJobs(cachedir, PEM), over = { ...BRIEF, jid: "20260101000000000003" };
    const brief = { ...BRIEF, jid: LATER }, paced = { ...DELIVERY, jid: "20260101000000000004", sent: ["web1"] };
    for (const delivery of [DELIVERY, brief, over, paced]) jobs.save(delivery, NOW);
    jobs.remove(over, NOW);
    const ids = (now: typeof NOW) => new UndeliveredJobs(cachedir, PEM).pending(now).map(({ jid }) => jid).sort();
    assertEquals([ids(NOW), ids(NOW)], [[JID, LATER, paced.jid], [JID, LATER, paced.jid]]);
    assertEquals(new UndeliveredJobs(cachedir, PEM).pending(NOW).find(({ jid }) => jid === paced.jid)?.sent, ["web1"]);
    assertEquals(ids(after(30 * 86_400_000)), []);
    assertEquals(left(new UndeliveredJobs(cachedir, PEM), NOW).length, 3);
  }));

Deno.test("a file that has the length of the job's and another content is restored", () =>
  withCache((cachedir) => {
    const records: Packable[] = [];
    const jobs = new UndeliveredJobs(cachedir, PEM, { append: (record) => void records.push(record) });
    jobs.save(DELIVERY, NOW);
    // What a power failure leaves of a file that was not synced: its length, and zeros.
    const { size } = Deno.statSync(path(cachedir, JID));
    Deno.writeFileSync(path(cachedir, JID), new Uint8Array(size));
    const next = new UndeliveredJobs(cachedir, PEM);
    for (const record of records) next.restore(decode(encode(record, "disk"), "disk"), NOW);
    assertEquals(left(new UndeliveredJobs(cachedir, PEM), NOW), [DELIVERY]);
  }));

Deno.test("a whole file is not replaced by a record, and other records are not about such jobs", () =>
  withCache((cachedir) => {
    const records: Packable[] = [];
    new UndeliveredJobs(cachedir, PEM, { append: (record) => void records.push(record) }).save(DELIVERY, NOW);
    const later = { ...DELIVERY, minions: ["db1"] };
    new UndeliveredJobs(cachedir, PEM).save(later, NOW);
    const next = new UndeliveredJobs(cachedir, PEM),
      read = (record: Packable) => decode(encode(record, "disk"), "disk");
    assertEquals(records.map((record) => next.restore(read(record), NOW)), [true]);
    assertEquals([map({ kind: "load" }), map({ kind: "undelivered" }), "odd"].map((one) => next.restore(one, NOW)), [
      false,
      false,
      false,
    ]);
    assertEquals(left(new UndeliveredJobs(cachedir, PEM), NOW), [later]);
  }));

Deno.test("a job whose file a power failure has left empty is named", () =>
  withCache((cachedir) => {
    new UndeliveredJobs(cachedir, PEM);
    Deno.writeTextFileSync(path(cachedir, JID), "");
    const complaints: string[] = [];
    assertEquals(new UndeliveredJobs(cachedir, PEM).left(NOW, (text) => complaints.push(text)).deliveries, []);
    assertEquals(complaints, [`Job ${JID} is not delivered to the minions that have missed it: its file is empty`]);
  }));

Deno.test("a job that a journal restores is delivered once, unless its log says that it is over", () =>
  withCache((cachedir) => {
    const records: Packable[] = [];
    const jobs = new UndeliveredJobs(cachedir, PEM, { append: (record) => void records.push(record) });
    const brief = { ...BRIEF, jid: LATER };
    const over = { ...BRIEF, jid: "20260101000000000003" };
    for (const delivery of [DELIVERY, brief, over]) jobs.save(delivery, NOW);
    jobs.remove(over, NOW);
    // The file of the first job is lost, but not the log of the others.
    Deno.removeSync(path(cachedir, JID));
    const next = new UndeliveredJobs(cachedir, PEM);
    for (const record of records) {
      assert(next.restore(decode(encode(record, "disk"), "disk"), NOW));
    }
    const restored = new UndeliveredJobs(cachedir, PEM);
    const deliveries = left(restored, NOW);
    assertEquals(deliveries.map(({ jid }) => jid).sort(), [JID, LATER]);
    for (const delivery of deliveries) restored.remove(delivery, NOW);
    assertEquals(left(new UndeliveredJobs(cachedir, PEM), NOW), []);
  }));

Deno.test("a clock that was set back does not extend a job's time", () =>
  withCache((cachedir) => {
    const jobs = new UndeliveredJobs(cachedir, PEM);
    jobs.save(BRIEF, NOW);
    assertEquals(left(jobs, after(-3_600_000)), [BRIEF]);
  }));

Deno.test("a delivered job is forgotten, also a second time", () =>
  withCache((cachedir) => {
    for (const delivery of [DELIVERY, BRIEF]) {
      const jobs = new UndeliveredJobs(cachedir, PEM);
      jobs.save(delivery, NOW);
      assertEquals(left(new UndeliveredJobs(cachedir, PEM), NOW).length, 1);
      jobs.remove(delivery, NOW);
      jobs.remove(delivery, NOW);
      assertEquals(left(new UndeliveredJobs(cachedir, PEM), NOW), []);
    }
  }));

Deno.test("a job with a file is removed as a file, even if little of its time was left when it was found", () =>
  withCache((cachedir) => {
    new UndeliveredJobs(cachedir, PEM).save(DELIVERY, NOW);
    const next = new UndeliveredJobs(cachedir, PEM);
    const [restored] = left(next, after(590_000));
    assertEquals(restored.ttlMs, 10_000);
    next.remove(restored, after(590_000));
    assertEquals(names(cachedir), []);
  }));

Deno.test("an undelivered job is encrypted: a master with another private key cannot read it", () =>
  withCache((cachedir) => {
    for (const delivery of [DELIVERY, BRIEF]) {
      new UndeliveredJobs(cachedir, PEM).save(delivery, NOW);
      const latin = new TextDecoder("latin1");
      const text = names(cachedir).map((name) => latin.decode(Deno.readFileSync(path(cachedir, name)))).join();
      assertEquals([text.includes("test.ping"), text.includes("web1")], [false, false]);
      assertEquals(left(new UndeliveredJobs(cachedir, `another ${PEM}`), NOW), []);
    }
  }));

Deno.test("a no_log job is removed from the disk when it ends, even if its time is short", () =>
  withCache((cachedir) => {
    const hidden = { ...BRIEF, load: new Map([...BRIEF.load, ["no_log", true]]) };
    const jobs = new UndeliveredJobs(cachedir, PEM);
    jobs.save(hidden, NOW);
    assertEquals(names(cachedir), [JID]);
    jobs.remove(hidden, NOW);
    assertEquals(names(cachedir), []);
  }));

Deno.test("the records of several threads are all found, and a truncated one does not affect others", () =>
  withCache((cachedir) => {
    for (const [i, jid] of [JID, LATER].entries()) {
      const jobs = new UndeliveredJobs(cachedir, PEM);
      for (const time of [1, 2]) jobs.save({ ...BRIEF, jid: `${jid}_${time}` }, after(i));
    }
    const logs = names(cachedir).filter((name) => name.endsWith(".log"));
    assertEquals(logs.length, 2);
    const { size } = Deno.statSync(path(cachedir, logs[0]));
    Deno.truncateSync(path(cachedir, logs[0]), size - 1);
    Deno.writeFileSync(path(cachedir, logs[1]), new Uint8Array(300).fill(255), { append: true });
    assertEquals(left(new UndeliveredJobs(cachedir, PEM), NOW).length, 3);
  }));

Deno.test("a job may be over before its record is written", () =>
  withCache((cachedir) => {
    const publisher = new UndeliveredJobs(cachedir, PEM);
    publisher.remove(BRIEF, NOW);
    new UndeliveredJobs(cachedir, PEM).save(BRIEF, NOW);
    assertEquals(left(publisher, NOW), []);
  }));

Deno.test("records are removed when all jobs of their minute are over, not earlier", () =>
  withCache((cachedir) => {
    const jobs = new UndeliveredJobs(cachedir, PEM);
    jobs.save(BRIEF, NOW);
    assertEquals(jobs.sweepLog(NOW), true);
    const longest = { ...BRIEF, ttlMs: 60_000, jid: LATER };
    jobs.save(longest, after(59_999));
    assertEquals(names(cachedir).length, 1);
    assertEquals([jobs.sweepLog(after(119_998)), left(jobs, after(119_998)).length], [true, 1]);
    assertEquals([jobs.sweepLog(after(120_001)), names(cachedir)], [false, []]);
  }));

Deno.test("the age of a file counts from when it was seen, also of one that was away meanwhile", () =>
  withCache((cachedir) => {
    const jobs = new UndeliveredJobs(cachedir, PEM);
    jobs.save(BRIEF, NOW);
    const [name] = names(cachedir), bytes = Deno.readFileSync(path(cachedir, name));
    assertEquals(jobs.sweepLog(NOW), true);
    Deno.removeSync(path(cachedir, name));
    assertEquals(jobs.sweepLog(after(1_000)), false);
    Deno.writeFileSync(path(cachedir, name), bytes);
    assertEquals(jobs.sweepLog(after(2_000)), true);
    assertEquals([jobs.sweepLog(after(121_000)), names(cachedir)], [true, [name]]);
    assertEquals([jobs.sweepLog(after(122_001)), names(cachedir)], [false, []]);
  }));

/** A moment `ms` milliseconds after `NOW` in the same boot, at which the wall clock has jumped by `jumpMs`. */
const inBoot = (ms: number, jumpMs = 0, id = "one"): Moment => ({
  wallMs: NOW.wallMs + ms + jumpMs,
  boot: { id, ms: 5_000 + ms },
});
const HOUR_MS = 3_600_000;

for (const jumpMs of [24 * HOUR_MS, -24 * HOUR_MS]) {
  Deno.test(`a wall clock that jumps by ${jumpMs} ms ends no job, whether the master restarts or not`, () =>
    withCache((cachedir) => {
      const jobs = new UndeliveredJobs(cachedir, PEM);
      jobs.save(DELIVERY, inBoot(0));
      jobs.save({ ...BRIEF, jid: LATER }, inBoot(0));
      jobs.sweepLog(inBoot(0));
      jobs.sweepLog(inBoot(2_000, jumpMs));
      const next = new UndeliveredJobs(cachedir, PEM);
      const times = left(next, inBoot(2_000, jumpMs)).map(({ jid, ttlMs }) => [jid, ttlMs]);
      assertEquals(times, [[LATER, 3_000], [JID, 598_000]]);
      assertEquals(next.left(inBoot(700_000, jumpMs)).expired.map(({ jid }) => jid), [LATER, JID]);
    }));
}

Deno.test("after another boot the wall clock counts, since the clock of the boot begins again", () =>
  withCache((cachedir) => {
    new UndeliveredJobs(cachedir, PEM).save(DELIVERY, inBoot(0));
    const next = new UndeliveredJobs(cachedir, PEM);
    assertEquals(left(next, inBoot(2_000, 0, "two")).map(({ ttlMs }) => ttlMs), [598_000]);
    assertEquals(next.left(inBoot(2_000, HOUR_MS, "two")).expired.map(({ jid }) => jid), [JID]);
  }));

Deno.test("the record of a journal is restored after a jump of the wall clock, and not after its time", () =>
  withCache((cachedir) => {
    const records: Packable[] = [];
    const jobs = new UndeliveredJobs(cachedir, PEM, { append: (record) => void records.push(record) });
    jobs.save(DELIVERY, inBoot(0));
    Deno.removeSync(path(cachedir, JID));
    const [record] = records.map((packed) => decode(encode(packed, "disk"), "disk"));
    const next = () => new UndeliveredJobs(cachedir, PEM);
    next().restore(record, inBoot(600_000));
    assertEquals(names(cachedir), []);
    next().restore(record, inBoot(2_000, HOUR_MS));
    assertEquals(left(next(), inBoot(2_000, HOUR_MS)).map(({ jid }) => jid), [JID]);
    assertEquals(next().restore(map({ kind: "undelivered", jid: JID }), NOW), false);
  }));

Deno.test("a directory that was removed meanwhile is created again", () =>
  withCache((cachedir) => {
    const jobs = new UndeliveredJobs(cachedir, PEM);
    for (const delivery of [BRIEF, DELIVERY]) {
      Deno.removeSync(`${cachedir}/undelivered`, { recursive: true });
      assertEquals(jobs.sweepLog(NOW), false);
      jobs.save(delivery, NOW);
      assertEquals(left(jobs, NOW), [delivery]);
    }
  }));

Deno.test("a file, or a record of a log, that holds no job is none, whoever encrypted it", () =>
  withCache((cachedir) => {
    const jobs = new UndeliveredJobs(cachedir, PEM);
    jobs.save(DELIVERY, NOW);
    // A list in the place of the load, which another release may have written.
    const list = Object.assign(["none"], { get: () => undefined }) as unknown as typeof DELIVERY.load;
    jobs.save({ ...DELIVERY, jid: LATER, load: list }, NOW);
    jobs.save(BRIEF, NOW);
    const [log] = names(cachedir).filter((name) => name.endsWith(".log"));
    const whole = Deno.readFileSync(path(cachedir, log));
    const at = new TextDecoder("latin1").decode(whole).indexOf(JID);
    Deno.writeFileSync(path(cachedir, log), whole.fill(0x78, at, at + JID.length));
    jobs.remove({ ...DELIVERY, jid: "no jid" }, NOW);
    assertEquals(left(new UndeliveredJobs(cachedir, PEM), NOW).map(({ jid }) => jid), [JID]);
  }));
