/** @module */
import { ZmqContext } from "../lib/libzmq.ts";
import { assertEquals } from "./assert.ts";
import { eventually } from "./eventually.ts";

Deno.test("connections are made again and again after whoever heard of their losses has gone", async () => {
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
