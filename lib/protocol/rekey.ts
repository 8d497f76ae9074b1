/**
 * How a minion gets the shared key again without a sign-in: a request of this project's own.
 * @module
 */

/** The field of the reply to a sign-in that says that the master knows the request. */
export const REKEY = "rekey";
/** The request, whose answer is `{aes, generation, renew}`. */
export const REKEY_COMMAND = "_rekey";
