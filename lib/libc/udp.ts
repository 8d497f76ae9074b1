/**
 * Sends a UDP datagram to an IPv4 address, broadcast addresses included, which the runtime cannot.
 * Source: socket(7), ip(7).
 * @module
 */

import { cLibrary } from "./c_library.ts";
import { LibcError } from "#lib/errors.ts";

const SYMBOLS = {
  socket: { parameters: ["i32", "i32", "i32"], result: "i32" },
  setsockopt: { parameters: ["i32", "i32", "i32", "buffer", "u32"], result: "i32" },
  sendto: { parameters: ["i32", "buffer", "usize", "i32", "buffer", "u32"], result: "isize" },
  close: { parameters: ["i32"], result: "i32" },
} as const;

const libc = cLibrary(SYMBOLS);

const AF_INET = 2, SOCK_DGRAM = 2;
const darwin = Deno.build.os === "darwin";
const SOL_SOCKET = darwin ? 0xffff : 1, SO_BROADCAST = darwin ? 0x20 : 6;

/**
 * Sends `bytes` from any port to `address` (`255.255.255.255`).
 * @throws {LibcError} If the system refuses.
 * @throws {RangeError} If it is not an IPv4 address.
 */
export function sendDatagram(bytes: Uint8Array<ArrayBuffer>, address: string, port: number): void {
  const parts = address.split(".").map((part) => /^\d{1,3}$/.test(part) ? Number(part) : 256);
  if (parts.length !== 4 || parts.some((part) => part > 255)) throw new RangeError(`${address} is no IPv4 address`);
  const fd = libc().socket(AF_INET, SOCK_DGRAM, 0);
  if (fd < 0) throw new LibcError("socket");
  try {
    const on = Uint8Array.of(1, 0, 0, 0);
    if (libc().setsockopt(fd, SOL_SOCKET, SO_BROADCAST, on, on.length) !== 0) throw new LibcError("setsockopt");
    // struct sockaddr_in: the family in the host's order (BSD: a length, then the family), port and address in the
    // network's.
    const to = new Uint8Array(16);
    to.set(darwin ? [16, AF_INET] : [AF_INET, 0]);
    to.set([port >> 8, port & 0xff, ...parts], 2);
    if (Number(libc().sendto(fd, bytes, BigInt(bytes.length), 0, to, to.length)) < 0) throw new LibcError("sendto");
  } finally {
    libc().close(fd);
  }
}
