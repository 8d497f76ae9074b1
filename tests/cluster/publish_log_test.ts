/**
 * Jobs across masters over a real database: each is pushed once to every other master, also after an outage; what is
 * not over is taken up after a start; and nobody reads or repeats a row who has only the database.
 * @module
 */

import { RootKeys } from "#lib/cluster/cluster_secrets.ts";
import { PublishLog } from "#lib/cluster/publish_log.ts";
import type { Delivery } from "#lib/jobs/redelivery.ts";
import { encode } from "#lib/values/msgpack.ts";
import { map } from "#lib/values/value.ts";
import { assert, assertEquals, assertStringIncludes } from "#tests/support/assert.ts";
import { serverProgram } from "#tests/support/database_servers.ts";
import { eventually } from "#tests/support/eventually.ts";
import { withReplaced } from "#tests/support/replaced.ts";
import { type Member, startClusterPlace } from "./cluster_place.ts";

const missing = serverProgram("postgres") === undefined;
const named = (what: string) => missing ? `${what} (skipped: there is no postgres)` : what;

const ROOT = new Uint8Array(32).fill(7);

function job(n: number, ttlMs = 60_000): Delivery {
  const jid = `20240102030405${String(n).padStart(6, "0")}`;
  const load = map({ jid, fun: "test.echo", arg: ["a secret"], tgt: "*", tgt_type: "glob" });
  return { jid, load, minions: ["web1", "web2"], ttlMs, live: n % 2 === 1 };
}

/** What a master's Publisher got: the number of each job, with `again` for those that were taken up. */
class Pushed {
  readonly log: PublishLog;
  readonly jobs: string[] = [];
  last: Delivery | undefined;

  /** Without how they came: a master may be reading for the first time when another adds its first job. */
  get numbers(): string[] {
    return this.jobs.map((job) => job.replace(" again", ""));
  }

  constructor({ database, log }: Member, root = ROOT, left: readonly Delivery[] = []) {
    this.log = new PublishLog({
      database,
      keys: new RootKeys(root),
      log,
      pending: () => left,
      push: (delivery, again) => {
        this.last = delivery;
        this.jobs.push(`${Number(delivery.jid.slice(14))}${again ? " again" : ""}`);
        return Promise.resolve();
      },
    });
  }

  /** Follows the other masters. */
  open(): this {
    this.log.open();
    return this;
  }
}

Deno.test({
  name: named("a job of one master is pushed by the others once, with what it is, and none by itself"),
  ignore: missing,
  async fn() {
    await using place = await startClusterPlace();
    const first = await place.member(1);
    const [a, b] = [new Pushed(first).open(), new Pushed(await place.member(2)).open()];
    const jobs = Array.from({ length: 30 }, (_, n) => job(n));
    await Promise.all(jobs.map((one) => a.log.add(one)));
    assertEquals(await b.log.add(job(100, 0)), "committed");
    await eventually(() => b.jobs.length === 30 && a.jobs.length === 1, { what: "the jobs" });
    assertEquals([b.numbers.toSorted(), a.numbers], [jobs.map((_, n) => String(n)).sort(), ["100"]]);
    assertEquals(a.last, job(100, 0));
    const { ttlMs = 0, ...rest } = b.last ?? {};
    const { ttlMs: given, ...sent } = jobs[29];
    assert(ttlMs > 0 && ttlMs <= given, String(ttlMs));
    assertEquals(rest, sent);
    await place.server.sql(`update salt.publishes set until = now() - interval '2 minutes' where origin = 1`);
    await a.log.clean();
    await place.server.sql(`do $$ begin assert (select count(*) from salt.publishes) = 1; end $$`);
    // Its numbers go on above those of the rows that are gone.
    await a.log.add(job(31));
    await eventually(() => b.jobs.includes("31"), { what: "the next job" });
  },
});

Deno.test({
  name: named("a job whose row was written twice is pushed once; long after its end such a row is refused"),
  ignore: missing,
  async fn() {
    await using place = await startClusterPlace();
    const reader = await place.member(2);
    const a = new Pushed(await place.member(1)).open(), b = new Pushed(reader).open();
    const writeAgain = () =>
      place.server.sql(`insert into salt.publishes (origin, seq, jid, until, sealed)
        select 1, (select max(seq) + 1 from salt.publishes), jid, now() + interval '1 hour', sealed
        from salt.publishes where jid = '${job(1).jid}' limit 1`);
    await a.log.add(job(1));
    await eventually(() => b.jobs.length === 1, { what: "the first job" });
    await writeAgain();
    await a.log.add(job(2));
    await eventually(() => b.numbers.includes("2"), { what: "the second job" });
    assertEquals(b.numbers, ["1", "2"]);
    const refused = () => reader.lines.filter((line) => line.includes("it has been over for long"));
    assertEquals(refused(), []);
    const { now } = Date;
    await withReplaced(Date, { name: "now", by: () => now.call(Date) + 600_000 }, async () => {
      // What it reads now lets it forget the first job.
      await a.log.add(job(3));
      await eventually(() => b.numbers.includes("3"), { what: "the third job" });
      await writeAgain();
      await eventually(() => refused().length === 1, { what: "that the old row is refused" });
    });
    assertEquals(b.numbers, ["1", "2", "3"]);
  },
});

Deno.test({
  name: named("a master that starts takes up what is not over, of all masters; so does a new Publisher"),
  ignore: missing,
  async fn() {
    await using place = await startClusterPlace();
    const a = new Pushed(await place.member(1)).open(), b = new Pushed(await place.member(2)).open();
    await a.log.add(job(1));
    await b.log.add(job(2));
    await b.log.add(job(3));
    await place.server.sql(`update salt.publishes set until = now() where jid like '%3'`);
    const again = new Pushed(await place.member(2)).open();
    await eventually(() => again.jobs.length === 2, { what: "what is not over" });
    assertEquals(again.jobs, ["1 again", "2 again"]);
    await a.log.add(job(4));
    await eventually(() => again.jobs.length === 3, { what: "the next job" });
    await again.log.takeUpAgain();
    assertEquals(again.jobs, ["1 again", "2 again", "4", "1 again", "4 again", "2 again"]);
  },
});

Deno.test({
  name: named("with the database away a job waits for it, and reaches the others if it is back in time"),
  ignore: missing,
  async fn() {
    await using place = await startClusterPlace();
    const first = await place.member(1);
    const a = new Pushed(first).open(), b = new Pushed(await place.member(2)).open();
    await a.log.add(job(1));
    await eventually(() => b.jobs.length === 1, { what: "the first job" });
    await place.server.crash();
    assertEquals(await a.log.add(job(2)), "away");
    await eventually(() => first.database.away, { what: "the database is away" });
    assertEquals(await a.log.add(job(3)), "away");
    await place.server.restart();
    await eventually(() => b.jobs.length === 3, { what: "the jobs of the outage" });
    assertEquals(b.numbers.toSorted(), ["1", "2", "3"]);
    // As with a full disk: it answers, and takes no row.
    await place.server.sql(`alter table salt.publishes add constraint full_disk check (false) not valid`);
    for (const n of [4, 5, 6]) {
      assertStringIncludes(String(await a.log.add(job(n)).catch((error) => error)), "full_disk");
    }
    await eventually(() => first.lines.some((line) => line.includes("full_disk")), { what: "a second try" });
    await place.server.sql(`alter table salt.publishes drop constraint full_disk`);
    await eventually(() => b.jobs.length === 6, { what: "the jobs that were refused" });
    assertEquals(b.numbers.toSorted(), ["1", "2", "3", "4", "5", "6"]);
  },
});

Deno.test({
  name: named("what a master had not given to the others when it was killed, its next run gives them, once"),
  ignore: missing,
  async fn() {
    await using place = await startClusterPlace();
    const b = new Pushed(await place.member(2)).open(), a = new Pushed(await place.member(1)).open();
    await a.log.add(job(1));
    await eventually(() => b.jobs.length === 1, { what: "the first job" });
    const paced: Delivery = { ...job(3), sent: ["web1"] };
    const next = new Pushed(await place.member(1), ROOT, [job(1), job(2), paced]).open();
    await eventually(() => b.jobs.length === 2, { what: "the job of the run before" });
    await next.log.add(job(4));
    await eventually(() => b.jobs.length === 3, { what: "the next job" });
    // Its Publisher ends before it follows the others.
    const third = new Pushed(await place.member(1), ROOT, [job(4), job(5)]);
    await third.log.takeUpAgain();
    third.open();
    await eventually(() => b.jobs.length === 4, { what: "the job of the second run" });
    assertEquals(b.numbers, ["1", "2", "4", "5"]);
    await place.server.sql(`do $$ begin assert (select count(*) from salt.publishes) = 4; end $$`);
  },
});

Deno.test({
  name: named("rows hold no argument in clear; one of another cluster, another job or an old one is refused"),
  ignore: missing,
  async fn() {
    await using place = await startClusterPlace();
    const reader = await place.member(2);
    const a = new Pushed(await place.member(1)).open(), b = new Pushed(reader).open();
    await a.log.add(job(1));
    await eventually(() => b.jobs.length === 1, { what: "the first job" });
    await place.server.sql(`do $$ begin assert (select count(*) from salt.publishes
      where position('a secret'::bytea in sealed) > 0 or position('test.echo'::bytea in sealed) > 0) = 0; end $$`);
    const stranger = new Pushed(await place.member(3), new Uint8Array(32)).open();
    await stranger.log.add(job(5));
    await place.server.sql(`insert into salt.publishes (origin, seq, jid, until, sealed)
      select 1, seq + 1, '20240102030405000009', until, sealed from salt.publishes where origin = 1`);
    const { jid, load } = job(8);
    const over = new RootKeys(ROOT).seal(
      "publishes",
      encode(map({ load, minions: [], ttl_ms: 1, until_ms: 1 }), "disk"),
    );
    await place.server.sql(`insert into salt.publishes (origin, seq, jid, until, sealed)
      select 1, max(seq) + 1, '${jid}', now() + interval '1 hour', '\\x${over.toHex()}' from salt.publishes where origin = 1`);
    await a.log.add(job(2));
    await eventually(() => b.jobs.length === 2, { what: "the second job" });
    assertEquals(b.numbers, ["1", "2"]);
    await eventually(() => reader.lines.filter((line) => line.includes("is not published")).length >= 3, {
      what: "what was refused",
    });
    const told = reader.lines.join("\n");
    assertStringIncludes(told, "20240102030405000009 of the master master-1 is not published: its row holds something");
    assertStringIncludes(
      told,
      "20240102030405000008 of the master master-1 is not published: it has been over for long",
    );
    assertStringIncludes(told, "20240102030405000005 of the master master-3 is not published: it cannot be read");
  },
});
