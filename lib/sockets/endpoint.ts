/**
 * ZeroMQ sockets that wake up: every socket that JavaScript reads or writes is made here.
 *
 * libzmq is only ever asked for what can be done at once; while a socket is not ready, a thread waits for the descriptors of
 * all of them (epoll.ts). They fire for handshakes too, so after each wake-up the socket is asked again. Moves
 * frames only; knows nothing of encodings or keys.
 * Source: ZeroMQ RFC 28 (request-reply), 29 (publish-subscribe), 30 (pipeline); zmq_getsockopt(3), ZMQ_FD.
 * @module
 */

import { waitForDescriptor } from "./epoll.ts";
import type { Frames, SocketKind, SocketOption, ZmqSocket } from "./libzmq.ts";
import { configure, type SocketSettings } from "./settings.ts";
import { SocketWait } from "./wait.ts";
import { leased } from "../process/thread_lease.ts";
import { closeSocket, openInherited, openSocket, socketMemory } from "./context.ts";

export type { Frames } from "./libzmq.ts";

/** After so many messages that could be taken or sent at once, whatever else waits in this thread gets its turn. */
const IN_A_ROW = 256;
let inARow = 0;

function othersTurn(): Promise<void> | undefined {
  if (++inARow < IN_A_ROW) return undefined;
  inARow = 0;
  return new Promise((resolve) => setTimeout(resolve));
}

/** A socket of any kind. */
export abstract class Endpoint {
  readonly #socket: ZmqSocket;
  readonly #wait: SocketWait;
  #losses: Endpoint | undefined;
  /** How many sends wait for room. */
  #givers = 0;
  #connections: ZmqSocket | undefined;
  #closed = false;
  /** Whether it is an error of libzmq's to try to receive when nothing is to come. */
  readonly #asksFirst: boolean;

  /** Makes the socket, which neither listens nor connects yet, or goes on with one that was made and set already. */
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

  /** Whether {@linkcode close} was called. */
  get closed(): boolean {
    return this.#closed;
  }

  /** The address it is bound to, with the port that the system chose where 0 was asked for. */
  get address(): string {
    return this.#socket.lastEndpoint;
  }

  /** Listens on `address` (`tcp://127.0.0.1:0`, `ipc:///run/x.ipc`). @throws {Error} If it is taken or not ours. */
  bind(address: string): Promise<void> {
    return Promise.try(() => {
      this.#socket.bind(address);
      this.#wait.look();
    });
  }

  /** Connects to `address`, now or as soon as somebody listens there. */
  connect(address: string): void {
    this.#socket.connect(address);
    this.#wait.look();
  }

  /** Closes at once; whoever waits on the socket gets `undefined`. Twice is fine. */
  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#wait.close();
    if (this.#losses !== undefined || this.#connections !== undefined) this.#socket.endMonitor();
    this.#losses?.close();
    if (this.#connections !== undefined) closeSocket(this.#connections);
    closeSocket(this.#socket);
  }

  /** `using` closes it. */
  [Symbol.dispose](): void {
    this.close();
  }

  /**
   * The next message, or `undefined` after `timeoutMs` (negative: no end) or when closed.
   * @param taken Told of the message in the turn in which it is taken: whoever takes this thread's place finds both done, or neither.
   */
  protected async take(timeoutMs: number, taken?: (frames: Frames) => void): Promise<Frames | undefined> {
    const deadline = timeoutMs < 0 ? Infinity : performance.now() + timeoutMs;
    await othersTurn();
    // Of many that wait, all but the first are taken without asking whether there is one; a REQ may not be asked so.
    let ready = !this.#asksFirst || await this.#wait.until(() => this.#socket.readable, deadline);
    while (ready) {
      const frames = this.#unlessClosed(() => {
        const message = this.#socket.tryReceive();
        if (message !== undefined) taken?.(message);
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
   * Whether the message was taken within `timeoutMs` (negative: no end). Where there is room it is gone when this returns its
   * promise, so that the caller can do what is not urgent while the message is on its way.
   * @param given Called in the turn in which the message goes: whoever takes this thread's place finds both done, or neither.
   */
  protected async give(frames: Frames, timeoutMs: number, given?: () => void): Promise<boolean> {
    const now = this.#givers === 0 && this.giveNow(frames, given);
    if (!now && !(await this.#giveWhenWritable(frames, timeoutMs, given))) return false;
    socketMemory.worked(bytesOf(frames));
    await othersTurn(); // after it: sends that are made at once keep their order
    return true;
  }

  async #giveWhenWritable(frames: Frames, timeoutMs: number, given?: () => void): Promise<boolean> {
    const deadline = timeoutMs < 0 ? Infinity : performance.now() + timeoutMs;
    this.#givers++;
    try {
      while (await this.#wait.until(() => this.#socket.writable, deadline)) {
        if (this.giveNow(frames, given)) return true;
      }
      return false;
    } finally {
      this.#givers--;
    }
  }

  /** What `run` gives, in one turn; nothing if the socket was closed between the wake-up and the one who waited for it. */
  #unlessClosed<T>(run: () => T): T | undefined {
    if (this.#closed) return undefined;
    return leased(() => {
      const result = run();
      this.#wait.look();
      return result;
    });
  }

  /** What hears of this socket's lost connections; closed with it. */
  protected monitor<Monitor extends Endpoint>(monitor: Monitor): Monitor {
    const address = `inproc://losses-${this.#socket.address}`;
    this.#socket.monitorLosses(address);
    monitor.connect(address);
    this.#losses = monitor;
    return monitor;
  }

  /** The PAIR that is told of the connections to a socket that listens, for a connection limiter; to be asked for before {@linkcode bind}. */
  connections(): ZmqSocket {
    this.#connections = openSocket("pair");
    this.#socket.monitorConnections(this.#connections);
    return this.#connections;
  }

  /** Whether the message was taken at once. */
  protected giveNow(frames: Frames, given?: () => void): boolean {
    return this.#unlessClosed(() => {
      const sent = this.#socket.trySend(frames);
      if (sent) given?.();
      return sent;
    }) === true;
  }

  /** Sets an option of the socket while it is in use. */
  protected set(option: SocketOption, value: number | string): void {
    this.#socket.set(option, value);
  }

  /** Asks for (`true`) or no longer for (`false`) messages that begin with `prefix`. */
  protected want(prefix: string, wanted: boolean): void {
    this.#socket.set(wanted ? "subscribe" : "unsubscribe", prefix);
  }
}

/** Where threads of this process meet without a thread of libzmq's between them. */
export interface SharedPlace {
  /** Where the context is in memory that the sockets on both sides are of. */
  readonly context: bigint;
  /** An address that a socket of it has been bound to, `inproc://…`. */
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
   * The DEALER of the thread in whose place this one is, with whatever came for it meanwhile; a new one that connects to
   * `place` if there was none. It is the one socket of a thread with notes that its successor goes on with.
   */
  static inherited({ context, address }: SharedPlace, settings: SocketSettings = {}): Duplex {
    const socket = openInherited("dealer", context, (made) => {
      configure(made, "dealer", settings);
      made.connect(address);
    });
    return new Duplex("dealer", settings, socket);
  }

  /** XPUB: each message to every subscriber, as PUB; receives a 1 or 0 and the topic when the first of a topic's
   * subscribers comes, or the last one goes. */
  static xpub(settings: SocketSettings = {}): Duplex {
    return new Duplex("xpub", settings);
  }

  /** XPUB: the message that each new subscriber gets first. */
  welcome(message: string): void {
    this.set("welcomeMessage", message);
  }

  /**
   * XPUB: whether a message is dropped for a subscriber whose queue is full, as is libzmq's way (`true`), or not taken at
   * all. Of a subscriber for which one was dropped libzmq knows nothing more until it reads again.
   */
  set dropSilently(on: boolean) {
    this.set("xpubNoDrop", on ? 0 : 1);
  }

  /** How many messages are kept for a peer that does not read, of the peers that are there as well. */
  set highWaterMark(messages: number) {
    this.set("sendHighWaterMark", messages);
  }

  /** Sends a message if it can be done now. @returns Whether it was taken. */
  offer(frames: Frames): boolean {
    return this.giveNow(frames);
  }

  /**
   * Waits for a message. @returns It, or `undefined` after `timeoutMs` (default: no end) or when closed.
   * @param taken Told of the message in the turn in which it is taken, see lib/process/thread_lease.ts.
   */
  receive(timeoutMs = -1, taken?: (frames: Frames) => void): Promise<Frames | undefined> {
    return this.take(timeoutMs, taken);
  }

  /**
   * Sends a message. @returns Whether it was taken within `timeoutMs` (default: no end).
   * @param given Called in the turn in which the message goes, see lib/process/thread_lease.ts.
   */
  send(frames: Frames, timeoutMs = -1, given?: () => void): Promise<boolean> {
    return this.give(frames, timeoutMs, given);
  }
}

/** A socket that only receives: PULL, SUB. */
export class Inbox extends Endpoint {
  /** PULL: what the pushers send, in turn. */
  static pull(settings: SocketSettings = {}): Inbox {
    return new Inbox("pull", settings);
  }

  /**
   * The PULL of the thread in whose place this one is, bound as it was, with whatever came for it meanwhile; a new one that is
   * bound to `addresses` if there was none. It is the one socket of a thread with notes that its successor goes on with.
   * @throws {SocketError} If an address is taken or not ours.
   */
  static inherited(context: bigint, addresses: readonly string[], settings: SocketSettings = {}): Inbox {
    const socket = openInherited("pull", context, (made) => {
      configure(made, "pull", settings);
      for (const address of addresses) made.bind(address);
    });
    return new Inbox("pull", settings, socket);
  }

  /** SUB: what a publisher sends, as far as {@linkcode subscribe} asked for it. */
  static subscriber(settings: SocketSettings = {}): Inbox {
    return new Inbox("subscriber", settings);
  }

  /**
   * Calls `lost` whenever a connection is lost (ended by the peer, reset, silent for too long) or could not be made; more than
   * once for each. For one caller.
   */
  onLost(lost: () => void): void {
    // Any number: libzmq's thread waits for room, and with it all sockets.
    const losses = this.monitor(new Inbox("pair", { highWaterMark: 0 }));
    const listen = async () => {
      while (await losses.receive() !== undefined) lost();
    };
    void listen();
  }

  /** Has a SUB ask for every message whose first frame begins with `prefix`. */
  subscribe(prefix: string): void {
    this.want(prefix, true);
  }

  /** Takes a {@linkcode subscribe} back. */
  unsubscribe(prefix: string): void {
    this.want(prefix, false);
  }

  /** Waits for a message. @returns It, or `undefined` after `timeoutMs` (default: no end) or when closed. */
  receive(timeoutMs = -1): Promise<Frames | undefined> {
    return this.take(timeoutMs);
  }
}

/** A socket that only sends: PUSH. */
export class Outbox extends Endpoint {
  /** PUSH: each message to one puller; waits while nobody can take it. */
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

  /** Sends a message. @returns Whether it was taken within `timeoutMs` (default: no end). */
  send(frames: Frames, timeoutMs = -1): Promise<boolean> {
    return this.give(frames, timeoutMs);
  }
}
