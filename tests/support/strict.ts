/**
 * A test that fails when it leaves an operation or a resource behind, which Deno no longer checks by default.
 * @module
 */

import { ReadWait } from "../../lib/os/libc.ts";
import { epollCalls } from "../../lib/os/libc_epoll.ts";
import { libzmqVersion } from "../../lib/sockets/libzmq.ts";

// The C library and libzmq stay open once they are used: not by the first test.
new ReadWait(0).close();
epollCalls(16, 1);
libzmqVersion();

/** As `Deno.test(name, run)`, with the sanitizers on. */
export function strictTest(name: string, run: (t: Deno.TestContext) => void | Promise<void>): void {
  Deno.test({ name, fn: run, sanitizeOps: true, sanitizeResources: true });
}
