/**
 * Several listening sockets at one TCP address, among which the system spreads new connections.
 * Source: socket(7), SO_REUSEPORT; the other side of the address is in tcp_ends.ts.
 * @module
 */

import { cLibrary } from "./c_library.ts";
import { LibcError } from "#lib/errors.ts";
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
const SOL_SOCKET = 1, SO_REUSEADDR = 2, SO_REUSEPORT = 15;
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
 * @throws {LibcError} If this process does not listen there, or the system refuses.
 */
export function listenBeside(port: number, count: number, backlog: number): number[] {
  const listening = listenerAt(port);
  if (listening === undefined) throw new LibcError("getsockname");
  const { fd, address } = listening;
  setOption(fd, SOL_SOCKET, SO_REUSEPORT, 1);
  const made: number[] = [];
  try {
    for (let i = 0; i < count; i++) made.push(listenAt(address, { like: fd, backlog }));
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

function listenerAt(port: number): Listener | undefined {
  for (const fd of openDescriptors()) {
    const address = socketAddress(fd, "getsockname")?.slice();
    const family = address === undefined ? undefined : familyOf(address);
    if (address === undefined || (family !== AF_INET && family !== AF_INET6)) continue;
    if (portOf(address) === port && socketAddress(fd, "getpeername") === undefined) return { fd, address };
  }
  return undefined;
}

function familyOf(address: Uint8Array<ArrayBuffer>): number {
  return new Uint16Array(address.buffer, address.byteOffset, 1)[0];
}

function listenAt(
  address: Uint8Array<ArrayBuffer>,
  { like, backlog }: { readonly like: number; readonly backlog: number },
): number {
  const family = familyOf(address);
  const fd = libc().socket(family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (fd < 0) throw new LibcError("socket");
  try {
    setOption(fd, SOL_SOCKET, SO_REUSEADDR, 1);
    setOption(fd, SOL_SOCKET, SO_REUSEPORT, 1);
    if (family === AF_INET6) setOption(fd, IPPROTO_IPV6, IPV6_V6ONLY, getOption(like, IPPROTO_IPV6, IPV6_V6ONLY));
    if (libc().bind(fd, address, address.length) !== 0) throw new LibcError("bind");
    if (libc().listen(fd, backlog) !== 0) throw new LibcError("listen");
    return fd;
  } catch (error) {
    libc().close(fd);
    throw error;
  }
}

function setOption(fd: number, level: number, option: number, value: number): void {
  const bytes = new Uint8Array(Int32Array.of(value).buffer);
  if (libc().setsockopt(fd, level, option, bytes, bytes.length) !== 0) throw new LibcError("setsockopt");
}

function getOption(fd: number, level: number, option: number): number {
  const value = new Int32Array(1), size = Uint32Array.of(4);
  if (libc().getsockopt(fd, level, option, value, size) !== 0) throw new LibcError("getsockopt");
  return value[0];
}
