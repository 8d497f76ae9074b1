import { assertEquals } from "#tests/support/assert.ts";
import { ZmqProxy } from "#lib/sockets/proxy.ts";
import { Duplex } from "#lib/sockets/endpoint.ts";
import { Peer } from "#tests/support/fleet/peer.ts";

Deno.test("a ZmqProxy whose workers' queues are full waits, and loses no request", async () => {
  const clients = 60;
  const directory = Deno.makeTempDirSync({ prefix: "forwarder_" });
  const forwarder = ZmqProxy.requests({}, { highWaterMark: 1 });
  const { front, back } = await forwarder.start({ front: "tcp://127.0.0.1:0", back: `ipc://${directory}/back.ipc` });
  // With limits on both sides, replies and requests could wait for each other for ever.
  const worker = Peer.dealer({ highWaterMark: 0 });
  worker.connect(back);
  const sockets = Array.from({ length: clients }, () => Duplex.request());
  try {
    for (const [i, socket] of sockets.entries()) {
      socket.connect(front);
      await socket.send([Uint8Array.of(i)]);
    }
    // Let the proxy fill every queue to a worker that receives nothing yet.
    await sockets[0].receive(200);
    const echo = (async () => {
      for (let frames = await worker.receive(); frames !== undefined; frames = await worker.receive()) {
        await worker.send(frames);
      }
    })();
    const replies = await Promise.all(sockets.slice(1).map((socket) => socket.receive(60_000)));
    assertEquals(replies.map((frames) => frames?.[0][0]), Array.from({ length: clients - 1 }, (_, i) => i + 1));
    worker.close();
    await echo;
  } finally {
    for (const socket of sockets) socket.close();
    worker.close();
    await forwarder.close();
    Deno.removeSync(directory, { recursive: true });
  }
});
