/**
 * A name with several addresses: which of them a minion uses.
 * @module
 */

import { lookUpAddresses, MasterAddresses } from "#lib/minion/masters/master_addresses.ts";
import { assertEquals } from "#tests/support/assert.ts";

Deno.test("the next address where a process listens is taken, and stays", async () => {
  using listener = Deno.listen({ hostname: "127.0.0.3", port: 0 });
  const { port } = listener.addr as Deno.NetAddr;
  const lookUp = () => Promise.resolve(["127.0.0.1", "127.0.0.2", "127.0.0.3"]);
  const addresses = new MasterAddresses({ host: "salt", port }, lookUp);
  assertEquals(addresses.address, `tcp://salt:${port}`);
  assertEquals([await addresses.change(), addresses.host], [true, "127.0.0.3"]);
  assertEquals([await addresses.change(), addresses.address], [false, `tcp://127.0.0.3:${port}`]);
  using _first = Deno.listen({ hostname: "127.0.0.1", port });
  assertEquals([await addresses.change(), addresses.host], [true, "127.0.0.1"]);
});

Deno.test("an address, and a name that nobody knows, have no other addresses", async () => {
  for (const host of ["127.0.0.1", "::1", "no-such-host.invalid"]) {
    const addresses = new MasterAddresses({ host, port: 1 });
    assertEquals([await addresses.change(), addresses.host], [false, host]);
  }
  assertEquals((await lookUpAddresses(false)("localhost")).includes("127.0.0.1"), true);
});
