/**
 * XPUB sockets that share a port: each has a part of the connections, all subscribers get every message, and one who
 * goes is known to have gone.
 */

import { socketAddress } from "#lib/libc/tcp_ends.ts";
import { SILENT_LOGGER } from "#lib/runtime/log.ts";
import { ConnectionLimiter } from "#lib/sockets/connection_limiter.ts";
import { Subscribed } from "#lib/sockets/connection_memory.ts";
import { Inbox } from "#lib/sockets/endpoint.ts";
import type { ZmqSocket } from "#lib/sockets/libzmq.ts";
import { SharedPort } from "#lib/sockets/shared_port.ts";
import { assert, assertEquals, assertMatch, assertRejects } from "#tests/support/assert.ts";
import { openDescriptors } from "#tests/support/descriptors.ts";
import { eventually } from "#tests/support/eventually.ts";
import { strictTest } from "#tests/support/strict.ts";

const SOCKETS = 8, SUBSCRIBERS = 120;

const linux = Deno.build.os === "linux";
const utf8 = new TextEncoder();
const text = (bytes: Uint8Array) => new TextDecoder().decode(bytes);

// Libraries stay open, and functions that are called often get a caller: all that before a test counts.
{
  using port = new SharedPort({}, 2);
  await port.bind("tcp://127.0.0.1:0");
  for (let calls = 0; calls < 64; calls++) {
    for (const call of ["getsockname", "getpeername"] as const) socketAddress(0, call);
  }
}

function limiter(monitors: readonly ZmqSocket[], total = 1_000): ConnectionLimiter {
  return new ConnectionLimiter(monitors, {
    name: "publish_port",
    limits: { total, perAddress: total },
    memory: { rule: new Subscribed(), max: 0, name: "memory" },
    log: SILENT_LOGGER,
  });
}

/** Subscribers with a topic of their own, and that of all. */
function subscribers(port: SharedPort, count: number, host = "127.0.0.1", own = "one"): Inbox[] {
  return Array.from({ length: count }, (_, index) => {
    const inbox = Inbox.subscriber({ ipv6: host.includes(":") });
    inbox.subscribe("all");
    inbox.subscribe(`${own}/${index}`);
    inbox.connect(`tcp://${host}:${port.port}`);
    return inbox;
  });
}

strictTest("sockets that share a port: each has connections, and every subscriber gets what is sent", async () => {
  const descriptors = openDescriptors();
  const port = new SharedPort({ highWaterMark: 0 }, SOCKETS);
  assertEquals(port.count, linux ? SOCKETS : 1);
  const limiters = port.connections().map((monitor) => limiter([monitor]));
  await port.bind("tcp://127.0.0.1:0");
  const come = new Set<string>(), gone = new Set<string>();
  const reading = port.receive((frame) => void (frame[0] === 1 ? come : gone).add(text(frame.subarray(1))));
  const peers = subscribers(port, SUBSCRIBERS);
  await eventually(() => come.size === SUBSCRIBERS + 1, { what: "all subscriptions" });
  const sizesNow = () => limiters.map(({ size }) => size);
  const isAll = (sizes: readonly number[]) => sizes.reduce((sum, size) => sum + size) === SUBSCRIBERS;
  // A limiter is told of a connection a moment later than its socket.
  const sizes = await eventually(() => isAll(sizesNow()) && sizesNow(), { what: "as many connections" });
  // The system chooses by a hash of the peer's port: one socket of eight with none of 120 is one case in a million.
  assert(sizes.every((size) => size > 0), `connections of each socket: ${sizes}`);
  await port.send([utf8.encode("all: a job")]);
  for (const peer of peers) assertEquals((await peer.receive(5_000))?.map(text), ["all: a job"]);
  await port.send([utf8.encode("one/7"), utf8.encode("a job for one")]);
  assertEquals((await peers[7].receive(5_000))?.map(text), ["one/7", "a job for one"]);
  assertEquals(await peers[6].receive(20), undefined);
  peers.splice(0, 60).forEach((peer) => peer.close());
  await eventually(() => gone.size === 60, { what: "those who went" });
  assertEquals([...gone].toSorted(), Array.from({ length: 60 }, (_, index) => `one/${index}`).toSorted());
  for (const peer of peers) peer.close();
  for (const one of limiters) one.close();
  port.close();
  port.close();
  await reading;
  await eventually(() => openDescriptors() <= descriptors, { what: "the end of all descriptors" });
});

strictTest("sockets that share a port have one limit for connections", async () => {
  using port = new SharedPort({}, SOCKETS);
  const limits = limiter(port.connections(), 10);
  await port.bind("tcp://127.0.0.1:0");
  const peers = subscribers(port, 40);
  const reading = port.receive(() => {});
  await eventually(() => limits.size === 10, { what: "as many connections as are allowed" });
  for (const peer of peers) peer.close();
  limits.close();
  port.close();
  await reading;
});

strictTest("a port that somebody listens at is refused, also if he shares it", async () => {
  using first = new SharedPort({}, SOCKETS);
  await first.bind("tcp://127.0.0.1:0");
  using second = new SharedPort({}, SOCKETS);
  const error = await assertRejects(() => second.bind(`tcp://127.0.0.1:${first.port}`), Error);
  assertMatch(error.message, /[Aa]ddress already in use/);
});

strictTest("sockets that share a port of IPv6 have subscribers of IPv4 too", async () => {
  using port = new SharedPort({ ipv6: true, highWaterMark: 0 }, SOCKETS);
  await port.bind("tcp://[::]:0");
  const peers = [...subscribers(port, 20), ...subscribers(port, 20, "[::1]", "six")];
  const come = new Set<string>();
  const reading = port.receive((frame) => void come.add(text(frame)));
  await eventually(() => come.size === 41, { what: "all subscriptions" });
  await port.send([utf8.encode("all")]);
  for (const peer of peers) assertEquals((await peer.receive(5_000))?.map(text), ["all"]);
  for (const peer of peers) peer.close();
  port.close();
  await reading;
});
