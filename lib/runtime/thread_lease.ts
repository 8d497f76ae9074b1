/**
 * The lease that allows a thread to use libzmq and the descriptors that it opened: a word in shared memory. The thread
 * takes the lease for each turn, and the thread that started it can revoke it.
 *
 * Terminating a worker does not stop it: Deno ends its thread when it returns to its event loop, and a thread that
 * computes or hangs in a system call returns late or never. Until then it would use sockets that another thread has
 * taken over, or that are closed; libzmq forbids both. After a revocation each new turn is refused, so the sockets are
 * free when no turn is running. A turn is a few calls that do not wait. Knows no sockets.
 * Source: Atomics; measured: Deno ends no JavaScript in the middle of a turn.
 * @module
 */

import { ThreadReplacedError } from "#lib/errors.ts";

/** Bits of the word: a turn is running; the lease is revoked. */
const TAKEN = 1, REVOKED = 2;
const FREE = 0;

/** The lease of this isolate; undefined if nobody can take over its sockets. */
let lease: Int32Array | undefined;
let taken = false;

/**
 * Makes this thread use its sockets only under this lease.
 * @param word One number in shared memory, 0 at first.
 */
export function holdLease(word: Int32Array): void {
  lease = word;
}

/**
 * Runs `turn` under the lease and returns its result; a nested turn is part of the outer one. `turn` must not wait: the
 * lease is released when it returns.
 * @throws {ThreadReplacedError} If the lease is revoked; then `turn` is not run.
 */
export function withLease<T>(turn: () => T): T {
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
 * Revokes the lease of another thread permanently.
 * @returns Whether that thread no longer uses its sockets; false while its last turn is running: call again.
 */
export function revokeLease(word: Int32Array): boolean {
  return (Atomics.or(word, 0, REVOKED) & TAKEN) === 0;
}
