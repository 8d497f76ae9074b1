/**
 * A test that fails when it leaks an operation or a resource. Deno no longer checks this by default.
 * @module
 */

import { ReadWait } from "#lib/libc/libc.ts";
import { epollCalls } from "#lib/libc/epoll.ts";
import { ZmqContext } from "#lib/sockets/libzmq.ts";

/** Enough calls that V8 compiles each frequently called function. At that moment Deno opens the library once more. */
const MANY_CALLS = 100;

// The C library and libzmq stay open after their first use, so they are used here, before the first test.
new ReadWait(0).close();
callEpoll(epollCalls(16, 1));
callLibzmq();

function callEpoll(calls: ReturnType<typeof epollCalls>): void {
  if (calls === undefined) return;
  const [epoll, event] = [calls.create(), calls.createEvent()];
  for (let i = 0; i < MANY_CALLS; i++) {
    calls.setEvent(event);
    calls.resetEvent(event);
    calls.control(epoll, i % 2 === 0 ? 1 : 2, event, new Uint8Array(16)); // adds and removes
  }
  calls.close(event);
  calls.close(epoll);
}

function callLibzmq(): void {
  const context = ZmqContext.create();
  const [receiver, sender] = [context.socket("pair"), context.socket("pair")];
  receiver.bind("inproc://strict");
  sender.connect("inproc://strict");
  // The message is large enough that its memory is released at once.
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
