/**
 * ZeroMQ sockets with asynchronous waits: every socket that JavaScript reads or writes is made here. libzmq is only
 * called for what it can do at once. While a socket is not ready, one thread waits for the descriptors of all sockets
 * (epoll.ts). Descriptors also become readable for handshakes, so after each wake-up the socket's state is read again.
 * Moves frames only; knows nothing of encodings or keys.
 * Source: ZeroMQ RFC 28 (request-reply), 29 (publish-subscribe), 30 (pipeline); zmq_getsockopt(3), ZMQ_FD.
 * @module
 */

import { waitForDescriptor } from "./epoll.ts";
import type { Frames, SocketKind, SocketOption, ZmqSocket } from "./libzmq.ts";
import { configure, type SocketSettings } from "./settings.ts";
import { SocketWait } from "./wait.ts";
import { withLease } from "#lib/runtime/thread_lease.ts";
import { closeSocket, openInherited, openSocket, socketMemory } from "./context.ts";
import { sleep } from "#lib/os/sleep.ts";

/** After so many messages without waiting, other work of this thread gets a turn. */
const IN_A_ROW = 256;
let inARow = 0;

function yieldToOthers(): Promise<void> | undefined {
  if (++inARow < IN_A_ROW) return undefined;
  inARow = 0;
  return sleep(0);
}

/** A socket of any kind. */
export abstract class Endpoint {
  readonly #socket: ZmqSocket;
  readonly #wait: SocketWait;
  #losses: Endpoint | undefined;
  /** Number of sends that wait for room. */
  #senders = 0;
  #connections: ZmqSocket | undefined;
  #closed = false;
  /** Whether libzmq reports an error when one receives without a message (REQ). */
  readonly #asksFirst: boolean;

  /** Makes a socket, not bound or connected yet, or continues with an existing one. */
  protected constructor(kind: SocketKind, settings: SocketSettings, made?: ZmqSocket) {
    this.#asksFirst = kind === "request";
    this.#socket = made ?? openSocket(kind);
    try {
      if (made === undefined) configure(this.#socket, kind, settings);
      this.#wait = new SocketWait(waitForDescriptor(this.#socket.descriptor));
    } catch (error) {
      closeSocket(this.#socket);
      throw error;
    }
  }

  get closed(): boolean {
    return this.#closed;
  }

  /** The address that it is bound to, with the system's port if 0 was given. */
  get address(): string {
    return this.#socket.lastEndpoint;
  }

  /**
   * Listens on `address` (`tcp://127.0.0.1:0`, `ipc:///run/x.ipc`).
   * @throws {Error} If it is in use or not available.
   */
  bind(address: string): Promise<void> {
    return Promise.try(() => {
      this.#socket.bind(address);
      this.#wait.look();
    });
  }

  /**
   * Listens with a socket of the system that listens already, which belongs to libzmq from now on.
   * @param address Where it listens.
   */
  take(descriptor: number, address: string): void {
    this.#socket.set("useDescriptor", descriptor);
    this.#socket.bind(address);
    this.#wait.look();
  }

  /** Connects to `address`, now or when somebody listens there. */
  connect(address: string): void {
    this.#socket.connect(address);
    this.#wait.look();
  }

  /** Closes the socket at once; waits on it resolve with `undefined`. May be called twice. */
  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#wait.close();
    if (this.#losses !== undefined || this.#connections !== undefined) this.#socket.endMonitor();
    this.#losses?.close();
    if (this.#connections !== undefined) closeSocket(this.#connections);
    closeSocket(this.#socket);
  }

  [Symbol.dispose](): void {
    this.close();
  }

  /**
   * Receives the next message; `undefined` after `timeoutMs` (negative: no limit) or when closed.
   * @param onReceived Called with the message in the same turn: a thread that takes over finds that both have happened,
   * or neither.
   */
  protected async receiveWithin(timeoutMs: number, onReceived?: (frames: Frames) => void): Promise<Frames | undefined> {
    const deadline = timeoutMs < 0 ? Infinity : performance.now() + timeoutMs;
    await yieldToOthers();
    // Without waiting, receive is called directly, without asking first; a REQ does not allow that.
    let ready = !this.#asksFirst || await this.#wait.until(() => this.#socket.readable, deadline);
    while (ready) {
      const frames = this.#unlessClosed(() => {
        const message = this.#socket.tryReceive();
        if (message !== undefined) onReceived?.(message);
        return message;
      });
      if (frames !== undefined) {
        socketMemory.worked(bytesOf(frames));
        return frames;
      }
      ready = await this.#wait.until(() => this.#socket.readable, deadline);
    }
    return undefined;
  }

  /**
   * Sends a message.
   * @returns Whether it was sent within `timeoutMs` (negative: no limit). If there is room, it is sent before the
   * promise is returned, so that the caller can do less urgent work meanwhile.
   * @param onSent Called in the same turn: a thread that takes over finds that both have happened, or neither.
   */
  protected async sendWithin(frames: Frames, timeoutMs: number, onSent?: () => void): Promise<boolean> {
    const now = this.#senders === 0 && this.sendNow(frames, onSent);
    if (!now && !(await this.#sendWhenWritable(frames, timeoutMs, onSent))) return false;
    socketMemory.worked(bytesOf(frames));
    await yieldToOthers(); // after the send, so that sends keep their order
    return true;
  }

  async #sendWhenWritable(frames: Frames, timeoutMs: number, onSent?: () => void): Promise<boolean> {
    const deadline = timeoutMs < 0 ? Infinity : performance.now() + timeoutMs;
    this.#senders++;
    try {
      while (await this.#wait.until(() => this.#socket.writable, deadline)) {
        if (this.sendNow(frames, onSent)) return true;
      }
      return false;
    } finally {
      this.#senders--;
    }
  }

  /** Runs `run` in one turn; does nothing if the socket was closed between the wake-up and the waiting call. */
  #unlessClosed<T>(run: () => T): T | undefined {
    if (this.#closed) return undefined;
    return withLease(() => {
      const result = run();
      this.#wait.look();
      return result;
    });
  }

  /** Makes a socket that receives this socket's events of lost connections; it is closed with this one. */
  protected monitor<Monitor extends Endpoint>(monitor: Monitor): Monitor {
    const address = `inproc://losses-${this.#socket.address}`;
    this.#socket.monitorLosses(address);
    monitor.connect(address);
    this.#losses = monitor;
    return monitor;
  }

  /**
   * The PAIR that reports the connections of a listening socket, for a connection limiter. Call it before {@linkcode
   * bind}.
   */
  connections(): ZmqSocket {
    this.#connections = openSocket("pair");
    this.#socket.monitorConnections(this.#connections);
    return this.#connections;
  }

  /**
   * Sends a message if that is possible without waiting.
   * @returns Whether it was sent.
   */
  protected sendNow(frames: Frames, onSent?: () => void): boolean {
    return this.#unlessClosed(() => {
      const sent = this.#socket.trySend(frames);
      if (sent) onSent?.();
      return sent;
    }) === true;
  }

  /** Sets an option of an open socket. */
  protected set(option: SocketOption, value: number | string): void {
    this.#socket.set(option, value);
  }

  /** Subscribes to messages that begin with `prefix`, or unsubscribes. */
  protected want(prefix: string, wanted: boolean): void {
    this.#socket.set(wanted ? "subscribe" : "unsubscribe", prefix);
  }
}

/** An address at which threads of this process connect to each other without a libzmq thread in between. */
export interface SharedPlace {
  /** Address in memory of the context of both sides' sockets. */
  readonly context: bigint;
  /** The `inproc://…` address that a socket of that context is bound to. */
  readonly address: string;
}

function bytesOf(frames: Frames): number {
  return frames.reduce((sum, frame) => sum + frame.length, 0);
}

/** A socket that receives and sends: REQ, DEALER, XPUB. */
export class Duplex extends Endpoint {
  /** REQ: one request, then its reply. */
  static request(settings: SocketSettings = {}): Duplex {
    return new Duplex("request", settings);
  }

  /**
   * The DEALER of this thread's predecessor, with the messages that have come meanwhile; a new one connected to `place`
   * if there is none. It is the one socket of a thread with notes that the successor takes over.
   */
  static inherited({ context, address }: SharedPlace, settings: SocketSettings = {}): Duplex {
    const socket = openInherited("dealer", context, (made) => {
      configure(made, "dealer", settings);
      made.connect(address);
    });
    return new Duplex("dealer", settings, socket);
  }

  /**
   * XPUB: sends each message to all subscribers, as PUB. It receives 1 or 0 and a topic when a topic gets its first
   * subscriber or loses its last one.
   */
  static xpub(settings: SocketSettings = {}): Duplex {
    return new Duplex("xpub", settings);
  }

  /** XPUB: sets the message that each new subscriber gets first. */
  welcome(message: string): void {
    this.set("welcomeMessage", message);
  }

  /**
   * XPUB: whether a message is dropped for a subscriber whose queue is full (`true`, libzmq's default), or refused for
   * all. After it has dropped a message, libzmq reports nothing about that subscriber until it reads again.
   */
  set dropSilently(on: boolean) {
    this.set("xpubNoDrop", on ? 0 : 1);
  }

  /**
   * Sends a message if it can be sent at once.
   * @returns Whether it was sent.
   */
  offer(frames: Frames): boolean {
    return this.sendNow(frames);
  }

  /**
   * Waits for a message.
   * @returns It, or `undefined` after `timeoutMs` (default: no limit) or when closed.
   * @param onReceived Called with the message in the same turn, see lib/runtime/thread_lease.ts.
   */
  receive(timeoutMs = -1, onReceived?: (frames: Frames) => void): Promise<Frames | undefined> {
    return this.receiveWithin(timeoutMs, onReceived);
  }

  /**
   * Sends a message.
   * @returns Whether it was sent within `timeoutMs` (default: no limit).
   * @param onSent Called in the same turn, see lib/runtime/thread_lease.ts.
   */
  send(frames: Frames, timeoutMs = -1, onSent?: () => void): Promise<boolean> {
    return this.sendWithin(frames, timeoutMs, onSent);
  }
}

/** A socket that only receives: PULL, SUB. */
export class Inbox extends Endpoint {
  /** PULL: receives from all pushers in turn. */
  static pull(settings: SocketSettings = {}): Inbox {
    return new Inbox("pull", settings);
  }

  /**
   * The PULL of this thread's predecessor, still bound, with the messages that have come meanwhile; a new one bound to
   * `addresses` if there is none. It is the one socket of a thread with notes that the successor takes over.
   * @throws {SocketError} If an address is in use or not available.
   */
  static inherited(context: bigint, addresses: readonly string[], settings: SocketSettings = {}): Inbox {
    const socket = openInherited("pull", context, (made) => {
      configure(made, "pull", settings);
      for (const address of addresses) made.bind(address);
    });
    return new Inbox("pull", settings, socket);
  }

  /** SUB: receives what {@linkcode subscribe} asked for. */
  static subscriber(settings: SocketSettings = {}): Inbox {
    return new Inbox("subscriber", settings);
  }

  /**
   * Calls `lost` whenever a connection is lost (closed by the peer, reset, silent for too long) or cannot be made; may
   * be several times for each. For one caller.
   */
  onLost(lost: () => void): void {
    // Without a limit: libzmq's thread would wait for room, and stop all sockets.
    const losses = this.monitor(new Inbox("pair", { highWaterMark: 0 }));
    const listen = async () => {
      while (await losses.receive() !== undefined) lost();
    };
    void listen();
  }

  /** Makes a SUB receive every message whose first frame begins with `prefix`. */
  subscribe(prefix: string): void {
    this.want(prefix, true);
  }

  /** Ends a {@linkcode subscribe}. */
  unsubscribe(prefix: string): void {
    this.want(prefix, false);
  }

  /**
   * Waits for a message.
   * @returns It, or `undefined` after `timeoutMs` (default: no limit) or when closed.
   */
  receive(timeoutMs = -1): Promise<Frames | undefined> {
    return this.receiveWithin(timeoutMs);
  }
}

/** A socket that only sends: PUSH. */
export class Outbox extends Endpoint {
  /** PUSH: sends each message to one puller; waits while none can take it. */
  static push(settings: SocketSettings = {}): Outbox {
    return new Outbox("push", settings);
  }

  /** PUSH to a PULL of this process. */
  static pushTo({ context, address }: SharedPlace, settings: SocketSettings = {}): Outbox {
    const socket = openSocket("push", context);
    configure(socket, "push", settings);
    const outbox = new Outbox("push", settings, socket);
    outbox.connect(address);
    return outbox;
  }

  /**
   * Sends a message.
   * @returns Whether it was sent within `timeoutMs` (default: no limit).
   */
  send(frames: Frames, timeoutMs = -1): Promise<boolean> {
    return this.sendWithin(frames, timeoutMs);
  }
}
