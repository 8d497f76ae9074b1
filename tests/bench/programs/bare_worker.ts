/**
 * A thread of bare_proxy.ts: sends back each message.
 * @module
 */

import { Duplex, type SharedPlace } from "#lib/sockets/endpoint.ts";
import { serveThread } from "#lib/runtime/thread.ts";

/** The first message has the address of the proxy's back end. */
serveThread<SharedPlace>((place) => {
  const socket = Duplex.inherited(place, { highWaterMark: 0 });
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
