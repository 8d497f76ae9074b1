/**
 * What the connections of strangers take of the memory, by what the system counts of each: bytes that have come, and bytes that
 * went out. Two rules, one for each port; no sockets.
 * @module
 */

/** What is known of a connection. */
export interface ByteCounts {
  /** Bytes that have come. */
  readonly received: number;
  /** Bytes that went out, and were taken. */
  readonly taken: number;
  /** How long it has been there, in milliseconds. */
  readonly ageMs: number;
}

/** Says how many bytes each connection holds. */
export interface MemoryRule {
  /** Takes what is counted now of every connection; may go by what it was told before. */
  weigh(counts: ReadonlyMap<number, ByteCounts>): Map<number, number>;
}

/** More than ZMTP's greeting and handshake: whoever has been sent so much has had a reply. */
const HANDSHAKE = 200;
/** The smallest reply that a minion gets. What a PING is answered with is less. */
const REPLY = 90;

interface Seen {
  readonly received: number;
  readonly taken: number;
  /** How much had come when all of it was answered. */
  readonly answered: number;
}

/**
 * Requests: the bytes that have come since a reply went out. Half a request of any size, one that nobody has looked at yet, and
 * replies that are not fetched all count.
 */
export class Unanswered implements MemoryRule {
  #seen = new Map<number, Seen>();

  /** As {@linkcode MemoryRule}. */
  weigh(counts: ReadonlyMap<number, ByteCounts>): Map<number, number> {
    const seen = new Map<number, Seen>();
    const unanswered = new Map<number, number>();
    for (const [connection, { received, taken }] of counts) {
      const before = this.#seen.get(connection);
      // A number may stand for another connection by now.
      const known = before !== undefined && before.received <= received ? before : undefined;
      const first = taken > HANDSHAKE ? received : 0;
      const answered = known === undefined ? first : taken - known.taken >= REPLY ? known.received : known.answered;
      seen.set(connection, { received, taken, answered });
      unanswered.set(connection, received - answered);
    }
    this.#seen = seen;
    return unanswered;
  }
}

/** What a subscriber says of itself: a handshake and a topic or two. */
const INTRODUCTION = 2_048;
/** And then a PING and a PONG every ten seconds, in bytes a second, and more. */
const HEARTBEATS = 10;

/** Subscriptions: every byte of a topic takes some forty of libzmq's memory for as long as the connection lasts. */
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

/** All together. */
export function total(held: ReadonlyMap<number, number>): number {
  let sum = 0;
  for (const bytes of held.values()) sum += bytes;
  return sum;
}

/** Those with the most, without which the others hold `bound` together or less; none if they do already. */
export function heaviest(held: ReadonlyMap<number, number>, bound: number): number[] {
  let sum = total(held);
  const chosen: number[] = [];
  for (const [connection, bytes] of [...held].sort(([, a], [, b]) => b - a)) {
    if (sum <= bound) break;
    chosen.push(connection);
    sum -= bytes;
  }
  return chosen;
}
