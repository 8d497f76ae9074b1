/** @module */
import { ZmqProxy } from "#lib/sockets/proxy.ts";
import { MANY_REQUESTERS } from "#lib/sockets/settings.ts";
import { Duplex, Inbox, Outbox } from "#lib/sockets/endpoint.ts";
import type { Frames } from "#lib/sockets/libzmq.ts";
import { freePort } from "#scripts/fleet/free_port.ts";
import { strictTest } from "#tests/support/strict.ts";
import { assert, assertEquals, assertRejects } from "#tests/support/assert.ts";
import { AT_ONCE_MS } from "#tests/support/time.ts";
import { Peer } from "#tests/support/fleet/peer.ts";

/** Far above the time that these tests need: a lost wake-up fails the test and does not block the run. */
const BOUND_MS = 60_000;

const utf8 = new TextEncoder();
const frame = (text: string) => utf8.encode(text);
const text = (frames: Frames | undefined) => frames?.map((bytes) => new TextDecoder().decode(bytes));

/** Echoes every request until it is closed. */
async function echo(server: Duplex, delayMs: (request: Frames) => number = () => 0): Promise<void> {
  for (;;) {
    const request = await server.receive();
    if (request === undefined) return;
    const delay = delayMs(request);
    if (delay > 0) await new Promise((resolve) => setTimeout(resolve, delay));
    await server.send(request);
  }
}

/**
 * One request and its reply.
 * @throws {Error} If either waits beyond {@linkcode BOUND_MS}: a wake-up was lost.
 */
async function roundTrip(client: Duplex, body: string): Promise<void> {
  assert(await client.send([frame(body)], BOUND_MS), `${body} was not taken`);
  const reply = await client.receive(BOUND_MS);
  assert(reply !== undefined, `the reply to ${body} never woke its reader`);
  assertEquals(text(reply), [body]);
}

strictTest(
  "a socket that reads and sends a little at a time carries large and small messages whole, in their order",
  async () => {
    using server = Peer.router(MANY_REQUESTERS);
    await server.bind("tcp://127.0.0.1:0");
    const serving = echo(server);
    using client = Peer.dealer();
    client.connect(server.address);
    const sizes = [0, 1, 1_000, 1_023, 1_024, 1_025, 5_000, 1_000_000, 3];
    for (const [i, size] of sizes.entries()) assert(await client.send([new Uint8Array(size).fill(i)], BOUND_MS));
    for (const [i, size] of sizes.entries()) {
      const [body] = await client.receive(BOUND_MS) ?? [];
      assertEquals([body?.length, body?.every((byte) => byte === i)], [size, true]);
    }
    server.close();
    await serving;
  },
);

for (const address of ["tcp://127.0.0.1:0", "ipc"]) {
  strictTest(`no wake-up is lost in thousands of round trips of several sockets over ${address}`, async () => {
    const dir = Deno.makeTempDirSync({ prefix: "sockets_" });
    using server = Peer.router();
    await server.bind(address === "ipc" ? `ipc://${dir}/server.ipc` : address);
    const serving = echo(server);
    const clients = Array.from({ length: 6 }, () => Duplex.request());
    try {
      await Promise.all(clients.map(async (client, i) => {
        client.connect(server.address);
        for (let n = 0; n < 500; n++) await roundTrip(client, `${i}:${n}`);
      }));
    } finally {
      for (const client of clients) client.close();
      server.close();
      await serving;
      Deno.removeSync(dir, { recursive: true });
    }
  });
}

strictTest("a new connection for each request loses no wake-up: handshakes wake the descriptor as well", async () => {
  using server = Peer.router();
  await server.bind("tcp://127.0.0.1:0");
  const serving = echo(server);
  for (let n = 0; n < 150; n++) {
    using client = Duplex.request();
    client.connect(server.address);
    await roundTrip(client, `${n}`);
  }
  server.close();
  await serving;
});

strictTest("slow peers: replies that come late, in any order, wake their readers", async () => {
  using server = Peer.router();
  await server.bind("tcp://127.0.0.1:0");
  const replying = new Set<Promise<void>>();
  const serving = (async () => {
    for (;;) {
      const request = await server.receive();
      if (request === undefined) return;
      const late = new Promise((resolve) => setTimeout(resolve, Number(text(request)?.at(-1)) % 40));
      const reply = late.then(() => server.send(request)).then(() => void replying.delete(reply));
      replying.add(reply);
    }
  })();
  const clients = Array.from({ length: 8 }, () => Duplex.request());
  await Promise.all(clients.map(async (client, i) => {
    client.connect(server.address);
    for (let n = 0; n < 20; n++) await roundTrip(client, `${i * 7 + n * 13}`);
  }));
  for (const client of clients) client.close();
  await Promise.all(replying);
  server.close();
  await serving;
});

strictTest("a peer that comes later is waited for, and one that comes back is found again", async () => {
  const dir = Deno.makeTempDirSync({ prefix: "sockets_" });
  const address = `ipc://${dir}/late.ipc`;
  using client = Peer.dealer({ reconnectMs: 10 });
  client.connect(address);
  const early = client.send([new Uint8Array(), frame("first")], BOUND_MS);
  for (const body of ["first", "second"]) {
    using server = Peer.router();
    await server.bind(address);
    const serving = echo(server);
    if (body === "first") {
      assert(await early);
      assertEquals(text(await client.receive(BOUND_MS)), ["", body]);
    } else {
      // Messages sent before the loss was detected are lost with the connection.
      let reply: Frames | undefined;
      for (let n = 0; n < 50 && reply === undefined; n++) {
        assert(await client.send([new Uint8Array(), frame(body)], BOUND_MS));
        reply = await client.receive(200);
      }
      assertEquals(text(reply), ["", body]);
    }
    server.close();
    await serving;
  }
  Deno.removeSync(dir, { recursive: true });
});

strictTest("close() ends every wait at once, with undefined", async () => {
  const sockets = [
    Duplex.request(),
    Peer.dealer(),
    Peer.router(),
    Inbox.pull(),
    Inbox.subscriber(),
  ];
  const sender = Outbox.push();
  sender.connect("tcp://127.0.0.1:1");
  const waits = [...sockets.map((socket) => socket.receive()), ...sockets.map((socket) => socket.receive(60_000))];
  const sending = Outbox.push();
  const unsent = sending.send([frame("nobody takes it")]);
  await new Promise((resolve) => setTimeout(resolve, 20)); // let the threads block
  const start = performance.now();
  for (const socket of [...sockets, sender, sending]) {
    socket.close();
    socket.close();
    assert(socket.closed);
  }
  assertEquals(await Promise.all(waits), waits.map(() => undefined));
  assertEquals(await unsent, false);
  assert(performance.now() - start < AT_ONCE_MS, "close() was waited for");
  for (const socket of sockets) assertEquals(await socket.receive(), undefined);
  assertEquals(await sending.send([frame("late")]), false);
});

strictTest("time-outs are kept: not early, not late, and 0 only looks", async () => {
  using inbox = Inbox.pull();
  await inbox.bind("tcp://127.0.0.1:0");
  for (const timeoutMs of [0, 1, 30, 100]) {
    const start = performance.now();
    assertEquals(await inbox.receive(timeoutMs), undefined);
    const took = performance.now() - start;
    assert(took >= timeoutMs - 1 && took < timeoutMs + AT_ONCE_MS, `${took} ms for ${timeoutMs}`);
  }
  using outbox = Outbox.push();
  assertEquals(await outbox.send([frame("x")], 20), false);
  outbox.connect(inbox.address);
  assert(await outbox.send([frame("x")], BOUND_MS));
  assertEquals(text(await inbox.receive(BOUND_MS)), ["x"]);
});

strictTest("two readers of one socket get each message once", async () => {
  using inbox = Inbox.pull();
  await inbox.bind("tcp://127.0.0.1:0");
  using outbox = Outbox.push();
  outbox.connect(inbox.address);
  const readers = [1, 2].map(async () => {
    const got: string[] = [];
    for (;;) {
      const message = text(await inbox.receive(BOUND_MS))?.[0];
      if (message === undefined || message === "end") return got;
      got.push(message);
    }
  });
  const expected = Array.from({ length: 300 }, (_, i) => `${i}`);
  for (const message of [...expected, "end", "end"]) assert(await outbox.send([frame(message)], BOUND_MS));
  const got = (await Promise.all(readers)).flat();
  assertEquals(got.sort((a, b) => Number(a) - Number(b)), expected);
});

strictTest("sends at once are all taken, in order", async () => {
  using inbox = Inbox.pull({ highWaterMark: 0 });
  await inbox.bind("tcp://127.0.0.1:0");
  using outbox = Outbox.push({ highWaterMark: 0 });
  outbox.connect(inbox.address);
  const messages = Array.from({ length: 500 }, (_, i) => `${i}`);
  const taken = await Promise.all(messages.map((message) => outbox.send([frame(message)], BOUND_MS)));
  assert(taken.every(Boolean));
  const got: (string | undefined)[] = [];
  while (got.length < messages.length) got.push(text(await inbox.receive(BOUND_MS))?.[0]);
  assertEquals(got, messages);
});

strictTest("a full queue makes a sender wait until its peer reads", async () => {
  const dir = Deno.makeTempDirSync({ prefix: "sockets_" });
  using inbox = Inbox.pull({ highWaterMark: 1 });
  await inbox.bind(`ipc://${dir}/full.ipc`);
  using outbox = Outbox.push({ highWaterMark: 1 });
  outbox.connect(inbox.address);
  const big = new Uint8Array(1 << 20);
  let sent = await outbox.send([big], BOUND_MS) ? 1 : 0;
  while (sent < 100 && await outbox.send([big], 200)) sent++;
  assert(sent > 0 && sent < 100, `${sent} messages of 1 MiB were taken`);
  const waiting = outbox.send([frame("last")], BOUND_MS);
  for (let n = 0; n < sent; n++) assertEquals((await inbox.receive(BOUND_MS))?.[0].length, big.length);
  assert(await waiting);
  assertEquals(text(await inbox.receive(BOUND_MS)), ["last"]);
  Deno.removeSync(dir, { recursive: true });
});

strictTest("a frame above maxFrameBytes ends the connection, and nothing of it arrives", async () => {
  using server = Peer.router({ maxFrameBytes: 1000 });
  await server.bind("tcp://127.0.0.1:0");
  using client = Peer.dealer({ reconnectMs: 10 });
  client.connect(server.address);
  assert(await client.send([new Uint8Array(1001)], BOUND_MS));
  assertEquals(await server.receive(200), undefined);
  using other = Peer.dealer();
  other.connect(server.address);
  assert(await other.send([new Uint8Array(1000)], BOUND_MS));
  assertEquals((await server.receive(BOUND_MS))?.[1].length, 1000);
});

strictTest("an address that is taken is an error, for a socket and for a forwarder", async () => {
  using first = Peer.router();
  await first.bind("tcp://127.0.0.1:0");
  using second = Peer.router();
  await assertRejects(() => second.bind(first.address), Error);
  const forwarder = ZmqProxy.requests({}, {});
  await assertRejects(() => forwarder.start({ front: "tcp://127.0.0.1:0", back: first.address }), Error);
  await forwarder.close();
});

strictTest("a proxy distributes requests to workers and returns the replies", async () => {
  const dir = Deno.makeTempDirSync({ prefix: "sockets_" });
  const forwarder = ZmqProxy.requests({}, { highWaterMark: 10 });
  const { front, back } = await forwarder.start({ front: "tcp://127.0.0.1:0", back: `ipc://${dir}/workers.ipc` });
  const workers = [1, 2, 3].map(() => Peer.dealer({ highWaterMark: 1 }));
  for (const worker of workers) worker.connect(back);
  const served = workers.map((worker) => echo(worker));
  const clients = Array.from({ length: 10 }, () => Duplex.request());
  await Promise.all(clients.map(async (client, i) => {
    client.connect(front);
    for (let n = 0; n < 50; n++) await roundTrip(client, `${i}:${n}`);
  }));
  for (const socket of [...clients, ...workers]) socket.close();
  await Promise.all(served);
  await forwarder.close();
  await forwarder.close();
  Deno.removeSync(dir, { recursive: true });
});

strictTest("hundreds of requests, more than Deno has threads, wait for a worker and are all answered", async () => {
  const dir = Deno.makeTempDirSync({ prefix: "sockets_" });
  const forwarder = ZmqProxy.requests({}, { highWaterMark: 0 });
  const { front, back } = await forwarder.start({ front: "tcp://127.0.0.1:0", back: `ipc://${dir}/workers.ipc` });
  const workers = [1, 2].map(() => Peer.dealer({ highWaterMark: 0 }));
  workers[0].connect(back); // it gets as much as it can buffer, and reads nothing yet
  const clients = Array.from({ length: 200 }, () => Duplex.request());
  const asking = clients.map(async (client, i) => {
    client.connect(front);
    for (let n = 0; n < 3; n++) await roundTrip(client, `${i}:${n} ${"x".repeat(5_000)}`);
  });
  await new Promise((resolve) => setTimeout(resolve, 100));
  workers[1].connect(back);
  // All waits block, and files can still be read: Deno uses the same threads for that.
  await Deno.readTextFile(new URL(import.meta.url));
  const served = workers.map((worker) => echo(worker));
  await Promise.all(asking);
  for (const socket of [...clients, ...workers]) socket.close();
  await Promise.all(served);
  await forwarder.close();
  Deno.removeSync(dir, { recursive: true });
});

strictTest("each lost connection of a subscriber is reported, also one that is lost while nothing waits", async () => {
  const address = `tcp://127.0.0.1:${freePort()}`;
  const first = Duplex.xpub();
  await first.bind(address);
  using inbox = Inbox.subscriber({ reconnectMs: 20 });
  let losses = 0;
  let lost = Promise.withResolvers<void>();
  inbox.onLost(() => {
    losses++;
    lost.resolve();
  });
  inbox.subscribe("");
  inbox.connect(address);
  const arrived = async (outbox: Duplex) => {
    while (await inbox.receive(20) === undefined) await outbox.send([frame("hello")]);
  };
  await arrived(first);
  // No receive is pending, and the loss arrives together with a message.
  await first.send([frame("last")]);
  first.close();
  await lost.promise;
  const next = async () => text(await inbox.receive(BOUND_MS))?.[0];
  for (let message = await next(); message !== "last"; message = await next()) {
    assert(message !== undefined, "the last message is lost");
  }

  using second = Duplex.xpub();
  await second.bind(address);
  await arrived(second);
  // Events of failed tries may still be pending.
  let before = -1;
  while (losses > before) {
    before = losses;
    for (let n = 0; n < 5; n++) await arrived(second);
  }
  lost = Promise.withResolvers();
  await arrived(second);
  assertEquals(losses, before, "a connection that holds is no loss");
  second.close();
  await lost.promise;
});

strictTest("a connection of a subscriber that cannot be made is reported", async () => {
  using inbox = Inbox.subscriber({ reconnectMs: 20 });
  const lost = Promise.withResolvers<void>();
  inbox.onLost(lost.resolve);
  inbox.connect("tcp://127.0.0.1:1"); // no process listens there
  await lost.promise;
});

Deno.test("keep-alive is on, with the configured idle time", { ignore: Deno.build.os !== "linux" }, async () => {
  for (const on of [true, false]) {
    // A separate server: an earlier connection to the shared one may still exist.
    using server = Peer.router();
    await server.bind("tcp://127.0.0.1:0");
    const port = Number(server.address.split(":").at(-1));
    const serving = echo(server);
    using client = Duplex.request({ keepalive: { on, idleS: 7_777, count: 3, intervalS: 11 } });
    client.connect(server.address);
    await roundTrip(client, "x");
    // proc_net_tcp(5): remote address, state 01, queues, and the timer: 02 is keep-alive, then the remaining jiffies.
    const row = new RegExp(`:${port.toString(16).toUpperCase().padStart(4, "0")} 01 \\S+ (\\d\\d):([0-9A-F]+) `);
    const remote = Deno.readTextFileSync("/proc/net/tcp").split("\n").find((line) => row.test(line));
    const [, timer, jiffies] = row.exec(remote ?? "") ?? [];
    assertEquals(timer, on ? "02" : "00", remote);
    if (on) assert(Math.abs(parseInt(jiffies, 16) / 100 - 7_777) < 100, `${jiffies} jiffies`);
    server.close();
    await serving;
  }
});
