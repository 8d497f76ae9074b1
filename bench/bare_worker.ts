/**
 * A thread of bare_proxy.ts: sends back what comes.
 * @module
 */

import { Duplex } from "../lib/sockets.ts";
import { serveThread } from "../lib/thread.ts";

/** Starts with the address of the proxy's back. */
serveThread<string>((address) => {
  const socket = Duplex.dealer({ highWaterMark: 0 });
  socket.connect(address);
  const running = (async () => {
    for (let frames = await socket.receive(); frames !== undefined; frames = await socket.receive()) {
      await socket.send(frames);
    }
  })();
  return Promise.resolve({
    describe: () => "echoing",
    async close() {
      socket.close();
      await running;
    },
  });
});
