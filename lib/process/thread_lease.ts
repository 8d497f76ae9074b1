/**
 * The lease by which a thread touches libzmq and the descriptors that it has opened itself: a word in shared memory, which the
 * thread takes for each turn and which the thread that started it can revoke.
 *
 * To end a worker does not stop it: Deno ends its thread when that comes back to its event loop, and one that hangs in a system
 * call, or computes, comes back later or never. Until then it would go on with sockets that another thread has taken over or that are closed,
 * both of which libzmq forbids. After a revocation each turn is refused, so the sockets are free when no turn is under way.
 * A turn is a few calls that wait for nothing. Knows no sockets. Source: Atomics; measured: no JavaScript of Deno's is ended within a turn.
 * @module
 */

import { ThreadReplacedError } from "../errors.ts";

/** The word's bits: a turn is under way; the lease is revoked. */
const TAKEN = 1, REVOKED = 2;
const FREE = 0;

/** This isolate's lease; none: nobody else takes its sockets over. */
let lease: Int32Array | undefined;
let taken = false;

/** From now on this thread touches its sockets by this lease. @param word One number, 0 at first, in shared memory. */
export function holdLease(word: Int32Array): void {
  lease = word;
}

/**
 * What `turn` gives, which the lease is taken for; a turn within a turn is part of it. Must not wait: the lease is given back when `turn` returns.
 * @throws {ThreadReplacedError} If the lease is revoked: nothing was done.
 */
export function leased<T>(turn: () => T): T {
  if (lease === undefined || taken) return turn();
  if (Atomics.compareExchange(lease, 0, FREE, TAKEN) !== FREE) throw new ThreadReplacedError();
  taken = true;
  try {
    return turn();
  } finally {
    taken = false;
    Atomics.sub(lease, 0, TAKEN); // it may have been revoked meanwhile
  }
}

/**
 * Takes the lease from the thread that holds it, for good.
 * @returns Whether it touches nothing any more; false while its last turn is under way: to be asked again.
 */
export function revokeLease(word: Int32Array): boolean {
  return (Atomics.or(word, 0, REVOKED) & TAKEN) === 0;
}
