/**
 * Measures the upper limit for a master on this runtime: requests through libzmq's own proxy to workers that only send
 * them back.
 *
 * It uses the same sockets as a master's port 4506 with its MWorkers, and the same sizes of request and reply, but does
 * no work.
 * @module
 */

import { SILENT_LOGGER } from "#lib/runtime/log.ts";
import { ZmqProxy } from "#lib/sockets/proxy.ts";
import { Duplex, type SharedPlace } from "#lib/sockets/endpoint.ts";
import { Thread } from "#lib/runtime/thread.ts";
import { run } from "#tests/bench/harness/processes.ts";
import { benchCommand } from "#tests/bench/harness/sides.ts";

const WORKERS = 5;
/** Size of an incoming return, in bytes. */
const REQUEST_BYTES = 700;
/** Number of requests that each client sends, one after the other. */
const ROUNDS = 10;

/** Requests a second from `clients` at once. */
export async function bareProxy(clients: number): Promise<number> {
  const { out } = await run([...benchCommand("programs/bare_proxy.ts"), "serve", String(clients)]);
  return Number(out);
}

async function serve(clients: number): Promise<void> {
  const forwarder = ZmqProxy.requests({ highWaterMark: 0 }, { highWaterMark: 0 });
  const address = "inproc://workers";
  const { front } = await forwarder.start({ front: "tcp://127.0.0.1:0", back: address });
  const init: SharedPlace = { context: forwarder.context, address };
  const url = new URL("bare_worker.ts", import.meta.url);
  const workers = Array.from(
    { length: WORKERS },
    (_, i) => new Thread({ name: `echo-${i}`, url, init, log: SILENT_LOGGER }),
  );
  await Promise.all(workers.map(({ ready }) => ready));
  const { out } = await run([...benchCommand("programs/bare_proxy.ts"), "ask", front, String(clients)]);
  Deno.stdout.writeSync(new TextEncoder().encode(out));
  Deno.exit(0);
}

async function ask(address: string, clients: number): Promise<number> {
  const request = [new Uint8Array(REQUEST_BYTES)];
  const sockets = Array.from({ length: clients }, () => {
    const socket = Duplex.request();
    socket.connect(address);
    return socket;
  });
  const round = async (socket: Duplex) => {
    await socket.send(request);
    if (await socket.receive(30_000) === undefined) throw new Error("no reply in 30 s");
  };
  await Promise.all(sockets.map(round));
  const started = performance.now();
  await Promise.all(sockets.map(async (socket) => {
    for (let i = 0; i < ROUNDS; i++) await round(socket);
  }));
  return clients * ROUNDS / (performance.now() - started) * 1000;
}

if (import.meta.main) {
  const [what, ...args] = Deno.args;
  if (what === "serve") await serve(Number(args[0]));
  Deno.stdout.writeSync(new TextEncoder().encode(String(await ask(args[0], Number(args[1])))));
  Deno.exit(0);
}
