/**
 * A test that fails when it leaves an operation or a resource behind, which Deno no longer checks by default.
 * @module
 */

import { ReadWait } from "../../lib/libc/libc.ts";
import { epollCalls } from "../../lib/libc/epoll.ts";
import { ZmqContext } from "../../lib/sockets/libzmq.ts";

/** So many calls that each function that is called often has been compiled, for which its library is opened once more. */
const MANY_CALLS = 100;

// The C library and libzmq stay open once they are used: not by the first test.
new ReadWait(0).close();
callEpoll(epollCalls(16, 1));
callLibzmq();

function callEpoll(calls: ReturnType<typeof epollCalls>): void {
  if (calls === undefined) return;
  const [epoll, event] = [calls.create(), calls.createEvent()];
  for (let i = 0; i < MANY_CALLS; i++) {
    calls.setEvent(event);
    calls.resetEvent(event);
    calls.control(epoll, i % 2 === 0 ? 1 : 2, event, new Uint8Array(16)); // added and removed
  }
  calls.close(event);
  calls.close(epoll);
}

function callLibzmq(): void {
  const context = ZmqContext.create();
  const [receiver, sender] = [context.socket("pair"), context.socket("pair")];
  receiver.bind("inproc://strict");
  sender.connect("inproc://strict");
  // A message so large that its memory is given back at once.
  const large = new Uint8Array(1 << 16);
  for (let i = 0; i < MANY_CALLS; i++) {
    if (!sender.trySend([large]) || receiver.tryReceive() === undefined) throw new Error("a message is lost");
    if (receiver.readable || receiver.tryReceive() !== undefined) throw new Error("a message comes twice");
  }
  receiver.close();
  sender.close();
  context.terminate();
}

/** As `Deno.test(name, run)`, with the sanitizers on. */
export function strictTest(name: string, run: (t: Deno.TestContext) => void | Promise<void>): void {
  Deno.test({ name, fn: run, sanitizeOps: true, sanitizeResources: true });
}
