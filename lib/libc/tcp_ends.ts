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
  if (portOf(fd, "getsockname") !== port) return undefined;
  const peerPort = portOf(fd, "getpeername");
  // `bytes` is the peer's now.
  const peer = peerPort === undefined ? undefined : addressDigits(bytes);
  return peer === undefined || peerPort === undefined ? undefined : { peer, peerPort, port };
}

/** Both IPv4 and IPv6 have the port in the third and fourth byte. A socket of another family gives some number. */
function portOf(fd: number, call: "getsockname" | "getpeername"): number | undefined {
  size[0] = ADDRESS_BYTES;
  return libc()[call](fd, bytes, size) === 0 ? bytes[2] * 256 + bytes[3] : undefined;
}

/** Ends the connection `fd` if it still has these ends: its owner sees it ended by the peer. */
export function endConnection(fd: number, ends: TcpEnds): void {
  const now = tcpEnds(fd, ends.port);
  if (now?.peer === ends.peer && now.peerPort === ends.peerPort) libc().shutdown(fd, SHUT_RDWR);
}
