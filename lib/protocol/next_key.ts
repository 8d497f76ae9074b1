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
