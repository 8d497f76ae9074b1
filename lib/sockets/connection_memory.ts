/**
 * Estimates the memory that connections of untrusted peers hold, from the system's byte counts (received and sent). Two
 * rules, one for each port; no sockets.
 * @module
 */

import type { TcpByteCounts } from "#lib/libc/libc.ts";

/** Counts of a connection. */
export interface ByteCounts extends TcpByteCounts {
  /** Age of the connection in milliseconds. */
  readonly ageMs: number;
}

/** Estimates how many bytes each connection holds. */
export interface MemoryRule {
  /** Takes the current counts of all connections; may use those of earlier calls. */
  weigh(counts: ReadonlyMap<number, ByteCounts>): Map<number, number>;
  /** Whether some connection of the last call may soon be found to hold more. */
  readonly inDoubt?: boolean;
}

/** More bytes than ZMTP's greeting and handshake: a peer that was sent more has got a reply. */
const HANDSHAKE = 200;
/** The smallest reply to a minion. The answer to a PING is smaller. */
const REPLY = 90;

interface Seen {
  readonly received: number;
  readonly taken: number;
  /** Bytes received when everything had been answered. */
  readonly answered: number;
  /** The age of the connection when the peer was first found to read nothing of its queue, in milliseconds. */
  readonly stuckAtMs: number | undefined;
}

/** Time after which a peer that has no room for what is sent to it does not read, in milliseconds. */
const STUCK_MS = 5_000;

/**
 * Requests: the bytes received since the last reply was sent. Counts incomplete requests of any size, unread requests,
 * and replies that the peer does not fetch: a peer that reads nothing may have as many as are kept for it.
 */
export class Unanswered implements MemoryRule {
  #seen = new Map<number, Seen>();
  readonly #mostReplyBytes: number;
  #inDoubt = false;

  /** @param mostReplyBytes How many bytes of replies are kept for a peer that does not read. */
  constructor(mostReplyBytes = 0) {
    this.#mostReplyBytes = mostReplyBytes;
  }

  /** Whether the queue to some peer is full, and it is not known yet whether the peer reads. */
  get inDoubt(): boolean {
    return this.#inDoubt;
  }

  /** As {@linkcode MemoryRule}. */
  weigh(counts: ReadonlyMap<number, ByteCounts>): Map<number, number> {
    this.#inDoubt = false;
    const seen = new Map<number, Seen>();
    const unanswered = new Map<number, number>();
    for (const [connection, { received, taken, unsent, ageMs }] of counts) {
      const before = this.#seen.get(connection);
      // The number may belong to another connection by now.
      const earlier = before !== undefined && before.received <= received ? before : undefined;
      const first = taken > HANDSHAKE ? received : 0;
      const answered = earlier === undefined
        ? first
        : taken - earlier.taken >= REPLY
        ? earlier.received
        : earlier.answered;
      const stuckAtMs = unsent === 0 ? undefined : earlier?.taken === taken ? earlier.stuckAtMs ?? ageMs : ageMs;
      seen.set(connection, { received, taken, answered, stuckAtMs });
      const stuckMs = stuckAtMs === undefined ? 0 : ageMs - stuckAtMs;
      if (stuckAtMs !== undefined && stuckMs < STUCK_MS) this.#inDoubt = true;
      unanswered.set(connection, received - answered + (stuckMs >= STUCK_MS ? this.#mostReplyBytes : 0));
    }
    this.#seen = seen;
    return unanswered;
  }
}

/** Bytes of a normal subscriber's start: a handshake and a few topics. */
const INTRODUCTION = 2_048;
/** More than the bytes per second of a PING and a PONG every ten seconds. */
const HEARTBEATS = 10;

/** Subscriptions: every byte of a topic takes about forty bytes of libzmq's memory as long as the connection lasts. */
export class Subscribed implements MemoryRule {
  /** As {@linkcode MemoryRule}. */
  weigh(counts: ReadonlyMap<number, ByteCounts>): Map<number, number> {
    return new Map(
      [...counts].map(([connection, { received, ageMs }]) => [
        connection,
        Math.max(0, received - INTRODUCTION - HEARTBEATS * ageMs / 1000),
      ]),
    );
  }
}

/** The sum of all connections. */
export function total(held: ReadonlyMap<number, number>): number {
  let sum = 0;
  for (const bytes of held.values()) sum += bytes;
  return sum;
}

/**
 * The largest connections, without which the others hold at most `bound` bytes together; none if that is so already.
 */
export function largestConnections(held: ReadonlyMap<number, number>, bound: number): number[] {
  let sum = total(held);
  const chosen: number[] = [];
  for (const [connection, bytes] of [...held].sort(([, a], [, b]) => b - a)) {
    if (sum <= bound) break;
    chosen.push(connection);
    sum -= bytes;
  }
  return chosen;
}
