/**
 * Measures the shortest possible time of a command over ZeroMQ: a Deno program that sends one request and gets its
 * reply.
 * @module
 */

import { Duplex } from "#lib/sockets/endpoint.ts";
import { run } from "#tests/bench/harness/processes.ts";
import { benchCommand } from "#tests/bench/harness/sides.ts";
import { Peer } from "#tests/support/fleet/peer.ts";

/**
 * Runs one whole process, with an echo server in this process.
 * @returns Milliseconds.
 */
export async function bareRoundTrip(): Promise<number> {
  using echo = Peer.router();
  await echo.bind("tcp://127.0.0.1:0");
  void (async () => {
    for (let frames = await echo.receive(); frames !== undefined; frames = await echo.receive()) {
      await echo.send(frames);
    }
  })();
  return (await run([...benchCommand("programs/bare_round_trip.ts"), echo.address])).ms;
}

if (import.meta.main) {
  using socket = Duplex.request();
  socket.connect(Deno.args[0]);
  await socket.send([new Uint8Array(200)]);
  await socket.receive();
  Deno.exit(0);
}
