/** @module */
import { startProfile } from "#lib/runtime/cpu_profile.ts";
import { ZmqContext } from "#lib/sockets/libzmq.ts";
import { assertEquals } from "#tests/support/assert.ts";
import { eventually } from "#tests/support/eventually.ts";

Deno.test("connections can still be made after the watcher of lost connections is closed", async () => {
  using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  let accepted = 0;
  const accepting = (async () => {
    for await (const connection of listener) {
      accepted++;
      connection.close();
    }
  })();
  const context = ZmqContext.create();
  const socket = context.socket("subscriber");
  const losses = context.socket("pair");
  socket.set("reconnectInterval", 1);
  socket.monitorLosses("inproc://losses");
  losses.connect("inproc://losses");
  socket.connect(`tcp://127.0.0.1:${listener.addr.port}`);
  await eventually(() => losses.readable, { what: "the first loss" });
  socket.endMonitor();
  losses.close();
  const before = accepted;
  const more = () => accepted >= before + 100;
  await eventually(more, { what: "a hundred connections more" });
  socket.close();
  context.terminate();
  listener.close();
  assertEquals(await accepting, undefined);
});

Deno.test("a CPU profile, which interrupts its thread a thousand times a second, loses no message", async () => {
  const context = ZmqContext.create();
  const [pull, push] = [context.socket("pull"), context.socket("push")];
  pull.bind("inproc://profiled");
  push.connect("inproc://profiled");
  const profile = startProfile();
  await profile.started;
  let [sent, received] = [0, 0];
  for (const endMs = performance.now() + 1_000; performance.now() < endMs;) {
    if (push.trySend([new Uint8Array(10)])) sent++;
    while (pull.readable && pull.tryReceive() !== undefined) received++;
  }
  const directory = await Deno.makeTempDir();
  await profile.stop(directory, "libzmq");
  await Deno.remove(directory, { recursive: true });
  push.close();
  pull.close();
  context.terminate();
  assertEquals(received, sent);
});
