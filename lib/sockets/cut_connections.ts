/**
 * Tells of a connection that libzmq has ended whether its peer was in the middle of a message: then it was too large a one, or
 * none at all. libzmq says neither who ended a connection nor why, and closes the descriptor at once. So the newest connections
 * have a second descriptor: who is cut off comes again, and is among the newest.
 *
 * On Linux alone; elsewhere nothing is told.
 * @module
 */

import { hasUnread, holdConnection, isSameSocket, letGo } from "../os/libc.ts";

/** How many connections have a second descriptor. */
const HELD = 64;
/** Of what was too large so much is still to be read at the least; of what a peer says before and after honest requests, less. */
const UNREAD_BYTES = 4_096;

/** Within this time libzmq has closed the descriptor of a connection that it has ended, in milliseconds. */
const CLOSED_MS = 20;

/** The newest connections of one listening socket, by their descriptors. */
export class CutConnections {
  readonly #held = new Map<number, number>();
  /** Those that have ended and are looked at once more. */
  readonly #looking = new Map<ReturnType<typeof setTimeout>, number>();

  /** A connection has come. */
  add(connection: number): void {
    this.forget(connection);
    const held = holdConnection(connection);
    if (held === undefined) return;
    this.#held.set(connection, held);
    if (this.#held.size <= HELD) return;
    const [oldest] = this.#held.keys();
    this.forget(oldest);
  }

  /** A connection has ended. @param tell Called if libzmq has ended it, and its peer was in the middle of a message. */
  ended(connection: number, tell: () => void): void {
    const held = this.#held.get(connection);
    if (held === undefined) return;
    if (!hasUnread(held, UNREAD_BYTES)) return this.forget(connection);
    this.#held.delete(connection);
    // libzmq closes its own descriptor after it has told. If that does not come, the number stood for another connection by
    // the time that it was told of, and still does: that one goes on.
    const timer = setTimeout(() => {
      this.#looking.delete(timer);
      if (!isSameSocket(held, connection)) tell();
      letGo(held);
    }, CLOSED_MS);
    this.#looking.set(timer, held);
  }

  /** A connection is none of these any more. Twice is fine. */
  forget(connection: number): void {
    const held = this.#held.get(connection);
    if (held === undefined) return;
    this.#held.delete(connection);
    letGo(held);
  }

  /** Forgets all. */
  close(): void {
    for (const connection of [...this.#held.keys()]) this.forget(connection);
    for (const [timer, held] of this.#looking) {
      clearTimeout(timer);
      letGo(held);
    }
    this.#looking.clear();
  }
}
