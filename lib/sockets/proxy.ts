/**
 * libzmq's own proxy: what moves messages between two sockets without JavaScript.
 * Source: zmq_proxy(3).
 * @module
 */

import { type SocketKind, ZmqContext, ZmqSocket } from "./libzmq.ts";
import { configure, type SocketSettings } from "./settings.ts";

/** Two bound sockets, and a native thread in which libzmq moves messages between them. */
export class Forwarder {
  /** Of its own: to shut it down is what ends the thread. */
  readonly #context = ZmqContext.create();
  readonly #front: ZmqSocket;
  readonly #back: ZmqSocket;
  #monitor: ZmqSocket | undefined;
  #done: Promise<void> | undefined;
  #closed = false;

  private constructor(
    front: { readonly kind: SocketKind; readonly settings: SocketSettings },
    back: { readonly kind: SocketKind; readonly settings: SocketSettings },
  ) {
    [this.#front, this.#back] = [front, back].map(({ kind, settings }) => {
      const socket = this.#context.socket(kind);
      configure(socket, kind, settings);
      return socket;
    });
  }

  /** Requests to a ROUTER in front go to the DEALER's workers behind, replies the other way. */
  static requests(front: SocketSettings, back: SocketSettings): Forwarder {
    return new Forwarder({ kind: "router", settings: front }, { kind: "dealer", settings: back });
  }

  /** The PAIR that is told of the connections in front, for a connection limiter; to be asked for before {@linkcode start}. */
  monitor(): ZmqSocket {
    this.#monitor = this.#context.socket("pair");
    this.#front.monitorConnections(this.#monitor);
    return this.#monitor;
  }

  /** Where its context is in memory, for threads that connect by `inproc://`, with sockets of that context. */
  get context(): bigint {
    return this.#context.address;
  }

  /** Binds both sides and starts the thread. @returns The two addresses in force. @throws {SocketError} If it cannot. */
  start(addresses: { readonly front: string; readonly back: string }): Promise<{ front: string; back: string }> {
    return Promise.try(() => {
      this.#front.bind(addresses.front);
      this.#back.bind(addresses.back);
      const bound = { front: this.#front.lastEndpoint, back: this.#back.lastEndpoint };
      this.#done = this.#move();
      return bound;
    });
  }

  async #move(): Promise<void> {
    while (!this.#closed) await ZmqSocket.proxy(this.#front, this.#back);
  }

  /**
   * Ends the thread and closes both sockets. Twice is fine.
   * @param options.abandoned Whether others' sockets of this context may be left that nobody closes: it would wait for them.
   */
  async close({ abandoned = false } = {}): Promise<void> {
    if (this.#closed) return await this.#done;
    this.#closed = true;
    this.#context.shutdown();
    await this.#done;
    // Not before: of a connection that ended meanwhile libzmq's thread would wait to tell, for ever.
    this.#monitor?.close();
    this.#front.close();
    this.#back.close();
    if (!abandoned) this.#context.terminate();
  }
}
