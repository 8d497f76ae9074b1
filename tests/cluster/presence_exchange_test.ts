/**
 * Presence across masters over a real database.
 * @module
 */

import { PresenceExchange } from "#lib/cluster/presence_exchange.ts";
import { readPeersPresence } from "#lib/fleet/presence_file.ts";
import { encode } from "#lib/values/msgpack.ts";
import { map } from "#lib/values/value.ts";
import { assertEquals } from "#tests/support/assert.ts";
import { serverProgram } from "#tests/support/database_servers.ts";
import { eventually } from "#tests/support/eventually.ts";
import { withTemporaryDirectory } from "#tests/support/temporary_directory.ts";
import { type ClusterPlace, startClusterPlace } from "./cluster_place.ts";

const missing = serverProgram("postgres") === undefined;
const named = (what: string) => missing ? `${what} (skipped: there is no postgres)` : what;

/** A master with these connections. */
async function open(place: ClusterPlace, origin: number, cachedir: string, roundMs = 600_000) {
  const { database, log, lines } = await place.member(origin);
  const peers = [1, 2, 3].filter((one) => one !== origin).map((one) => [one, `master-${one}`] as const);
  database.setPeers(new Map(peers));
  // So that the database is seen to go away.
  database.follow("p", () => Promise.resolve());
  const own = new Map<string, number>();
  const exchange = new PresenceExchange({ database, cachedir, log, own: () => own, roundMs });
  await exchange.open();
  const known = () => [...readPeersPresence(cachedir).present.keys()].sort();
  return { database, own, exchange, known, cachedir, lines };
}

Deno.test({
  name: named("the minions of other masters are known, until they are lost, or their master is"),
  ignore: missing,
  fn: () =>
    withTemporaryDirectory(async (root) => {
      await using place = await startClusterPlace();
      const a = await open(place, 1, `${root}/a`);
      a.own.set("web1", 1_000).set("web2", 2_000);
      a.exchange.noteOwn();
      await eventually(async () => {
        await place.server.sql(`do $$ begin assert (select count(*) from salt.presence) = 2; end $$`);
        return true;
      }, { what: "the rows" });
      const b = await open(place, 2, `${root}/b`);
      await eventually(() => b.known().length === 2, { what: "the minions of the first" });
      b.exchange.noteForeign("master-1", encode(map({ new: ["web3"], lost: ["web1"] }), "disk"));
      b.exchange.noteForeign("master-3", encode(map({ new: [], lost: ["web2"] }), "disk"));
      await eventually(() => b.known().join() === "web2,web3", { what: "those of the events" });
      b.database.setPeers(new Map());
      await eventually(() => b.known().length === 0, { what: "the first is gone" });
      b.database.setPeers(new Map([[1, "master-1"]]));
      await eventually(() => b.known().length === 2, { what: "the first is back" });
      await place.server.crash();
      await eventually(() => readPeersPresence(b.cachedir).away, { what: "the database is away" });
      b.database.setPeers(new Map());
      // What was known before stands.
      assertEquals(b.known(), ["web2", "web3"]);
      await place.server.restart();
      for (const { exchange } of [a, b]) await exchange.close();
    }),
});

Deno.test({
  name: named(
    "a minion that has moved is its new master's, whatever the old one writes late; one of both is told by the other",
  ),
  ignore: missing,
  fn: () =>
    withTemporaryDirectory(async (root) => {
      await using place = await startClusterPlace();
      const a = await open(place, 1, `${root}/a`, 500), b = await open(place, 2, `${root}/b`, 500);
      const origins = async (expected: string) =>
        await eventually(async () => {
          await place.server.sql(
            `do $$ begin assert (select coalesce(string_agg(minion || origin, ' ' order by minion), '')
            from salt.presence) = '${expected}'; end $$`,
          );
          return true;
        }, { what: expected });
      b.own.set("web1", 2_000).set("web2", 2_000);
      b.exchange.noteOwn();
      await origins("web12 web22");
      a.own.set("web1", 1_000).set("web2", 3_000);
      a.exchange.noteOwn();
      await origins("web12 web21");
      // It is connected to both, and leaves the one that has the row.
      b.own.delete("web1");
      b.exchange.noteOwn();
      await origins("web11 web21");
      await a.exchange.close();
      await origins("web22");
      await b.exchange.close();
    }),
});

Deno.test({
  name: named("a minion of this master whose row was another's is written again when the other loses it"),
  ignore: missing,
  fn: () =>
    withTemporaryDirectory(async (root) => {
      await using place = await startClusterPlace();
      const a = await open(place, 1, `${root}/a`);
      const rows = (expected: string) =>
        eventually(async () => {
          await place.server.sql(
            `do $$ begin assert (select coalesce(string_agg(minion || origin, ' ' order by minion), '')
            from salt.presence) = '${expected}'; end $$`,
          );
          return true;
        }, { what: `the rows ${expected}` });
      a.own.set("web1", 1_000).set("web2", 1_000);
      a.exchange.noteOwn();
      await rows("web11 web21");
      // As if it had connected to the second as well, and left it: each time the row was the second's.
      await place.server.sql(`delete from salt.presence`);
      a.exchange.noteForeign("master-2", encode(map({ new: [], lost: ["web1"] }), "disk"));
      await rows("web11");
      await a.exchange.close();
      await rows("");
    }),
});

Deno.test({
  name: named(
    "what the database refuses, an event of no map and a file that cannot be written are told, and mend themselves",
  ),
  ignore: missing,
  fn: () =>
    withTemporaryDirectory(async (root) => {
      await using place = await startClusterPlace();
      const a = await open(place, 1, `${root}/a`, 300), b = await open(place, 2, `${root}/b`, 300);
      const told = (text: string) => eventually(() => a.lines.some((line) => line.includes(text)), { what: text });
      a.exchange.noteForeign("master-2", encode([1], "disk"));
      assertEquals(a.known(), []);
      await place.server.sql(`alter table salt.presence rename to gone`);
      a.own.set("web1", 1_000);
      a.exchange.noteOwn();
      await told("Which minions are connected here is not told to other masters");
      await told("Which minions are connected to other masters cannot be read");
      await place.server.sql(`alter table salt.gone rename to presence`);
      await eventually(() => b.known().join() === "web1", { what: "the minion, at the other master" });
      const path = `${root}/a/presence_peers.p`;
      Deno.removeSync(path);
      Deno.mkdirSync(`${path}/x`, { recursive: true });
      b.own.set("web2", 2_000);
      b.exchange.noteOwn();
      await told("The file of the minions of other masters cannot be written");
      Deno.removeSync(path, { recursive: true });
      b.own.set("web3", 2_000);
      b.exchange.noteOwn();
      await eventually(() => a.known().join() === "web2,web3", { what: "the minions of the other master" });
      for (const { exchange } of [a, b]) await exchange.close();
    }),
});
