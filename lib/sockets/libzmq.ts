/**
 * libzmq's C functions through FFI: contexts, sockets, frames, the proxy's thread. Nothing here waits.
 *
 * The library is the one that npm:zeromq ships for each platform: an addon for Node that also exports the C API. Called
 * directly it needs neither Node's compatibility layer nor the package's JavaScript, which saves 6 MB and 40 ms in each
 * isolate, and a message is received without a promise. Each call that uses a context or a socket is a turn of the
 * thread's lease (lib/runtime/thread_lease.ts), if it has one.
 * Source: zmq(7) and the pages below it.
 * @module
 */

import { cString } from "#lib/libc/c_string.ts";
import manifest from "zeromq/build/manifest.json" with { type: "json" };
import { messageOf, SocketError } from "#lib/errors.ts";
import { type ForeignFunctions, openLibrary } from "#lib/libc/foreign_library.ts";
import { withLease } from "#lib/runtime/thread_lease.ts";

const SYMBOLS = {
  zmq_ctx_new: { parameters: [], result: "pointer" },
  zmq_ctx_shutdown: { parameters: ["pointer"], result: "i32" },
  zmq_ctx_term: { parameters: ["pointer"], result: "i32" },
  zmq_socket: { parameters: ["pointer", "i32"], result: "pointer" },
  zmq_close: { parameters: ["pointer"], result: "i32" },
  zmq_bind: { parameters: ["pointer", "buffer"], result: "i32" },
  zmq_connect: { parameters: ["pointer", "buffer"], result: "i32" },
  zmq_setsockopt: { parameters: ["pointer", "i32", "buffer", "usize"], result: "i32" },
  zmq_getsockopt: { parameters: ["pointer", "i32", "buffer", "buffer"], result: "i32" },
  zmq_send: { parameters: ["pointer", "buffer", "usize", "i32"], result: "i32" },
  zmq_msg_init: { parameters: ["buffer"], result: "i32" },
  zmq_msg_recv: { parameters: ["buffer", "pointer", "i32"], result: "i32" },
  zmq_msg_data: { parameters: ["buffer"], result: "pointer" },
  zmq_msg_more: { parameters: ["buffer"], result: "i32" },
  zmq_msg_close: { parameters: ["buffer"], result: "i32" },
  zmq_socket_monitor: { parameters: ["pointer", "buffer", "i32"], result: "i32" },
  zmq_proxy: { parameters: ["pointer", "pointer", "pointer"], result: "i32", nonblocking: true },
  zmq_errno: { parameters: [], result: "i32" },
  zmq_strerror: { parameters: ["i32"], result: "pointer" },
  zmq_has: { parameters: ["buffer"], result: "i32" },
  zmq_version: { parameters: ["buffer", "buffer", "buffer"], result: "void" },
} as const;

/** Functions that are called for each message and each check for one. */
const OFTEN = [
  ...["zmq_getsockopt", "zmq_send", "zmq_msg_init", "zmq_msg_recv", "zmq_msg_data", "zmq_msg_more"],
  ...["zmq_msg_close", "zmq_errno"],
] as const;

type Library = ForeignFunctions<typeof SYMBOLS>;
let library: Library | undefined;

/** The library stays open for the life of the isolate. */
function zmq(): Library {
  return library ??= open();
}

/** A build of the addon, from the package's manifest. */
interface Build {
  readonly os: string;
  readonly arch: string;
  readonly libc: string;
  readonly abi: number;
}

/** Node's names of Deno's platforms. */
const ARCHES: Readonly<Record<typeof Deno.build.arch, string>> = { x86_64: "x64", aarch64: "arm64" };
const LIBCS: Readonly<Partial<Record<typeof Deno.build.os, string>>> = { linux: "glibc", darwin: "libc" };

/** Opens the newest build that this system can load: others are linked against a newer C library. */
function open(): Library {
  const files = Object.entries(manifest)
    .map(([build, file]) => ({ file, build: JSON.parse(build) as Build }))
    .filter(({ build: { os, arch, libc } }) =>
      os === Deno.build.os && arch === ARCHES[Deno.build.arch] && libc === LIBCS[Deno.build.os]
    )
    .sort((a, b) => b.build.abi - a.build.abi)
    .map(({ file }) => new URL(file, import.meta.resolve("zeromq/build/manifest.json")));
  let reason = "the package brings none";
  for (const file of files) {
    try {
      return openLibrary(file, SYMBOLS, OFTEN);
    } catch (error) {
      reason = messageOf(error);
    }
  }
  throw new SocketError("dlopen", `no libzmq for ${Deno.build.os} ${Deno.build.arch}: ${reason}`);
}

/** libzmq's version, `4.3.5`. */
export function libzmqVersion(): string {
  const [major, minor, patch] = [new Int32Array(1), new Int32Array(1), new Int32Array(1)];
  zmq().zmq_version(major, minor, patch);
  return `${major}.${minor}.${patch}`;
}

/** The system's number for "would block". */
const EAGAIN = Deno.build.os === "darwin" ? 35 : 11;
const EINTR = 4;

/** Repeats the call while a signal interrupts it; a CPU profile sends a thousand signals a second. */
function retryInterrupted(call: () => number): number {
  for (;;) {
    const result = call();
    if (result >= 0 || zmq().zmq_errno() !== EINTR) return result;
  }
}

function failure(call: string): SocketError {
  const text = zmq().zmq_strerror(zmq().zmq_errno());
  return new SocketError(call, text === null ? "unknown error" : Deno.UnsafePointerView.getCString(text));
}

function check(call: string, result: number): void {
  if (result < 0) throw failure(call);
}

/** The kinds of sockets that are used, with libzmq's numbers. */
export const SOCKET_KINDS = {
  pair: 0,
  subscriber: 2,
  request: 3,
  dealer: 5,
  router: 6,
  pull: 7,
  push: 8,
  xpub: 9,
} as const;

export type SocketKind = keyof typeof SOCKET_KINDS;

/** Socket options with libzmq's numbers. */
export const SOCKET_OPTIONS = {
  routingId: 5,
  subscribe: 6,
  unsubscribe: 7,
  linger: 17,
  reconnectInterval: 18,
  backlog: 19,
  reconnectMaxInterval: 21,
  maxMessageSize: 22,
  sendHighWaterMark: 23,
  receiveHighWaterMark: 24,
  tcpKeepalive: 34,
  tcpKeepaliveCount: 35,
  tcpKeepaliveIdle: 36,
  tcpKeepaliveInterval: 37,
  ipv6: 42,
  routerHandover: 56,
  xpubNoDrop: 69,
  handshakeInterval: 66,
  welcomeMessage: 72,
  heartbeatInterval: 75,
  heartbeatTimeout: 77,
  connectTimeout: 79,
  tcpMaxRetransmit: 80,
  useDescriptor: 89,
  inBatchSize: 101,
  outBatchSize: 102,
} as const;

/** Options that libzmq has only if it is built with its draft API. */
const DRAFTS: readonly string[] = ["inBatchSize", "outBatchSize"];

/** Whether this libzmq has the option. */
export function hasOption(option: SocketOption): boolean {
  return !DRAFTS.includes(option) || zmq().zmq_has(cString("draft")) === 1;
}

export type SocketOption = keyof typeof SOCKET_OPTIONS;

/** The only 64-bit option. */
const WIDE: SocketOption = "maxMessageSize";

const ZMQ_RCVMORE = 13;
const ZMQ_FD = 14;
const ZMQ_EVENTS = 15;
const ZMQ_LAST_ENDPOINT = 32;
const ZMQ_POLLIN = 1;
const ZMQ_POLLOUT = 2;
const ZMQ_DONTWAIT = 1;
const ZMQ_SNDMORE = 2;
/** Events of a listening socket's connections; their value is a descriptor, or an error number. */
export const CONNECTION_EVENTS = { accepted: 0x20, acceptFailed: 0x40, disconnected: 0x200 } as const;
const ZMQ_EVENT_CONNECT_RETRIED = 0x4;

/** The frames of one message. */
export type Frames = Uint8Array[];

/** A `zmq_msg_t` of 64 bytes. It has its own ArrayBuffer because libzmq gets its address more than once. */
const message = new Uint8Array(new ArrayBuffer(64));
let initialized = false;
/** Frames of at least this size are freed at once, not when the next one is received. */
const LARGE_BYTES = 1 << 16;

const int = new Int32Array(new ArrayBuffer(4));
const length = new BigUint64Array(new ArrayBuffer(8));

/** A libzmq context: its threads, and the sockets that they serve. */
export class ZmqContext {
  #pointer: Deno.PointerValue;

  private constructor(pointer: Deno.PointerValue) {
    this.#pointer = pointer;
  }

  /** A new one, for 1,023 sockets; its threads start with the first. */
  static create(): ZmqContext {
    return new ZmqContext(zmq().zmq_ctx_new());
  }

  /** The context at {@linkcode address} that a dead thread has left. */
  static at(address: bigint): ZmqContext {
    return new ZmqContext(Deno.UnsafePointer.create(address));
  }

  /**
   * Makes a socket.
   * @throws {SocketError} If there are too many.
   */
  socket(kind: SocketKind): ZmqSocket {
    return withLease(() => {
      const pointer = zmq().zmq_socket(this.#pointer, SOCKET_KINDS[kind]);
      if (pointer === null) throw failure("zmq_socket");
      return new ZmqSocket(pointer);
    });
  }

  /** Address in memory, by which another thread can take it over. */
  get address(): bigint {
    return Deno.UnsafePointer.value(this.#pointer);
  }

  /** Ends {@linkcode ZmqSocket.proxy} with sockets of this context. */
  shutdown(): void {
    withLease(() => zmq().zmq_ctx_shutdown(this.#pointer));
  }

  /** Ends its threads; all sockets must be closed. Blocks while they linger. May be called twice. */
  terminate(): void {
    if (this.#pointer === null) return;
    withLease(() => zmq().zmq_ctx_term(this.#pointer));
    this.#pointer = null;
  }
}

/** A socket; only one thread may use it at a time. */
export class ZmqSocket {
  #pointer: Deno.PointerValue;

  /** Use {@linkcode ZmqContext.socket}. */
  constructor(pointer: Deno.PointerObject) {
    this.#pointer = pointer;
  }

  /** The socket at {@linkcode address} that a dead thread has left; it continues with the next whole message. */
  static at(address: bigint): ZmqSocket {
    const pointer = Deno.UnsafePointer.create(address);
    if (pointer === null) throw new SocketError("no socket", "at address 0");
    const socket = new ZmqSocket(pointer);
    while (socket.#getInt(ZMQ_RCVMORE) !== 0 && socket.tryReceive() !== undefined);
    return socket;
  }

  /** Address in memory, by which another thread can take it over. */
  get address(): bigint {
    return Deno.UnsafePointer.value(this.#pointer);
  }

  /**
   * Sets an option.
   * @throws {SocketError} If libzmq refuses the value.
   */
  set(option: SocketOption, value: number | string): void {
    const bytes = typeof value === "string"
      ? new TextEncoder().encode(value)
      : new Uint8Array((option === WIDE ? BigInt64Array.of(BigInt(value)) : Int32Array.of(value)).buffer);
    const number = SOCKET_OPTIONS[option];
    withLease(() => check("zmq_setsockopt", zmq().zmq_setsockopt(this.#pointer, number, bytes, BigInt(bytes.length))));
  }

  #getInt(option: number): number {
    return withLease(() => {
      length[0] = 4n;
      check("zmq_getsockopt", retryInterrupted(() => zmq().zmq_getsockopt(this.#pointer, option, int, length)));
      return int[0];
    });
  }

  /** The descriptor that becomes readable when the events must be read again. */
  get descriptor(): number {
    return this.#getInt(ZMQ_FD);
  }

  /** Whether a message can be received. Reading the events makes libzmq process its commands. */
  get readable(): boolean {
    return (this.#getInt(ZMQ_EVENTS) & ZMQ_POLLIN) !== 0;
  }

  /** Whether a message can be sent. Reading the events makes libzmq process its commands. */
  get writable(): boolean {
    return (this.#getInt(ZMQ_EVENTS) & ZMQ_POLLOUT) !== 0;
  }

  /** The address that it was bound or connected to last, with the port that the system chose; empty if none. */
  get lastEndpoint(): string {
    const text = new Uint8Array(1024);
    length[0] = BigInt(text.length);
    withLease(() => check("zmq_getsockopt", zmq().zmq_getsockopt(this.#pointer, ZMQ_LAST_ENDPOINT, text, length)));
    return new TextDecoder().decode(text.subarray(0, Math.max(0, Number(length[0]) - 1)));
  }

  /**
   * Listens.
   * @throws {SocketError} If the address is in use or not available.
   */
  bind(address: string): void {
    withLease(() =>
      check(`cannot listen on ${address}`, retryInterrupted(() => zmq().zmq_bind(this.#pointer, cString(address))))
    );
  }

  /**
   * Connects, now or when somebody listens there.
   * @throws {SocketError} If the address is invalid.
   */
  connect(address: string): void {
    withLease(() =>
      check(`cannot connect to ${address}`, retryInterrupted(() => zmq().zmq_connect(this.#pointer, cString(address))))
    );
  }

  /**
   * Makes libzmq report each connection that is lost or cannot be made, to the PAIR that connects to `address`
   * (`inproc://…`).
   */
  monitorLosses(address: string): void {
    this.#monitor(address, CONNECTION_EVENTS.disconnected | ZMQ_EVENT_CONNECT_RETRIED);
  }

  /**
   * Makes libzmq report new and closed connections to `pair`, of the same context, as {@linkcode CONNECTION_EVENTS}.
   */
  monitorConnections(pair: ZmqSocket): void {
    const { accepted, acceptFailed, disconnected } = CONNECTION_EVENTS;
    const address = `inproc://connections-${this.address}`;
    pair.set("receiveHighWaterMark", 0); // otherwise libzmq's own thread would wait for a reader
    this.#monitor(address, accepted | acceptFailed | disconnected);
    pair.connect(address);
  }

  #monitor(address: string, events: number): void {
    withLease(() => check("zmq_socket_monitor", zmq().zmq_socket_monitor(this.#pointer, cString(address), events)));
  }

  /**
   * Ends {@linkcode monitorLosses} or {@linkcode monitorConnections}; must be called by the socket's thread before the
   * PAIR is closed. Otherwise libzmq's own thread would wait forever to report, and no socket of this context would
   * work any more.
   */
  endMonitor(): void {
    withLease(() => check("zmq_socket_monitor", zmq().zmq_socket_monitor(this.#pointer, null, 0)));
  }

  /**
   * Sends a message.
   * @returns False if nothing was sent, because there is no room or no peer.
   */
  trySend(frames: Frames): boolean {
    return withLease(() => this.#trySend(frames));
  }

  #trySend(frames: Frames): boolean {
    const last = frames.length - 1;
    for (let i = 0; i <= last; i++) {
      const frame = frames[i];
      const flags = i < last ? ZMQ_DONTWAIT | ZMQ_SNDMORE : ZMQ_DONTWAIT;
      const bytes = BigInt(frame.length);
      if (retryInterrupted(() => zmq().zmq_send(this.#pointer, frame as Uint8Array<ArrayBuffer>, bytes, flags)) >= 0) {
        continue;
      }
      // If a peer is lost during a message, the frames sent so far are lost with it: start the message again.
      if (zmq().zmq_errno() === EAGAIN) return false;
      throw failure("zmq_send");
    }
    return true;
  }

  /** Receives a message, if there is one. */
  tryReceive(): Frames | undefined {
    return withLease(() => this.#tryReceive());
  }

  #tryReceive(): Frames | undefined {
    const { zmq_msg_init, zmq_msg_recv, zmq_msg_data, zmq_msg_more, zmq_msg_close } = zmq();
    if (!initialized) zmq_msg_init(message);
    initialized = true;
    const frames: Frames = [];
    for (;;) {
      const size = retryInterrupted(() => zmq_msg_recv(message, this.#pointer, ZMQ_DONTWAIT));
      if (size < 0) {
        if (frames.length === 0 && zmq().zmq_errno() === EAGAIN) return undefined;
        throw failure("zmq_msg_recv");
      }
      const frame = new Uint8Array(size);
      const data = zmq_msg_data(message);
      if (size > 0 && data !== null) Deno.UnsafePointerView.copyInto(data, frame);
      frames.push(frame);
      const more = zmq_msg_more(message) !== 0;
      if (size >= LARGE_BYTES) {
        zmq_msg_close(message);
        zmq_msg_init(message);
      }
      if (!more) return frames;
    }
  }

  /** Closes the socket. It must not be used afterwards; closing it twice is allowed. */
  close(): void {
    if (this.#pointer === null) return;
    withLease(() => zmq().zmq_close(this.#pointer));
    this.#pointer = null;
  }

  /**
   * Forwards messages between two sockets in a native thread. Resolves when their context is shut down, or after a
   * signal.
   */
  static async proxy(front: ZmqSocket, back: ZmqSocket): Promise<void> {
    await zmq().zmq_proxy(front.#pointer, back.#pointer, null);
  }
}

/**
 * Closes the objects of a dead thread: its sockets, without waiting for unsent messages, and its context.
 * @param left Addresses in memory.
 */
export function closeAbandoned(left: { readonly sockets: readonly bigint[]; readonly context?: bigint }): void {
  for (const address of left.sockets) {
    const socket = ZmqSocket.at(address);
    socket.set("linger", 0);
    socket.close();
  }
  if (left.context !== undefined) ZmqContext.at(left.context).terminate();
}
