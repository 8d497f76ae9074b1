/**
 * The option `master`: how entries are read, and in which order masters are tried.
 * @module
 */

import { masterName, masterText, orderMasters, type OrderOpts, readMasterEntries } from "#lib/config/master_entries.ts";
import { assertEquals } from "#tests/support/assert.ts";

const OPTS = { master_port: 4506, master_uri_format: "default" } as const;

Deno.test("entries are read with their own ports, each once, and a broken one is named", () => {
  const { entries, problems } = readMasterEntries(
    ["a:1", "b", "[::1]:2", "fe80::1", "a:1", "c:x", "_salt._tcp.d.e"],
    OPTS,
  );
  assertEquals(entries.map(masterName), ["a:1", "b:4506", "[::1]:2", "[fe80::1]:4506", "_salt._tcp.d.e:4506"]);
  assertEquals(problems, ['"x" in "c:x" is no port']);
  const texts = entries.map(masterText);
  assertEquals(texts.at(-1), "_salt._tcp.d.e");
  assertEquals(readMasterEntries(texts, { ...OPTS, master_port: 9 }).entries.slice(0, 4), entries.slice(0, 4));
});

Deno.test("addresses alone: no port is looked for", () => {
  const { entries } = readMasterEntries(["::1", "10.0.0.1"], { ...OPTS, master_uri_format: "ip_only" });
  assertEquals(entries.map(masterName), ["[::1]:4506", "10.0.0.1:4506"]);
});

const ORDER: OrderOpts = {
  id: "web1",
  master_type: "failover",
  random_master: false,
  master_shuffle: false,
  master_failback: false,
};

Deno.test("the order of masters", () => {
  const list = ["a", "b", "c", "d"];
  const low = () => 0;
  assertEquals(orderMasters(list, ORDER), list);
  assertEquals(orderMasters(list, { ...ORDER, random_master: true }, low), ["b", "c", "d", "a"]);
  assertEquals(orderMasters(list, { ...ORDER, master_shuffle: true, master_failback: true }, low), [
    "a",
    "c",
    "d",
    "b",
  ]);
  // binascii.crc32(b"web1") is 2678409197, and of b"db3" 1485099741; modulo 3: 2 and 0.
  const distributed = { ...ORDER, master_type: "distributed" } as const;
  assertEquals(orderMasters(["a", "b", "c"], distributed), ["c", "a", "b"]);
  assertEquals(orderMasters(["a", "b", "c"], { ...distributed, id: "db3" }), ["a", "b", "c"]);
});
