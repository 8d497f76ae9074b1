/**
 * The thread of tests/runtime/thread_lease_test.ts: uses all its libzmq objects after its lease was revoked, and
 * reports the results.
 * @module
 */

import { waitForDescriptor } from "#lib/sockets/epoll.ts";
import { ThreadReplacedError } from "#lib/errors.ts";
import { ZmqContext, ZmqSocket } from "#lib/sockets/libzmq.ts";
import { Inbox, Outbox } from "#lib/sockets/endpoint.ts";
import { serveThread, surviveErrors } from "#lib/runtime/thread.ts";
import { revokeLease } from "#lib/runtime/thread_lease.ts";
import { keepNotes, ThreadNotes, WAIT_NOTES } from "#lib/runtime/thread_notes.ts";
import { Peer } from "#tests/support/fleet/peer.ts";

/** The result of each use: "refused", the returned value, or another error. */
export type Uses = Readonly<Record<string, string>>;

serveThread<SharedArrayBuffer>(async (memory, { post, log }) => {
  surviveErrors(log);
  keepNotes(memory);
  const context = ZmqContext.create();
  const [socket, other] = [context.socket("pair"), context.socket("pair")];
  socket.bind("inproc://replaced");
  other.connect("inproc://replaced");
  other.trySend([new Uint8Array(1)]);
  const [inbox, outbox, dealer] = [Inbox.pull(), Outbox.push(), Peer.dealer()];
  await inbox.bind("inproc://inbox");
  outbox.connect("inproc://inbox");
  const wait = waitForDescriptor(other.descriptor);
  const receiving = inbox.receive();
  const notes = new ThreadNotes(memory);
  while (notes.wait[WAIT_NOTES.waiting] === 0n) await new Promise((resolve) => setTimeout(resolve, 1));

  revokeLease(notes.lease);
  const uses: Record<string, string> = {};
  const use = async (name: string, run: () => unknown) => {
    try {
      uses[name] = `gave ${await run()}`;
    } catch (error) {
      uses[name] = error instanceof ThreadReplacedError ? "refused" : String(error);
    }
  };
  const args: Record<string, unknown[]> = {
    set: ["linger", 0],
    bind: ["inproc://more"],
    connect: ["inproc://replaced"],
    monitorLosses: ["inproc://losses"],
    monitorConnections: [other],
    trySend: [[new Uint8Array(1)]],
    socket: ["pair"],
  };
  for (const target of [socket, context]) {
    const prototype = Object.getPrototypeOf(target);
    for (const [name, { get, value }] of Object.entries(Object.getOwnPropertyDescriptors(prototype))) {
      if (name === "constructor" || name === "address") continue; // libzmq is not called for this
      await use(`${target instanceof ZmqSocket ? "socket" : "context"}.${name}`, () => {
        return get === undefined ? value.apply(target, args[name] ?? []) : get.call(target);
      });
    }
  }
  await use("inbox.receive", () => inbox.receive(0));
  await use("outbox.send", () => outbox.send([new Uint8Array(1)]));
  await use("dealer.connect", () => dealer.connect("inproc://inbox"));
  await use("dealer.close", () => dealer.close());
  await use("a new socket", () => Peer.dealer());
  await use("a new wait", () => waitForDescriptor(0));
  await use("wait.wait", () => wait.wait(0));
  await use("wait.close", () => wait.close());
  receiving.catch(() => {}); // it waits for ever: no code polls its socket any more
  post(uses);
  return { describe: () => "replaced", close: () => Promise.resolve() };
});
