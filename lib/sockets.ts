/**
 * ZeroMQ sockets that wake up: every socket of this project is made here.
 *
 * Deno's `uv_poll` shim is one-shot, and libzmq's descriptor fires for handshakes too, so the addon's own waiting loses
 * wake-ups for ever. Here the addon never waits: both time-outs are 0, and while a socket is not ready, a thread
 * waits for the descriptors of all of them (descriptor_waits.ts). Moves frames only; knows nothing of encodings or keys.
 * Source: ZeroMQ RFC 28 (request-reply), 29 (publish-subscribe), 30 (pipeline); zmq_getsockopt(3), ZMQ_FD.
 * @module
 */

import * as zmq from "zeromq";
import { waitForDescriptor } from "./descriptor_waits.ts";
import { SocketWait } from "./socket_wait.ts";

/** One message: its frames. */
export type Frames = Uint8Array[];

/** ZMQ_FD of zmq_getsockopt(3): the descriptor that says "ask me for my events again". */
const ZMQ_FD = 14;
/** ZMQ_XPUB_WELCOME_MSG of zmq_setsockopt(3), which a PUB takes too. */
const ZMQ_XPUB_WELCOME_MSG = 72;

/** Lets this thread have `count` sockets, where libzmq's own limit is 1,023; to be called before the first is made. */
export function prepareManySockets(count: number): void {
  zmq.context.maxSockets = count;
}

/** What a socket is set to; every field is libzmq's option of that name. Times in milliseconds. */
export interface SocketSettings {
  /** Messages kept for a peer that does not read; 0 keeps all. libzmq drops or blocks beyond it. Default 1000. */
  readonly highWaterMark?: number;
  /** How long `close` tries to deliver what was sent. Default 0. */
  readonly lingerMs?: number;
  /** ZMTP PING this often, and a peer that is silent for `heartbeatTimeoutMs` is dropped. Default: off. */
  readonly heartbeatIntervalMs?: number;
  /** How long a peer may be silent. */
  readonly heartbeatTimeoutMs?: number;
  /** A peer that sends a larger frame is disconnected, in bytes. Default: any size. */
  readonly maxFrameBytes?: number;
  /** Wait before a new try to connect, and its upper bound when it doubles. Default 100, no doubling. */
  readonly reconnectMs?: number;
  /** The longest wait between two tries. */
  readonly reconnectMaxMs?: number;
  /** Pending connections of a listening socket. Default 100. */
  readonly backlog?: number;
  /** The identity that a ROUTER sees. */
  readonly identity?: string;
  /** Seconds of TCP keep-alive's first wait. Default: the system's. */
  readonly keepaliveIdleS?: number;
  /** Whether to listen on IPv6 addresses too. */
  readonly ipv6?: boolean;
}

/** The kinds of socket, each with what makes one. */
const KINDS = {
  request: () => new zmq.Request(),
  dealer: () => new zmq.Dealer(),
  router: () => new zmq.Router(),
  pull: () => new zmq.Pull(),
  subscriber: () => new zmq.Subscriber(),
  push: () => new zmq.Push(),
  publisher: () => new zmq.Publisher(),
  announcer: () => new zmq.XPublisher(),
} as const;

/** What the addon's sockets have in common, as far as it is used; a kind that cannot do a thing is never asked to. */
interface Raw extends ProtectedOptions {
  readonly readable: boolean;
  readonly writable: boolean;
  receive(): Promise<Uint8Array[]>;
  send(frames: Uint8Array[]): Promise<void>;
  subscribe(prefix: string): void;
  unsubscribe(prefix: string): void;
}

/** A socket of any kind. */
export abstract class Endpoint {
  readonly #socket: zmq.Socket;
  readonly #raw: Raw;
  readonly #wait: SocketWait;
  #closed = false;

  /** Makes the socket; it neither listens nor connects yet. */
  protected constructor(kind: keyof typeof KINDS, settings: SocketSettings) {
    this.#socket = KINDS[kind]();
    configure(this.#socket, settings);
    // Not in a Forwarder: its thread is to wait where a queue is full, and would end instead.
    neverWait(this.#socket);
    this.#raw = this.#socket as unknown as Raw;
    this.#wait = new SocketWait(waitForDescriptor(this.#raw.getInt32Option(ZMQ_FD)));
  }

  /**
   * Called when libzmq had something to tell that is no message. A connecting SUB hears so of a lost connection, at once;
   * seldom, it is nothing.
   */
  set onStir(stirred: (() => void) | undefined) {
    this.#wait.onStir = stirred;
  }

  /** Whether {@linkcode close} was called. */
  get closed(): boolean {
    return this.#closed;
  }

  /** The address it is bound to, with the port that the system chose where 0 was asked for. */
  get address(): string {
    return this.#socket.lastEndpoint ?? "";
  }

  /** Listens on `address` (`tcp://127.0.0.1:0`, `ipc:///run/x.ipc`). @throws {Error} If it is taken or not ours. */
  async bind(address: string): Promise<void> {
    await this.#socket.bind(address);
    this.#wait.look();
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
    this.#socket.close();
  }

  /** `using` closes it. */
  [Symbol.dispose](): void {
    this.close();
  }

  /** The next message, or `undefined` after `timeoutMs` (negative: no end) or when closed. */
  protected async take(timeoutMs: number): Promise<Frames | undefined> {
    const deadline = timeoutMs < 0 ? Infinity : performance.now() + timeoutMs;
    while (await this.#wait.until(() => this.#raw.readable, deadline)) {
      const frames = await this.#unlessTaken(() => this.#raw.receive());
      if (frames !== undefined) return frames.map(plain);
    }
    return undefined;
  }

  /** Whether the message was taken within `timeoutMs` (negative: no end). */
  protected async give(frames: Frames, timeoutMs: number): Promise<boolean> {
    const deadline = timeoutMs < 0 ? Infinity : performance.now() + timeoutMs;
    while (await this.#wait.until(() => this.#raw.writable, deadline)) {
      if (await this.#unlessTaken(() => this.#raw.send(frames).then(() => true))) return true;
    }
    return false;
  }

  /** What `run` gives; `undefined` if somebody else was faster with the message, or with the room for one. */
  async #unlessTaken<T>(run: () => Promise<T>): Promise<T | undefined> {
    try {
      return await run();
    } catch (error) {
      if (this.#closed || (error instanceof Error && "code" in error && error.code === "EAGAIN")) return undefined;
      throw error;
    } finally {
      this.#wait.look();
    }
  }

  /** Asks for (`true`) or no longer for (`false`) messages that begin with `prefix`. */
  protected want(prefix: string, wanted: boolean): void {
    if (wanted) this.#raw.subscribe(prefix);
    else this.#raw.unsubscribe(prefix);
  }
}

function configure(socket: zmq.Socket, settings: SocketSettings): void {
  const options = socket as unknown as Record<string, unknown>;
  const set = (name: string, value: unknown) => {
    if (value !== undefined && name in socket) options[name] = value;
  };
  set("sendHighWaterMark", settings.highWaterMark);
  set("receiveHighWaterMark", settings.highWaterMark);
  set("linger", settings.lingerMs ?? 0);
  set("heartbeatInterval", settings.heartbeatIntervalMs);
  set("heartbeatTimeout", settings.heartbeatTimeoutMs);
  set("maxMessageSize", settings.maxFrameBytes);
  set("reconnectInterval", settings.reconnectMs);
  set("reconnectMaxInterval", settings.reconnectMaxMs);
  set("backlog", settings.backlog);
  set("routingId", settings.identity);
  set("ipv6", settings.ipv6);
  if (settings.keepaliveIdleS !== undefined) {
    set("tcpKeepalive", 1);
    set("tcpKeepaliveIdle", settings.keepaliveIdleS);
  }
  // A ROUTER's peer that comes back under the same identity takes the old one's place.
  set("handover", true);
}

/** The addon is never to wait by itself: what cannot be done at once is an error. */
function neverWait(socket: zmq.Socket): void {
  const options = socket as unknown as Record<string, unknown>;
  for (const name of ["receiveTimeout", "sendTimeout"]) if (name in socket) options[name] = 0;
}

/** Public in the addon, protected in its types. */
interface ProtectedOptions {
  getInt32Option(option: number): number;
  setStringOption(option: number, value: string): void;
}

/** A socket that receives and sends: REQ, DEALER, ROUTER, XPUB. */
export class Duplex extends Endpoint {
  /** REQ: one request, then its reply. */
  static request(settings: SocketSettings = {}): Duplex {
    return new Duplex("request", settings);
  }

  /** DEALER: any number of messages either way; the empty delimiter of REQ and REP is the caller's to add and take off. */
  static dealer(settings: SocketSettings = {}): Duplex {
    return new Duplex("dealer", settings);
  }

  /** ROUTER: the first frame names the peer. */
  static router(settings: SocketSettings = {}): Duplex {
    return new Duplex("router", settings);
  }

  /** XPUB: each message to every subscriber, as PUB; receives a 1 or 0 and the topic when the first of a topic's
   * subscribers comes, or the last one goes. */
  static announcer(settings: SocketSettings = {}): Duplex {
    return new Duplex("announcer", settings);
  }

  /** Waits for a message. @returns It, or `undefined` after `timeoutMs` (default: no end) or when closed. */
  receive(timeoutMs = -1): Promise<Frames | undefined> {
    return this.take(timeoutMs);
  }

  /** Sends a message. @returns Whether it was taken within `timeoutMs` (default: no end). */
  send(frames: Frames, timeoutMs = -1): Promise<boolean> {
    return this.give(frames, timeoutMs);
  }
}

/** A socket that only receives: PULL, SUB. */
export class Inbox extends Endpoint {
  /** PULL: what the pushers send, in turn. */
  static pull(settings: SocketSettings = {}): Inbox {
    return new Inbox("pull", settings);
  }

  /** SUB: what a publisher sends, as far as {@linkcode subscribe} asked for it. */
  static subscriber(settings: SocketSettings = {}): Inbox {
    return new Inbox("subscriber", settings);
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

/** A socket that only sends: PUSH, PUB. */
export class Outbox extends Endpoint {
  /** PUSH: each message to one puller; waits while nobody can take it. */
  static push(settings: SocketSettings = {}): Outbox {
    return new Outbox("push", settings);
  }

  /** PUB: each message to every subscriber; dropped for those whose queue is at the high-water mark. */
  static publisher(settings: SocketSettings = {}): Outbox {
    return new Outbox("publisher", settings);
  }

  /** Sends a message. @returns Whether it was taken within `timeoutMs` (default: no end). */
  send(frames: Frames, timeoutMs = -1): Promise<boolean> {
    return this.give(frames, timeoutMs);
  }
}

/** Two bound sockets and libzmq's native thread that moves messages between them. */
export class Forwarder {
  // Fields, not locals: a proxy or a socket that nothing references is collected while its thread runs.
  readonly #front: zmq.Router | zmq.Pull;
  readonly #back: zmq.Dealer | zmq.Publisher;
  readonly #proxy: zmq.Proxy;
  #done: Promise<void> | undefined;

  private constructor(front: zmq.Router | zmq.Pull, back: zmq.Dealer | zmq.Publisher) {
    this.#front = front;
    this.#back = back;
    this.#proxy = new zmq.Proxy(front, back);
  }

  /** Requests to a ROUTER in front go to the DEALER's workers behind, replies the other way. */
  static requests(front: SocketSettings, back: SocketSettings): Forwarder {
    const router = new zmq.Router();
    const dealer = new zmq.Dealer();
    configure(router, front);
    configure(dealer, back);
    return new Forwarder(router, dealer);
  }

  /**
   * What is pushed to the PULL in front is published by the PUB behind. No XPUB: it hands subscriptions to the proxy, which
   * cannot pass them on to a PULL, and stops serving it.
   * @param welcome The message that each new subscriber gets first: when it has come, its subscription is live.
   */
  static events(front: SocketSettings, back: SocketSettings, welcome: string): Forwarder {
    const pull = new zmq.Pull();
    const publisher = new zmq.Publisher();
    configure(pull, front);
    configure(publisher, back);
    (publisher as unknown as ProtectedOptions).setStringOption(ZMQ_XPUB_WELCOME_MSG, welcome);
    return new Forwarder(pull, publisher);
  }

  /** Binds both sides and starts the thread. @returns The two addresses in force. */
  async start(addresses: { readonly front: string; readonly back: string }): Promise<{ front: string; back: string }> {
    await this.#front.bind(addresses.front);
    await this.#back.bind(addresses.back);
    const bound = { front: this.#front.lastEndpoint ?? "", back: this.#back.lastEndpoint ?? "" };
    this.#done = this.#proxy.run();
    return bound;
  }

  /** Ends the thread and closes both sockets. */
  async close(): Promise<void> {
    if (this.#done === undefined) {
      this.#front.close();
      this.#back.close();
      return;
    }
    const done = this.#done;
    this.#done = undefined;
    this.#proxy.terminate();
    await done;
  }
}

/** Node's Buffer, which the addon gives, prints, compares and slices otherwise than the Uint8Array that all code expects. */
function plain({ buffer, byteOffset, byteLength }: Uint8Array): Uint8Array {
  return new Uint8Array(buffer, byteOffset, byteLength);
}
