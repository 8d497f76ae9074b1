/**
 * The TCP connections of this process, by descriptor: where they come from, to which port, and the end of one. Deno
 * tells of a connection only when its first request is there.
 * Source: POSIX.1-2024, getpeername, getsockname, shutdown; proc(5).
 * @module
 */

import { cLibrary } from "./c_library.ts";
import { addressDigits } from "./libc.ts";

const SYMBOLS = {
  getpeername: { parameters: ["i32", "buffer", "buffer"], result: "i32" },
  getsockname: { parameters: ["i32", "buffer", "buffer"], result: "i32" },
  shutdown: { parameters: ["i32", "i32"], result: "i32" },
} as const;

const libc = cLibrary(SYMBOLS, ["getpeername", "getsockname"]);

const SHUT_RDWR = 2;
/** Bytes of the largest address of a socket. */
const ADDRESS_BYTES = 128;
const DESCRIPTORS = Deno.build.os === "linux" ? "/proc/self/fd" : "/dev/fd";

const bytes = new Uint8Array(ADDRESS_BYTES);
const size = new Uint32Array(1);

/** Both ends of a TCP connection. */
export interface TcpEnds {
  /** The peer's address as hexadecimal digits, as {@linkcode addressDigits} gives it. */
  readonly peer: string;
  readonly peerPort: number;
  /** Our port. */
  readonly port: number;
}

/** The numbers of this process's open descriptors. */
export function openDescriptors(): number[] {
  return [...Deno.readDirSync(DESCRIPTORS)].map(({ name }) => Number(name));
}

/** The ends of the connection `fd` if its port of ours is `port`; `undefined` for anything else. */
export function tcpEnds(fd: number, port: number): TcpEnds | undefined {
  const own = socketAddress(fd, "getsockname");
  if (own === undefined || portOf(own) !== port) return undefined;
  const peer = socketAddress(fd, "getpeername"), digits = peer && addressDigits(peer);
  return peer === undefined || digits === undefined ? undefined : { peer: digits, peerPort: portOf(peer), port };
}

/**
 * A `struct sockaddr` of the socket `fd`: of this side, or of the peer; `undefined` if it has none. Its bytes are those
 * of the next call from then on.
 */
export function socketAddress(
  fd: number,
  call: "getsockname" | "getpeername",
): Uint8Array<ArrayBuffer> | undefined {
  size[0] = ADDRESS_BYTES;
  return libc()[call](fd, bytes, size) === 0 ? bytes.subarray(0, size[0]) : undefined;
}

/** Both IPv4 and IPv6 have the port in the third and fourth byte. An address of another family gives some number. */
export function portOf(address: Uint8Array): number {
  return address[2] * 256 + address[3];
}

/** Ends the connection `fd` if it still has these ends: its owner sees it ended by the peer. */
export function endConnection(fd: number, ends: TcpEnds): void {
  const now = tcpEnds(fd, ends.port);
  if (now?.peer === ends.peer && now.peerPort === ends.peerPort) libc().shutdown(fd, SHUT_RDWR);
}
