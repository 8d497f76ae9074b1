/**
 * The few calls of the C library that Deno does not have: waiting for a descriptor, limits, process groups,
 * connections that somebody else has opened. What is asked of files in bulk is in libc_files.ts, waiting for many descriptors
 * in libc_epoll.ts, syncing a file system in libc_sync.ts, users in libc_users.ts, access
 * control lists in libc_acl.ts, limits of other processes in libc_limits.ts:
 * together they are the only doors to it. Every call either works or throws {@linkcode LibcError}.
 * Source: POSIX.1-2024; errno values by the platform's own `strerror`.
 * @module
 */

import { cLibrary } from "./c_library.ts";
import { LibcError } from "../errors.ts";

const SYMBOLS = {
  calloc: { parameters: ["usize", "usize"], result: "pointer" },
  // The GNU library's alone, these two.
  mallopt: { parameters: ["i32", "i32"], result: "i32", optional: true },
  malloc_trim: { parameters: ["usize"], result: "i32", optional: true },
  free: { parameters: ["pointer"], result: "void" },
  poll: { parameters: ["pointer", "u64", "i32"], result: "i32", nonblocking: true },
  pipe: { parameters: ["buffer"], result: "i32" },
  // Linux's alone.
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
  // Of its many forms the one with a number.
  fcntl: { parameters: ["i32", "i32", "i32"], result: "i32" },
  // Linux's alone.
  clock_nanosleep: {
    parameters: ["i32", "i32", "pointer", "pointer"],
    result: "i32",
    nonblocking: true,
    optional: true,
  },
} as const;

const libc = cLibrary(SYMBOLS);

/**
 * Looks at what a call gave.
 * @throws {LibcError} If `result` is negative: `call` failed.
 */
export function check(call: string, result: number | bigint): void {
  if (Number(result) < 0) throw new LibcError(call);
}

/** Memory of the C library's own, and JavaScript's view of it. */
export interface NativeMemory {
  /** Where it is. */
  readonly pointer: Deno.PointerObject;
  /** What is in it. */
  readonly bytes: Uint8Array<ArrayBuffer>;
}

/**
 * Memory for a call that waits in another thread. Not an ArrayBuffer's: that would be freed under the call's hands when a
 * worker is ended meanwhile.
 * @param calloc The function of the library, where that is open already.
 */
export function nativeMemory(length: number, calloc = libc().calloc): NativeMemory {
  const pointer = calloc(1n, BigInt(length));
  if (pointer === null) throw new LibcError("calloc");
  return { pointer, bytes: new Uint8Array(Deno.UnsafePointerView.getArrayBuffer(pointer, length)) };
}

/** The first `length` bytes of {@linkcode nativeMemory} that another thread has, or had. */
export function nativeBytes(address: bigint, length: number): Uint8Array<ArrayBuffer> {
  const pointer = Deno.UnsafePointer.create(address);
  if (pointer === null) throw new RangeError("There is nothing at address 0");
  return new Uint8Array(Deno.UnsafePointerView.getArrayBuffer(pointer, length));
}

/** Frees {@linkcode nativeMemory} that another thread has left; nobody may look at it any more. */
export function freeMemory(address: bigint): void {
  libc().free(Deno.UnsafePointer.create(address));
}

/** M_MMAP_THRESHOLD of mallopt(3). */
const M_MMAP_THRESHOLD = -3;

/**
 * Has the C library take what is larger than this from the system and give it back when it is freed, for the whole process.
 * By itself it begins to keep blocks as large as any that was freed: of each result of 10 MB, that much.
 */
export function returnLargeBlocks(bytes = 1 << 20): void {
  libc().mallopt?.(M_MMAP_THRESHOLD, bytes);
}

/** Has the C library give freed memory back to the system, where it keeps it until it is asked. */
export function trimMemory(): void {
  libc().malloc_trim?.(0n);
}

const CLOCK_PROCESS_CPUTIME_ID = 2;
/** Size of a `struct timespec` of longs: seconds, nanoseconds. */
const TIMESPEC = 16;
const EINTR = 4;

/**
 * Waits until the threads of this process have been on a processor for `ms` more milliseconds, all together; nothing ends the
 * wait earlier. @returns False, and at once, where the system cannot tell.
 */
export async function processorTime(ms: number): Promise<boolean> {
  const { clock_nanosleep, free } = libc();
  if (Deno.build.os !== "linux" || !clock_nanosleep) return false;
  const time = nativeMemory(TIMESPEC);
  const view = new DataView(time.bytes.buffer);
  view.setBigInt64(0, BigInt(Math.floor(ms / 1000)), true);
  view.setBigInt64(8, BigInt(Math.floor(ms % 1000 * 1e6)), true);
  try {
    // What is left after a signal is written where it was read.
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
/** Linux's flag for `pipe2`: children that a job starts do not inherit the pipe. */
const O_CLOEXEC = 0o2000000;

/** Waits until one descriptor can be read; another thread of this isolate's program can end the wait at any time. */
export class ReadWait {
  readonly #pollfds = nativeMemory(2 * POLLFD);
  readonly #wakeWriteFd: number;
  readonly #wakeReadFd: number;
  #waits = 0;
  #closed = false;

  /** Makes the wait for one descriptor. @param fd The descriptor, which stays its owner's. */
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
   * Waits until the descriptor can be read.
   * @param timeoutMs How long at most; negative: without end. Resolves early for no reason now and then.
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

  /** Ends every wait, now and later. Twice is fine. */
  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    // A byte that nobody reads: every poll on the pipe returns from now on.
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
  /** What the process may open. */
  readonly soft: number;
  /** What it may raise that to. */
  readonly hard: number;
}

/**
 * Raises the soft limit on open descriptors to `wanted`, as far as the hard limit lets it.
 * @returns The limits that are then in force.
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
 * Sends a signal by number, to a process, or to a process group when `pid` is negative; signal 0 only asks.
 * @returns Whether there was somebody to send it to and the right to do so.
 */
export function sendSignal(pid: number, signal: number): boolean {
  // kill(0) and kill(-1) would hit our own group and everybody.
  if (!Number.isInteger(pid) || pid === 0 || pid === -1) throw new RangeError(`Cannot send a signal to pid ${pid}`);
  return libc().kill(pid, signal) === 0;
}

const AF_INET = 2;
const AF_INET6 = Deno.build.os === "darwin" ? 30 : 10;
const SHUT_RDWR = 2;
const IPPROTO_TCP = 6;
const TCP_INFO = 11;
/** Where Linux's `struct tcp_info` has `tcpi_bytes_acked` and, after it, `tcpi_bytes_received`. */
const BYTES_ACKED = 120;

const socketAddress = new Uint8Array(128);
const tcpInfo = new Uint8Array(256);
const size = new Uint32Array(1);

/** Where the TCP connection `fd` comes from, as hexadecimal digits; `undefined` if it is none, or none any more. */
export function peerAddress(fd: number): string | undefined {
  size[0] = socketAddress.length;
  if (libc().getpeername(fd, socketAddress, size) !== 0) return undefined;
  // On macOS the length comes first.
  const family = Deno.build.os === "darwin" ? socketAddress[1] : socketAddress[0] + 256 * socketAddress[1];
  if (family === AF_INET) return socketAddress.slice(4, 8).toHex();
  if (family !== AF_INET6) return undefined;
  const address = socketAddress.slice(8, 24).toHex();
  return /^0{20}ffff/.test(address) ? address.slice(24) : address;
}

/** What Linux has counted of the TCP connection `fd`; `undefined` if it is none any more, or nobody counts. */
export function tcpByteCounts(fd: number): { readonly received: number; readonly taken: number } | undefined {
  if (Deno.build.os !== "linux") return undefined;
  size[0] = tcpInfo.length;
  if (libc().getsockopt(fd, IPPROTO_TCP, TCP_INFO, tcpInfo, size) !== 0 || size[0] < BYTES_ACKED + 16) return undefined;
  const view = new DataView(tcpInfo.buffer);
  const count = (at: number) => Number(view.getBigUint64(at, true));
  return { taken: count(BYTES_ACKED), received: count(BYTES_ACKED + 8) };
}

const F_DUPFD_CLOEXEC = 1030;
const SOL_SOCKET = 1, SO_COOKIE = 57;
const MSG_PEEK = 2, MSG_DONTWAIT = 0x40;

/**
 * A second descriptor of the TCP connection `fd`, which then lasts until both are closed; to be closed by {@linkcode letGo}.
 * `undefined` if it is no connection any more, or this is not Linux.
 */
export function holdConnection(fd: number): number | undefined {
  if (Deno.build.os !== "linux") return undefined;
  const held = libc().fcntl(fd, F_DUPFD_CLOEXEC, 0);
  if (held < 0) return undefined;
  if (peerAddress(held) !== undefined) return held;
  letGo(held);
  return undefined;
}

/** Whether so many bytes have come by a connection of {@linkcode holdConnection} that nobody has read. */
export function hasUnread(held: number, bytes: number): boolean {
  return Number(libc().recv(held, new Uint8Array(bytes), BigInt(bytes), MSG_PEEK | MSG_DONTWAIT)) >= bytes;
}

/** Whether two descriptors stand for the same socket. Of what is none: no. */
export function isSameSocket(a: number, b: number): boolean {
  const [first, second] = [a, b].map(socketCookie);
  return first !== undefined && first === second;
}

/** The number that Linux has given to a socket and to no other one. */
function socketCookie(fd: number): bigint | undefined {
  const cookie = new BigUint64Array(1);
  size[0] = cookie.byteLength;
  const failed = libc().getsockopt(fd, SOL_SOCKET, SO_COOKIE, new Uint8Array(cookie.buffer), size) !== 0;
  return failed ? undefined : cookie[0];
}

/** Closes a descriptor of {@linkcode holdConnection}. */
export function letGo(held: number): void {
  libc().close(held);
}

/**
 * Ends the TCP connection `fd`, whose owner finds it ended by the peer. Nothing happens to what is no such connection: its
 * owner may have closed it, and the number be another file's.
 */
export function shutDownConnection(fd: number): void {
  if (peerAddress(fd) !== undefined) libc().shutdown(fd, SHUT_RDWR);
}
