/**
 * How large RSA keys may be, in bits. Apart from the code of RSA, which most commands do not need.
 * @module
 */

/** The smallest key that is taken; Salt's own library makes none smaller. */
export const MIN_KEY_BITS = 1024;
/** The smallest key that is made. */
export const MIN_NEW_KEY_BITS = 2048;
/** The largest key that is taken, and so the largest that is made: Deno reads no larger public key. */
export const MAX_KEY_BITS = 4096;
