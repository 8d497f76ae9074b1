/**
 * Events across masters over a real database: each once, in the order of each master, also after an outage and a
 * restart.
 * @module
 */

import { packEvent } from "#lib/bus/event.ts";
import { masterBus } from "#lib/bus/paths.ts";
import { EventSender } from "#lib/bus/sender.ts";
import { EventLogWriter } from "#lib/event_log/writer.ts";
import { SILENT_LOGGER } from "#lib/runtime/log.ts";
import { joinBytes } from "#lib/values/join_bytes.ts";
import { encode } from "#lib/values/msgpack.ts";
import { map } from "#lib/values/value.ts";
import { assertEquals } from "#tests/support/assert.ts";
import { serverProgram } from "#tests/support/database_servers.ts";
import { eventually } from "#tests/support/eventually.ts";
import { withTemporaryDirectory } from "#tests/support/temporary_directory.ts";
import { BusMember, type Member, startClusterPlace } from "./cluster_place.ts";

const missing = serverProgram("postgres") === undefined;
const named = (what: string) => missing ? `${what} (skipped: there is no postgres)` : what;
const numbers = (from: number, to: number) => Array.from({ length: to - from }, (_, i) => from + i);

Deno.test({
  name: named("each master has the events of the other once, in their order, and those of each master alone stay"),
  ignore: missing,
  fn: () =>
    withTemporaryDirectory(async (root) => {
      await using place = await startClusterPlace();
      await using a = await BusMember.open(`${root}/a`, await place.member(1));
      await using b = await BusMember.open(`${root}/b`, await place.member(2));
      const fire = async (from: BusMember) => {
        for (const n of numbers(0, 300)) {
          await from.fire(n % 3 === 0 ? "salt/store/away" : `salt/job/${n}/ret/web1`, map({ n, text: "x".repeat(n) }));
        }
      };
      await Promise.all([fire(a), fire(b)]);
      const shared = numbers(0, 300).filter((n) => n % 3 !== 0);
      await eventually(() => b.numbersFrom("master-1").length >= shared.length, { what: "the events of the first" });
      await eventually(() => a.numbersFrom("master-2").length >= shared.length, { what: "the events of the second" });
      assertEquals([b.numbersFrom("master-1"), a.numbersFrom("master-2")], [shared, shared]);
      // What came from another master goes to none again.
      assertEquals(a.numbersFrom("master-1"), []);
      await place.server.sql(`do $$ begin assert (select count(*) from salt.events) = 400; end $$`);
    }),
});

Deno.test({
  name: named("events of an outage of the database follow, and a restarted master has each once"),
  ignore: missing,
  fn: () =>
    withTemporaryDirectory(async (root) => {
      await using place = await startClusterPlace();
      const first = await place.member(1), second = await place.member(2);
      await using a = await BusMember.open(`${root}/a`, first);
      const b = await BusMember.open(`${root}/b`, second);
      for (const n of numbers(0, 20)) await a.fire("tag", map({ n }));
      await eventually(() => b.numbersFrom("master-1").length === 20, { what: "the first events" });
      await eventually(() => Deno.statSync(`${root}/b/cluster/events.p`).isFile, { what: "the first record" });
      Deno.copyFileSync(`${root}/b/cluster/events.p`, `${root}/b/recorded.p`);
      await place.server.crash();
      for (const n of numbers(20, 40)) await a.fire("tag", map({ n }));
      await eventually(() => first.database.away, { what: "the database is away" });
      await place.server.restart();
      await eventually(() => b.numbersFrom("master-1").length === 40, { what: "the events of the outage" });
      await b[Symbol.asyncDispose]();
      // As after a kill: what was recorded is older than what was fired.
      Deno.removeSync(`${root}/b/cluster/events.p`);
      Deno.renameSync(`${root}/b/recorded.p`, `${root}/b/cluster/events.p`);
      for (const n of numbers(40, 60)) await a.fire("tag", map({ n }));
      await using again = await BusMember.open(`${root}/b`, await place.member(2));
      await eventually(() => again.numbersFrom("master-1").length >= 60, { what: "the events of its absence" });
      assertEquals(again.numbersFrom("master-1"), numbers(0, 60));
    }),
});

Deno.test({
  name: named("after its next start a master gives on from what it has stored, and tells what its log has lost"),
  ignore: missing,
  fn: () =>
    withTemporaryDirectory(async (root) => {
      await using place = await startClusterPlace();
      const first = await place.member(1);
      await using b = await BusMember.open(`${root}/b`, await place.member(2));
      const a = await BusMember.open(`${root}/a`, first);
      for (const n of numbers(0, 5)) await a.fire("tag", map({ n }));
      await eventually(() => b.numbersFrom("master-1").length === 5, { what: "the first events" });
      await a[Symbol.asyncDispose]();
      const log = `${root}/a/log`;
      const write = (from: number, to: number) => {
        const before = new Set([...Deno.readDirSync(log)].map(({ name }) => name));
        const parts = { log: SILENT_LOGGER, onWritten: () => {} };
        const writer = new EventLogWriter(log, { keepS: 3600, maxBytes: 1 << 30 }, parts);
        for (const n of numbers(from, to)) writer.append(packEvent("tag", map({ n })));
        writer.close();
        return [...Deno.readDirSync(log)].map(({ name }) => name).filter((name) => !before.has(name));
      };
      const lost = write(5, 8);
      write(8, 10);
      assertEquals(lost.length, 1);
      Deno.removeSync(`${log}/${lost[0]}`);
      // By the time of its start alone it would begin after all of them.
      await using again = await BusMember.open(`${root}/a`, first, { startedMs: Date.now() + 60_000 });
      await again.fire("tag", map({ n: 10 }));
      await eventually(() => b.numbersFrom("master-1").at(-1) === 10, { what: "the events of the next run" });
      assertEquals(b.numbersFrom("master-1"), [...numbers(0, 5), 8, 9, 10]);
      assertEquals(first.lines.filter((line) => line.includes("event log any more")), [
        "ERROR 3 events were not in the event log any more when they were to be given to other masters",
      ]);
    }),
});

Deno.test({
  name: named("an exchange that ends amid events of another master fires no more, and they come after its next start"),
  ignore: missing,
  fn: () =>
    withTemporaryDirectory(async (root) => {
      await using place = await startClusterPlace();
      const second = await place.member(2);
      await using a = await BusMember.open(`${root}/a`, await place.member(1));
      using sender = new EventSender(masterBus(`${root}/b`).pull);
      let fired = 0, closing: Promise<void> | undefined;
      const b: BusMember = await BusMember.open(`${root}/b`, second, {
        fire: async (frame) => {
          fired++;
          const taken = await sender.firePacked(frame);
          if (fired === 2) closing = b.exchange.close();
          return taken;
        },
      });
      // All of them in one read: the rows of a third master, which no exchange writes.
      await place.member(3);
      const event = (n: number) => encode(map({ n }), "disk").toHex();
      const rows = numbers(0, 5).map((n) => `(3, ${n}, now(), 'tag', '\\x${event(n)}')`);
      await place.server.sql(`insert into salt.events (origin, seq, at, tag, body) values ${rows.join()}`);
      await a.fire("tag", map({ n: 0 }));
      await eventually(() => closing !== undefined, { what: "the end of the exchange" });
      await closing;
      await second.database.close();
      assertEquals([fired, second.lines.filter((line) => /^(ERROR|CRITICAL)/.test(line))], [2, []]);
      await b[Symbol.asyncDispose]();
      await using again = await BusMember.open(`${root}/b`, await place.member(2));
      await eventually(() => again.numbersFrom("master-3").length >= 5, { what: "the other events" });
      assertEquals(again.numbersFrom("master-3"), numbers(0, 5));
    }),
});

Deno.test({
  name: named(
    "what the database refuses, what has no data and what the bus does not take is told, and all else follows",
  ),
  ignore: missing,
  fn: () =>
    withTemporaryDirectory(async (root) => {
      await using place = await startClusterPlace();
      const first = await place.member(1), second = await place.member(2);
      using sender = new EventSender(masterBus(`${root}/b`).pull);
      let refused = 2;
      await using a = await BusMember.open(`${root}/a`, first);
      await using b = await BusMember.open(`${root}/b`, second, {
        fire: (frame) => --refused < 0 ? sender.firePacked(frame) : Promise.resolve(false),
      });
      await place.server.sql(`alter table salt.events add constraint refused check (tag <> 'refused')`);
      await place.server.crash();
      // More than one statement takes, so that the refused one is among others.
      for (const n of numbers(0, 1_200)) await a.fire(n === 700 ? "refused" : "tag", map({ n }));
      await eventually(() => first.database.away, { what: "the database is away" });
      await place.server.restart();
      const taken = numbers(0, 1_200).filter((n) => n !== 700);
      await eventually(() => b.numbersFrom("master-1").length === taken.length, { what: "all others" });
      assertEquals(b.numbersFrom("master-1"), taken);
      const told = (member: Member, text: string) =>
        eventually(() => member.lines.some((line) => line.includes(text)), { what: text });
      await told(first, "The event refused is not given to other masters");
      await told(second, "did not take the event tag of the master master-1");
      // A third master's, so that it takes no number of the first.
      await place.member(3);
      await place.server.sql(
        `insert into salt.events (origin, seq, at, tag, body) values (3, 1, now(), 'none', '\\x05')`,
      );
      // Programs of Salt before 2016 pad the tag, and have no newlines.
      await a.fireFrame(
        joinBytes([new TextEncoder().encode("old".padEnd(20, "|")), encode(map({ n: 1_200 }), "disk")]),
      );
      await eventually(() => b.numbersFrom("master-1").at(-1) === 1_200, { what: "the event of the old form" });
      assertEquals(b.events().at(-1)?.tag, "old");
      await told(second, "The event none of the master master-3 has no data");
      // How far it has read cannot be recorded.
      Deno.removeSync(`${root}/b/cluster/events.p`);
      Deno.mkdirSync(`${root}/b/cluster/events.p/x`, { recursive: true });
      await a.fire("tag", map({ n: 1_201 }));
      await told(second, "cannot be recorded");
    }),
});
