/**
 * Calls of the C library that Deno does not offer: waiting for a descriptor, limits, process groups, connections that
 * libzmq has opened. Related files: files.ts (many small files), epoll.ts (waiting for many descriptors),
 * sync.ts (syncing a file system), users.ts (users), acl.ts (access control lists), limits.ts
 * (limits of other processes). Only these files call the C library. A call that fails throws {@linkcode LibcError}.
 * Source: POSIX.1-2024; errno values by the platform's own `strerror`.
 * @module
 */

import { cLibrary } from "./c_library.ts";
import { LibcError } from "#lib/errors.ts";

const SYMBOLS = {
  calloc: { parameters: ["usize", "usize"], result: "pointer" },
  // Only in the GNU library.
  mallopt: { parameters: ["i32", "i32"], result: "i32", optional: true },
  malloc_trim: { parameters: ["usize"], result: "i32", optional: true },
  free: { parameters: ["pointer"], result: "void" },
  poll: { parameters: ["pointer", "u64", "i32"], result: "i32", nonblocking: true },
  pipe: { parameters: ["buffer"], result: "i32" },
  // Only on Linux.
  pipe2: { parameters: ["buffer", "i32"], result: "i32", optional: true },
  write: { parameters: ["i32", "buffer", "usize"], result: "isize" },
  close: { parameters: ["i32"], result: "i32" },
  getrlimit: { parameters: ["i32", "buffer"], result: "i32" },
  setrlimit: { parameters: ["i32", "buffer"], result: "i32" },
  kill: { parameters: ["i32", "i32"], result: "i32" },
  getpeername: { parameters: ["i32", "buffer", "buffer"], result: "i32" },
  getsockopt: { parameters: ["i32", "i32", "i32", "buffer", "buffer"], result: "i32" },
  shutdown: { parameters: ["i32", "i32"], result: "i32" },
  recv: { parameters: ["i32", "buffer", "usize", "i32"], result: "isize" },
  // Of its variants the one with a number.
  fcntl: { parameters: ["i32", "i32", "i32"], result: "i32" },
  // Only on Linux.
  clock_nanosleep: {
    parameters: ["i32", "i32", "pointer", "pointer"],
    result: "i32",
    nonblocking: true,
    optional: true,
  },
} as const;

const libc = cLibrary(SYMBOLS);

/**
 * Checks the result of a call.
 * @throws {LibcError} If `result` is negative: `call` failed.
 */
export function check(call: string, result: number | bigint): void {
  if (Number(result) < 0) throw new LibcError(call);
}

/** Memory of the C library, and JavaScript's view of it. */
export interface NativeMemory {
  readonly pointer: Deno.PointerObject;
  readonly bytes: Uint8Array<ArrayBuffer>;
}

/**
 * Allocates memory for a call that waits in another thread. An ArrayBuffer would not do: when a worker is terminated,
 * it would be freed during the call.
 * @param calloc The function of the library, if it is open already.
 */
export function nativeMemory(length: number, calloc = libc().calloc): NativeMemory {
  const pointer = calloc(1n, BigInt(length));
  if (pointer === null) throw new LibcError("calloc");
  return { pointer, bytes: new Uint8Array(Deno.UnsafePointerView.getArrayBuffer(pointer, length)) };
}

/** The first `length` bytes of {@linkcode nativeMemory} of another thread, by its address. */
export function nativeBytes(address: bigint, length: number): Uint8Array<ArrayBuffer> {
  const pointer = Deno.UnsafePointer.create(address);
  if (pointer === null) throw new RangeError("There is nothing at address 0");
  return new Uint8Array(Deno.UnsafePointerView.getArrayBuffer(pointer, length));
}

/** Frees {@linkcode nativeMemory} that another thread has left. Nothing may use it afterwards. */
export function freeMemory(address: bigint): void {
  libc().free(Deno.UnsafePointer.create(address));
}

/** M_MMAP_THRESHOLD of mallopt(3). */
const M_MMAP_THRESHOLD = -3;

/**
 * Makes the C library return freed blocks larger than this to the system at once, for the whole process. By default it
 * starts to keep blocks as large as any that was freed: 10 MB after a result of 10 MB.
 */
export function returnLargeBlocks(bytes = 1 << 20): void {
  libc().mallopt?.(M_MMAP_THRESHOLD, bytes);
}

/** Makes the C library give freed memory back to the system. */
export function trimMemory(): void {
  libc().malloc_trim?.(0n);
}

const CLOCK_PROCESS_CPUTIME_ID = 2;
/** Size of a `struct timespec` of longs: seconds, nanoseconds. */
const TIMESPEC = 16;
const EINTR = 4;

/**
 * Waits until the threads of this process have used `ms` more milliseconds of processor time together; nothing can end
 * the wait earlier.
 * @returns False at once if the system does not support it.
 */
export async function processorTime(ms: number): Promise<boolean> {
  const { clock_nanosleep, free } = libc();
  if (Deno.build.os !== "linux" || !clock_nanosleep) return false;
  const time = nativeMemory(TIMESPEC);
  const view = new DataView(time.bytes.buffer);
  view.setBigInt64(0, BigInt(Math.floor(ms / 1000)), true);
  view.setBigInt64(8, BigInt(Math.floor(ms % 1000 * 1e6)), true);
  try {
    // After a signal, the remaining time has been written to the same memory.
    for (;;) {
      const error = await clock_nanosleep(CLOCK_PROCESS_CPUTIME_ID, 0, time.pointer, time.pointer);
      if (error !== EINTR) return error === 0;
    }
  } finally {
    free(time.pointer);
  }
}

const POLLIN = 0x0001;
/** Size of a `struct pollfd`: int fd, short events, short revents. */
const POLLFD = 8;
/** Linux's flag for `pipe2`: child processes of jobs do not inherit the pipe. */
const O_CLOEXEC = 0o2000000;

/** Waits until one descriptor is readable; another thread of this program can end the wait at any time. */
export class ReadWait {
  readonly #pollfds = nativeMemory(2 * POLLFD);
  readonly #wakeWriteFd: number;
  readonly #wakeReadFd: number;
  #waits = 0;
  #closed = false;

  /** @param fd The descriptor; it is not closed by this class. */
  constructor(fd: number) {
    const ends = new Int32Array(2);
    const bytes = new Uint8Array(ends.buffer);
    check("pipe", libc().pipe2?.(bytes, O_CLOEXEC) ?? libc().pipe(bytes));
    [this.#wakeReadFd, this.#wakeWriteFd] = ends;
    const view = new DataView(this.#pollfds.bytes.buffer);
    const little = true;
    for (const [i, watched] of [fd, this.#wakeReadFd].entries()) {
      view.setInt32(i * POLLFD, watched, little);
      view.setInt16(i * POLLFD + 4, POLLIN, little);
    }
  }

  /**
   * Waits until the descriptor is readable.
   * @param timeoutMs Maximum time; negative: no limit. May resolve early for no reason.
   */
  async wait(timeoutMs: number): Promise<void> {
    if (this.#closed) return;
    this.#waits++;
    try {
      await libc().poll(this.#pollfds.pointer, 2n, Math.min(timeoutMs < 0 ? -1 : Math.ceil(timeoutMs), 0x7fffffff));
    } finally {
      this.#waits--;
      if (this.#closed && this.#waits === 0) this.#release();
    }
  }

  /** Ends every wait, now and later. May be called twice. */
  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    // Nobody reads this byte, so every poll on the pipe returns from now on.
    libc().write(this.#wakeWriteFd, new Uint8Array(1), 1n);
    if (this.#waits === 0) this.#release();
  }

  #release(): void {
    libc().close(this.#wakeReadFd);
    libc().close(this.#wakeWriteFd);
    libc().free(this.#pollfds.pointer);
  }
}

const RLIMIT_NOFILE = Deno.build.os === "darwin" ? 8 : 7;

/** The process's limit on open descriptors. */
export interface OpenFileLimit {
  /** The current limit. */
  readonly soft: number;
  /** The limit up to which the process may raise it. */
  readonly hard: number;
}

/**
 * Raises the soft limit on open descriptors to `wanted`, at most to the hard limit.
 * @returns The limits in force afterwards.
 */
export function raiseOpenFileLimit(wanted: number): OpenFileLimit {
  const limits = new BigUint64Array(2);
  const bytes = new Uint8Array(limits.buffer);
  check("getrlimit", libc().getrlimit(RLIMIT_NOFILE, bytes));
  if (limits[0] < BigInt(wanted)) {
    limits[0] = limits[1] < BigInt(wanted) ? limits[1] : BigInt(wanted);
    check("setrlimit", libc().setrlimit(RLIMIT_NOFILE, bytes));
  }
  return { soft: Number(limits[0]), hard: Number(limits[1]) };
}

/**
 * Sends a signal by number to a process, or to a process group if `pid` is negative. Signal 0 only checks.
 * @returns Whether the target exists and may be signalled.
 */
export function sendSignal(pid: number, signal: number): boolean {
  // kill(0) and kill(-1) would reach our own group and all processes.
  if (!Number.isInteger(pid) || pid === 0 || pid === -1) throw new RangeError(`Cannot send a signal to pid ${pid}`);
  return libc().kill(pid, signal) === 0;
}

const AF_INET = 2;
const AF_INET6 = Deno.build.os === "darwin" ? 30 : 10;
const SHUT_RDWR = 2;
const IPPROTO_TCP = 6;
const TCP_INFO = 11;
/** Offset of `tcpi_bytes_acked` in Linux's `struct tcp_info`; `tcpi_bytes_received` follows it. */
const BYTES_ACKED = 120, NOTSENT_BYTES = 144;

const socketAddress = new Uint8Array(128);
const tcpInfo = new Uint8Array(256);
const size = new Uint32Array(1);

/**
 * The peer's address of the TCP connection `fd` as hexadecimal digits; `undefined` if it is not a connection (any
 * more).
 */
export function peerAddress(fd: number): string | undefined {
  size[0] = socketAddress.length;
  return libc().getpeername(fd, socketAddress, size) === 0 ? addressDigits(socketAddress) : undefined;
}

/** The IP address of a `struct sockaddr` as hexadecimal digits; `undefined` if it is of another family. */
export function addressDigits(sockaddr: Uint8Array): string | undefined {
  // On macOS the first byte is the length.
  const family = Deno.build.os === "darwin" ? sockaddr[1] : sockaddr[0] + 256 * sockaddr[1];
  if (family === AF_INET) return sockaddr.slice(4, 8).toHex();
  if (family !== AF_INET6) return undefined;
  const address = sockaddr.slice(8, 24).toHex();
  return /^0{20}ffff/.test(address) ? address.slice(24) : address;
}

/** Linux's byte counts of a TCP connection. */
export interface TcpByteCounts {
  readonly received: number;
  /** Bytes sent and acknowledged by the peer. */
  readonly taken: number;
  /** Bytes that wait in the system, as the peer has no room for them; 0 if the system does not tell. */
  readonly unsent: number;
}

/** The counts of the TCP connection `fd`; `undefined` if it is not a connection (any more), or on other systems. */
export function tcpByteCounts(fd: number): TcpByteCounts | undefined {
  if (Deno.build.os !== "linux") return undefined;
  size[0] = tcpInfo.length;
  if (libc().getsockopt(fd, IPPROTO_TCP, TCP_INFO, tcpInfo, size) !== 0 || size[0] < BYTES_ACKED + 16) return undefined;
  const view = new DataView(tcpInfo.buffer);
  const count = (at: number) => Number(view.getBigUint64(at, true));
  const unsent = size[0] >= NOTSENT_BYTES + 4 ? view.getUint32(NOTSENT_BYTES, true) : 0;
  return { taken: count(BYTES_ACKED), received: count(BYTES_ACKED + 8), unsent };
}

const F_DUPFD_CLOEXEC = 1030;
const SOL_SOCKET = 1, SO_COOKIE = 57;
const MSG_PEEK = 2, MSG_DONTWAIT = 0x40;

/**
 * Duplicates the descriptor of the TCP connection `fd`, so that the connection lasts until both are closed; close it
 * with {@linkcode releaseConnection}. `undefined` if `fd` is not a connection any more, or this is not Linux.
 */
export function holdConnection(fd: number): number | undefined {
  if (Deno.build.os !== "linux") return undefined;
  const held = libc().fcntl(fd, F_DUPFD_CLOEXEC, 0);
  if (held < 0) return undefined;
  if (peerAddress(held) !== undefined) return held;
  releaseConnection(held);
  return undefined;
}

/** Whether at least `bytes` bytes have arrived on the connection of {@linkcode holdConnection} and are unread. */
export function hasUnread(held: number, bytes: number): boolean {
  return Number(libc().recv(held, new Uint8Array(bytes), BigInt(bytes), MSG_PEEK | MSG_DONTWAIT)) >= bytes;
}

/** Whether two descriptors refer to the same socket; false if one is not a socket. */
export function isSameSocket(a: number, b: number): boolean {
  const [first, second] = [a, b].map(socketCookie);
  return first !== undefined && first === second;
}

/** The number that Linux has given to this socket only. */
function socketCookie(fd: number): bigint | undefined {
  const cookie = new BigUint64Array(1);
  size[0] = cookie.byteLength;
  const failed = libc().getsockopt(fd, SOL_SOCKET, SO_COOKIE, new Uint8Array(cookie.buffer), size) !== 0;
  return failed ? undefined : cookie[0];
}

/** Closes a descriptor of {@linkcode holdConnection}. */
export function releaseConnection(held: number): void {
  libc().close(held);
}

/**
 * Ends the TCP connection `fd` of the peer at `address` (as {@linkcode peerAddress} gives it); its owner sees it ended
 * by the peer. Does nothing if `fd` is not a TCP connection of that peer: the owner may have closed it, and the number
 * may belong to another file or to another peer's connection by now.
 */
export function shutDownConnection(fd: number, address: string): void {
  if (peerAddress(fd) === address) libc().shutdown(fd, SHUT_RDWR);
}
