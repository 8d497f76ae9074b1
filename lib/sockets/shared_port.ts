/**
 * XPUB sockets that share one port; each has a part of the subscribers. For each connection that ends, libzmq walks
 * over all subscriptions of its socket: with thousands of subscribers at one socket, each with a topic of its own, a
 * network that fails for a moment would keep it busy for minutes.
 * Source: measured, `generic_mtrie_t::rm` of libzmq 4.3.5; zmq_setsockopt(3), ZMQ_USE_FD.
 * @module
 */

import { listenBeside, SPREADS_CONNECTIONS } from "#lib/libc/tcp_listeners.ts";
import { Duplex } from "./endpoint.ts";
import type { Frames, ZmqSocket } from "./libzmq.ts";
import type { SocketSettings } from "./settings.ts";

/** Queue of pending connections where the settings have none. Source: libzmq's default. */
const BACKLOG = 100;

/** The XPUB sockets of one port. */
export class SharedPort {
  readonly #sockets: readonly Duplex[];
  readonly #backlog: number;

  /** @param count How many sockets; one on systems that do not spread connections. */
  constructor(settings: SocketSettings, count: number) {
    this.#sockets = Array.from({ length: SPREADS_CONNECTIONS ? count : 1 }, () => Duplex.xpub(settings));
    this.#backlog = settings.backlog ?? BACKLOG;
  }

  /** How many sockets there are. */
  get count(): number {
    return this.#sockets.length;
  }

  /** As {@linkcode Duplex.connections}, of each socket. */
  connections(): ZmqSocket[] {
    return this.#sockets.map((socket) => socket.connections());
  }

  /**
   * Listens.
   * @param address `tcp://HOST:PORT`; port 0: the system chooses.
   * @throws {SocketError} If it is in use or not available.
   */
  async bind(address: string): Promise<void> {
    const [first, ...others] = this.#sockets;
    await first.bind(address);
    if (others.length === 0) return;
    const descriptors = listenBeside(this.port, others.length, this.#backlog);
    others.forEach((socket, index) => socket.take(descriptors[index], first.address));
  }

  /** The port that it is bound to. */
  get port(): number {
    return Number(this.#sockets[0].address.split(":").at(-1));
  }

  /** Sends a message to all subscribers. */
  async send(frames: Frames): Promise<void> {
    await Promise.all(this.#sockets.map((socket) => socket.send(frames)));
  }

  /** Calls `take` with each frame of a subscriber, until it is closed. */
  async receive(take: (frame: Uint8Array) => void): Promise<void> {
    await Promise.all(this.#sockets.map(async (socket) => {
      for (let frames = await socket.receive(); frames !== undefined; frames = await socket.receive()) take(frames[0]);
    }));
  }

  /** Closes all sockets at once. May be called twice. */
  close(): void {
    for (const socket of this.#sockets) socket.close();
  }

  [Symbol.dispose](): void {
    this.close();
  }
}
