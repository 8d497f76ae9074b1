/**
 * Detects connections that libzmq closed while the peer was sending a message: the message was too large, or not valid.
 * libzmq reports neither who closed a connection nor why, and closes the descriptor at once. Therefore the newest
 * connections have a second descriptor; a peer that is cut off reconnects, so it is among the newest. Only on Linux;
 * other systems report nothing.
 * @module
 */

import { hasUnread, holdConnection, isSameSocket, releaseConnection } from "#lib/libc/libc.ts";
import { clearTimeout, setTimeout, type Timer } from "#lib/os/timers.ts";

/** Number of connections with a second descriptor. */
const HELD = 64;
/** Unread bytes that indicate a too large message. Honest requests leave fewer. */
const UNREAD_BYTES = 4_096;

/** Time in which libzmq closes its descriptor after it ended a connection, in milliseconds. */
const CLOSED_MS = 20;

/** The newest connections of one listening socket, by their descriptors. */
export class CutConnections {
  readonly #held = new Map<number, number>();
  /** Closed connections that are checked again. */
  readonly #looking = new Map<Timer, number>();

  /** A connection was accepted. */
  add(connection: number): void {
    this.forget(connection);
    const held = holdConnection(connection);
    if (held === undefined) return;
    this.#held.set(connection, held);
    if (this.#held.size <= HELD) return;
    const [oldest] = this.#held.keys();
    this.forget(oldest);
  }

  /**
   * A connection has ended.
   * @param onEnded Called if libzmq closed it while the peer was sending a message.
   */
  ended(connection: number, onEnded: () => void): void {
    const held = this.#held.get(connection);
    if (held === undefined) return;
    if (!hasUnread(held, UNREAD_BYTES)) return this.forget(connection);
    this.#held.delete(connection);
    // libzmq reports first and closes its descriptor afterwards. If the descriptor stays open, its number belonged to
    // another connection already when this was reported; that connection continues.
    const timer = setTimeout(() => {
      this.#looking.delete(timer);
      if (!isSameSocket(held, connection)) onEnded();
      releaseConnection(held);
    }, CLOSED_MS);
    this.#looking.set(timer, held);
  }

  /** Stops watching a connection. May be called twice. */
  forget(connection: number): void {
    const held = this.#held.get(connection);
    if (held === undefined) return;
    this.#held.delete(connection);
    releaseConnection(held);
  }

  /** Stops watching all connections. */
  close(): void {
    for (const connection of [...this.#held.keys()]) this.forget(connection);
    for (const [timer, held] of this.#looking) {
      clearTimeout(timer);
      releaseConnection(held);
    }
    this.#looking.clear();
  }
}
