/**
 * Sends a datagram to a Unix socket, which the runtime cannot without an unstable feature.
 * Source: unix(7).
 * @module
 */

import { cLibrary } from "./c_library.ts";
import { check } from "./libc.ts";

const SYMBOLS = {
  socket: { parameters: ["i32", "i32", "i32"], result: "i32" },
  sendto: { parameters: ["i32", "buffer", "usize", "i32", "buffer", "u32"], result: "isize" },
  close: { parameters: ["i32"], result: "i32" },
} as const;

const libc = cLibrary(SYMBOLS);

const AF_UNIX = 1, SOCK_DGRAM = 2;
const darwin = Deno.build.os === "darwin";
/** Bytes of `sun_path`, its last zero included. */
const PATH_BYTES = darwin ? 104 : 108;

/**
 * Sends `bytes` to the socket at `path`.
 * @throws {LibcError} If the system refuses.
 * @throws {RangeError} If the path is too long.
 */
export function sendUnixDatagram(bytes: Uint8Array<ArrayBuffer>, path: string): void {
  const name = new TextEncoder().encode(path);
  if (name.length >= PATH_BYTES) {
    throw new RangeError(`The path of a socket has at most ${PATH_BYTES - 1} bytes: ${path}`);
  }
  // struct sockaddr_un: the family in the host's order (BSD: a length, then the family), and the path.
  const to = new Uint8Array(2 + PATH_BYTES);
  to.set(darwin ? [to.length, AF_UNIX] : [AF_UNIX, 0]);
  to.set(name, 2);
  const fd = libc().socket(AF_UNIX, SOCK_DGRAM, 0);
  check("socket", fd);
  try {
    check("sendto", libc().sendto(fd, bytes, BigInt(bytes.length), 0, to, to.length));
  } finally {
    libc().close(fd);
  }
}
