/**
 * libzmq's proxy: forwards messages between two sockets in a native thread, without JavaScript.
 * Source: zmq_proxy(3).
 * @module
 */

import { type SocketKind, ZmqContext, ZmqSocket } from "./libzmq.ts";
import { configure, type SocketSettings } from "./settings.ts";

/** Two bound sockets, and the native thread that forwards messages between them. */
export class ZmqProxy {
  /** A separate context, because shutting it down ends the thread. */
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

  /** A proxy for requests: a ROUTER towards the clients, a DEALER towards the workers. */
  static requests(front: SocketSettings, back: SocketSettings): ZmqProxy {
    return new ZmqProxy({ kind: "router", settings: front }, { kind: "dealer", settings: back });
  }

  /** The PAIR that reports the clients' connections, for a connection limiter. Call it before {@linkcode start}. */
  monitor(): ZmqSocket {
    this.#monitor = this.#context.socket("pair");
    this.#front.monitorConnections(this.#monitor);
    return this.#monitor;
  }

  /** The context's address in memory, for threads that connect by `inproc://` with sockets of this context. */
  get context(): bigint {
    return this.#context.address;
  }

  /**
   * Binds both sockets and starts the thread.
   * @returns The actual addresses.
   * @throws {SocketError} If binding fails.
   */
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
   * Ends the thread and closes both sockets. May be called twice.
   * @param options.abandoned Whether this context may have sockets of dead threads that nobody closes; termination
   * would wait for them.
   */
  async close({ abandoned = false } = {}): Promise<void> {
    if (this.#closed) return await this.#done;
    this.#closed = true;
    this.#context.shutdown();
    await this.#done;
    // Not earlier: libzmq's thread would wait forever to report a connection that ends meanwhile.
    this.#monitor?.close();
    this.#front.close();
    this.#back.close();
    if (!abandoned) this.#context.terminate();
  }
}
