/**
 * Whether ports are reached, by TCP and UDP, with sockets of this test; the comments are Salt's.
 * @module
 */

import { createSocket } from "node:dgram";
import { connectTo } from "#lib/host/network/connecting.ts";
import { systemResolver } from "#lib/host/network/host_names.ts";
import { wakeUp } from "#lib/host/network/wake_up.ts";
import { InvocationError, LibcError } from "#lib/errors.ts";
import { assertEquals, assertThrows } from "#tests/support/assert.ts";

async function tried(host: string, port: string, more: {
  readonly proto?: "tcp" | "udp";
  readonly family?: string;
  readonly timeoutMs?: number;
  readonly signal?: AbortSignal;
} = {}): Promise<[boolean, string]> {
  const { proto = "tcp", family = null, timeoutMs = 2_000, signal = new AbortController().signal } = more;
  const { result, comment } = await connectTo({ host, name: host, port, proto }, { family, timeoutMs, signal });
  return [result, comment];
}

Deno.test("a port that is open is connected to, and a closed one is not", async () => {
  using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const { port } = listener.addr as Deno.NetAddr;
  const there = `(127.0.0.1) on tcp port ${port}`;
  assertEquals(await tried("127.0.0.1", `${port}`), [true, `Successfully connected to 127.0.0.1 ${there}`]);
  assertEquals(await tried("localhost", `${port}`, { family: "ipv4" }), [
    true,
    `Successfully connected to localhost ${there}`,
  ]);
  assertEquals(await tried("127.0.0.1", "1"), [
    false,
    "Unable to connect to 127.0.0.1 (127.0.0.1) on tcp port 1",
  ]);
  // The name of a service: nothing of this test listens there.
  const [, comment] = await tried("127.0.0.1", "tcpmux", { timeoutMs: 50 });
  assertEquals(comment, "Unable to connect to 127.0.0.1 (127.0.0.1) on tcp port tcpmux");
});

Deno.test("what is no port of the protocol, or no host, cannot be resolved", async () => {
  for (
    const [host, port, proto] of [
      ["127.0.0.1", "no_such_service", "tcp"],
      ["127.0.0.1", "65536", "tcp"],
      ["127.0.0.1", "-1", "udp"],
      ["127.0.0.1", "ssh", "udp"], // of TCP alone
      ["no such host", "22", "tcp"],
    ] as const
  ) {
    const comment = `Unable to resolve host ${host} on ${proto} port ${port}`;
    assertEquals(await tried(host, port, { proto }), [false, comment]);
  }
});

Deno.test("a datagram must be answered, within the time and as long as the job runs", async () => {
  const server = createSocket("udp4");
  server.on("message", (_text, { port, address }) => server.send("yes", port, address));
  const silent = createSocket("udp4");
  for (const one of [server, silent]) await new Promise<void>((done) => one.bind(0, "127.0.0.1", done));
  try {
    const [open, quiet] = [server, silent].map((one) => `${one.address().port}`);
    const proto = "udp";
    assertEquals(await tried("127.0.0.1", open, { proto }), [
      true,
      `Successfully connected to 127.0.0.1 (127.0.0.1) on udp port ${open}`,
    ]);
    const unable = [false, `Unable to connect to 127.0.0.1 (127.0.0.1) on udp port ${quiet}`];
    assertEquals(await tried("127.0.0.1", quiet, { proto, timeoutMs: 20 }), unable);
    const job = new AbortController();
    const waiting = tried("127.0.0.1", quiet, { proto, timeoutMs: 60_000, signal: job.signal });
    silent.once("message", () => job.abort());
    assertEquals(await waiting, unable);
    // No socket may send there without a right of its own.
    assertEquals((await tried("255.255.255.255", "9", { proto }))[0], false);
  } finally {
    for (const one of [server, silent]) one.close();
  }
});

Deno.test("the resolver of this host knows it by name and by address", async () => {
  const { address, name } = await systemResolver();
  const own = await address("localhost");
  assertEquals([...new Set([own, "127.0.0.1", "::1"])].length, 2);
  assertEquals((await name("127.0.0.1")).length > 0, true);
});

Deno.test("a host is not woken up through a port, an address or a hardware address that is none", () => {
  const mac = "08:00:27:13:69:77";
  for (const port of [-1, 65_536, 1.5, NaN]) {
    assertThrows(() => wakeUp(mac, "127.0.0.1", port), InvocationError, `destport must be a port, not ${port}`);
  }
  for (const bcast of ["localhost", "1.2.3", "1.2.3.256", "::1"]) {
    assertThrows(() => wakeUp(mac, bcast, 9), InvocationError, `bcast: ${bcast} is no IPv4 address`);
  }
  assertThrows(() => wakeUp("08:00", "127.0.0.1", 9), InvocationError);
  // The system itself refuses.
  assertThrows(() => wakeUp(mac, "127.0.0.1", 0), LibcError, "sendto");
});
