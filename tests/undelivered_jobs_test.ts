/** @module */
import { UndeliveredJobs } from "../lib/undelivered_jobs.ts";
import { map } from "../lib/value.ts";
import { assertEquals } from "./assert.ts";

/** Of a master; what a key looks like does not matter here. */
const PEM = "the master's private key";
const JID = "20260101000000000001";
const LATER = "20260101000000000002";
const DELIVERY = {
  jid: JID,
  load: map({ fun: "test.ping", jid: JID }),
  minions: ["web1", "db1"],
  ttlMs: 5_000,
  live: true,
};

function withCache(test: (cachedir: string) => void): void {
  const cachedir = Deno.makeTempDirSync({ prefix: "undelivered_" });
  try {
    test(cachedir);
  } finally {
    Deno.removeSync(cachedir, { recursive: true });
  }
}

const names = (cachedir: string) => [...Deno.readDirSync(`${cachedir}/undelivered`)].map(({ name }) => name);

Deno.test("the next master finds the jobs of one that died, with the time that they still have", () =>
  withCache((cachedir) => {
    new UndeliveredJobs(cachedir, PEM).save(DELIVERY, 1_000_000);
    assertEquals(new UndeliveredJobs(cachedir, PEM).left(1_002_000), [{ ...DELIVERY, ttlMs: 3_000 }]);
  }));

Deno.test("a job whose time is over is removed, and so is a file that was cut off", () =>
  withCache((cachedir) => {
    const jobs = new UndeliveredJobs(cachedir, PEM);
    jobs.save(DELIVERY, 1_000_000);
    Deno.writeFileSync(`${cachedir}/undelivered/${LATER}`, new Uint8Array([0x84, 0xa4]));
    assertEquals(jobs.left(1_005_000), []);
    assertEquals(names(cachedir), []);
  }));

Deno.test("a clock that was set back gives a job no more time than it had", () =>
  withCache((cachedir) => {
    const jobs = new UndeliveredJobs(cachedir, PEM);
    jobs.save(DELIVERY, 1_000_000);
    assertEquals(jobs.left(1_000_000 - 3_600_000), [DELIVERY]);
  }));

Deno.test("a job that was delivered is forgotten, once and again", () =>
  withCache((cachedir) => {
    const jobs = new UndeliveredJobs(cachedir, PEM);
    jobs.save(DELIVERY, 1_000_000);
    jobs.remove(JID, 0);
    jobs.remove(JID, 0);
    assertEquals([jobs.left(1_000_000), names(cachedir)], [[], []]);
  }));

Deno.test("a job that all had before it was kept is forgotten a second later", () =>
  withCache((cachedir) => {
    const jobs = new UndeliveredJobs(cachedir, PEM);
    jobs.remove(JID, 10_000);
    jobs.save(DELIVERY, 1_000_000);
    jobs.removeLate(10_500);
    assertEquals(names(cachedir), [JID]);
    jobs.removeLate(11_000);
    assertEquals(names(cachedir), []);
    jobs.save(DELIVERY, 1_000_000);
    jobs.removeLate(20_000);
    assertEquals(names(cachedir), [JID]);
  }));

Deno.test("a job lies there sealed: a master with another private key cannot read it", () =>
  withCache((cachedir) => {
    new UndeliveredJobs(cachedir, PEM).save(DELIVERY, 1_000_000);
    const text = new TextDecoder("latin1").decode(Deno.readFileSync(`${cachedir}/undelivered/${JID}`));
    assertEquals([text.includes("test.ping"), text.includes("web1")], [false, false]);
    assertEquals(new UndeliveredJobs(cachedir, `another ${PEM}`).left(1_000_000), []);
  }));
