/**
 * Several listening sockets at one TCP address, among which the system spreads new connections.
 * Source: socket(7), SO_REUSEPORT; the other side of the address is in tcp_ends.ts.
 * @module
 */

import { cLibrary } from "./c_library.ts";
import { check } from "./libc.ts";
import { openDescriptors, portOf, socketAddress } from "./tcp_ends.ts";

const SYMBOLS = {
  socket: { parameters: ["i32", "i32", "i32"], result: "i32" },
  getsockopt: { parameters: ["i32", "i32", "i32", "buffer", "buffer"], result: "i32" },
  setsockopt: { parameters: ["i32", "i32", "i32", "buffer", "u32"], result: "i32" },
  bind: { parameters: ["i32", "buffer", "u32"], result: "i32" },
  listen: { parameters: ["i32", "i32"], result: "i32" },
  close: { parameters: ["i32"], result: "i32" },
} as const;

const libc = cLibrary(SYMBOLS);

// Numbers of Linux.
const AF_INET = 2, AF_INET6 = 10;
const SOCK_STREAM = 1, SOCK_NONBLOCK = 0x800, SOCK_CLOEXEC = 0x80000;
const SOL_SOCKET = 1, SO_REUSEADDR = 2, SO_REUSEPORT = 15, SO_ACCEPTCONN = 30;
const IPPROTO_IPV6 = 41, IPV6_V6ONLY = 26;

/** Whether the system spreads connections among listening sockets: of ours only Linux does. */
export const SPREADS_CONNECTIONS = Deno.build.os === "linux";

/**
 * Opens further listening sockets at the address at which this process listens with one socket. That one was bound
 * alone, so an address that another program has is refused as usual.
 * @param port The port of the socket that listens.
 * @param count How many more.
 * @param backlog Queue of pending connections of each.
 * @returns Their descriptors; they belong to the caller.
 * @throws {RangeError} If this process does not listen there.
 * @throws {LibcError} If the system refuses.
 */
export function listenBeside(port: number, count: number, backlog: number): number[] {
  const { fd, address } = listenerAt(port);
  setOption(fd, SOL_SOCKET, SO_REUSEPORT, 1);
  const made: number[] = [];
  try {
    for (let i = 0; i < count; i++) {
      const other = libc().socket(familyOf(address), SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
      check("socket", other);
      made.push(other);
      listenAt(address, other, { like: fd, backlog });
    }
    return made;
  } catch (error) {
    for (const fd of made) libc().close(fd);
    throw error;
  }
}

interface Listener {
  readonly fd: number;
  /** The `struct sockaddr` of its address. */
  readonly address: Uint8Array<ArrayBuffer>;
}

function listenerAt(port: number): Listener {
  for (const fd of openDescriptors()) {
    const address = socketAddress(fd, "getsockname")?.slice();
    const family = address === undefined ? undefined : familyOf(address);
    if (address === undefined || (family !== AF_INET && family !== AF_INET6)) continue;
    // A connection has the port too, and so may a socket of UDP.
    if (portOf(address) === port && getOption(fd, SOL_SOCKET, SO_ACCEPTCONN) === 1) return { fd, address };
  }
  throw new RangeError(`This process does not listen at port ${port}`);
}

function familyOf(address: Uint8Array<ArrayBuffer>): number {
  return new Uint16Array(address.buffer, address.byteOffset, 1)[0];
}

function listenAt(
  address: Uint8Array<ArrayBuffer>,
  fd: number,
  { like, backlog }: { readonly like: number; readonly backlog: number },
): void {
  setOption(fd, SOL_SOCKET, SO_REUSEADDR, 1);
  setOption(fd, SOL_SOCKET, SO_REUSEPORT, 1);
  const isIpv6 = familyOf(address) === AF_INET6;
  if (isIpv6) setOption(fd, IPPROTO_IPV6, IPV6_V6ONLY, getOption(like, IPPROTO_IPV6, IPV6_V6ONLY));
  check("bind", libc().bind(fd, address, address.length));
  check("listen", libc().listen(fd, backlog));
}

function setOption(fd: number, level: number, option: number, value: number): void {
  const bytes = new Uint8Array(Int32Array.of(value).buffer);
  check("setsockopt", libc().setsockopt(fd, level, option, bytes, bytes.length));
}

function getOption(fd: number, level: number, option: number): number {
  const value = new Int32Array(1), size = Uint32Array.of(4);
  check("getsockopt", libc().getsockopt(fd, level, option, value, size));
  return value[0];
}
