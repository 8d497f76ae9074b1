/**
 * Sockets that the runtime cannot make: datagrams to a path, and several listeners at one address.
 * @module
 */

import { createSocket } from "node:dgram";
import { LibcError } from "#lib/errors.ts";
import { cLibrary } from "#lib/libc/c_library.ts";
import { listenBeside } from "#lib/libc/tcp_listeners.ts";
import { socketAddress } from "#lib/libc/tcp_ends.ts";
import { sendUnixDatagram } from "#lib/libc/unix_datagram.ts";
import { assert, assertEquals, assertThrows } from "#tests/support/assert.ts";
import { openDescriptors } from "#tests/support/descriptors.ts";
import { withTemporaryDirectory } from "#tests/support/temporary_directory.ts";

const LIBC = cLibrary(
  {
    close: { parameters: ["i32"], result: "i32" },
    prlimit: { parameters: ["i32", "i32", "buffer", "buffer"], result: "i32" },
  } as const,
);
const LINUX = { ignore: Deno.build.os !== "linux" };

Deno.test("a datagram to a path without a socket is refused, and one to a path that is too long", () =>
  withTemporaryDirectory((root) => {
    const bytes = new Uint8Array(1), long = `${root}/${"x".repeat(108 - root.length - 1)}`;
    const refused = assertThrows(() => sendUnixDatagram(bytes, `${root}/log`), LibcError);
    assert(refused.message.startsWith("sendto"), refused.message);
    assertThrows(
      () => sendUnixDatagram(bytes, long),
      RangeError,
      `The path of a socket has at most 107 bytes: ${long}`,
    );
  }));

/** RLIMIT_NOFILE of Linux. */
const FILES = 7;

/** Runs `act` while this process may open no file with a number from `most` on. */
function withFewFiles(most: number, act: () => void): void {
  const before = new BigUint64Array(2);
  const limit = (now: BigUint64Array | null, old: BigUint64Array | null) => {
    const memory = (numbers: BigUint64Array | null) => numbers && new Uint8Array(numbers.buffer as ArrayBuffer);
    assertEquals(LIBC().prlimit(0, FILES, memory(now), memory(old)), 0);
  };
  limit(null, before);
  limit(BigUint64Array.of(BigInt(most), before[1]), null);
  try {
    act();
  } finally {
    limit(before, null);
  }
}

/** A socket of UDP at a port of the local host. */
async function boundUdp(): Promise<AsyncDisposable & { readonly port: number }> {
  const socket = createSocket("udp4");
  await new Promise<void>((resolve) => socket.bind(0, "127.0.0.1", resolve));
  const closed = () => new Promise<void>((resolve) => void socket.close(resolve));
  return { port: socket.address().port, [Symbol.asyncDispose]: closed };
}

Deno.test("further sockets listen at the address of the first one, or none does", LINUX, async () => {
  await using udp = await boundUdp();
  const { port } = udp;
  assertThrows(() => listenBeside(port, 2, 10), RangeError, `This process does not listen at port ${port}`);
  using _first = Deno.listen({ hostname: "127.0.0.1", port });
  const descriptors = listenBeside(port, 2, 10);
  try {
    const addresses = descriptors.map((fd) => socketAddress(fd, "getsockname")?.subarray(2, 8).toHex());
    assertEquals(addresses, Array(2).fill(`${port.toString(16).padStart(4, "0")}7f000001`));
    const before = openDescriptors();
    withFewFiles(
      Math.max(...descriptors) + 4,
      () => assertThrows(() => listenBeside(port, 20, 10), LibcError, "socket"),
    );
    assertEquals(openDescriptors(), before);
  } finally {
    // Their owner is libzmq; here none has taken them.
    for (const fd of descriptors) LIBC().close(fd);
  }
});
