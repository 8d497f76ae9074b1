/**
 * The fields of a sign-in about keys that follow others: of this project's own.
 * Source: docs/protocol.md "A key that follows another".
 * @module
 */

/**
 * In the request: the SHA-256 fingerprint of the master's key that the minion trusts, or an empty text. In the reply:
 * the statements that lead from key to key.
 */
export const NEXT_MASTER = "next_master";

/** In the request of a sign-in: the statements that lead from the minion's earlier keys to the one that it presents. */
export const NEXT_MINION = "next_minion";

/**
 * The request of a minion that is about to take another key, with its statement in {@linkcode NEXT_MINION}; answered by
 * True if a sign-in with that key will be accepted.
 */
export const ROTATE_KEY_COMMAND = "_rotate_key";
