/**
 * The allowed sizes of RSA keys, in bits. Separate from the RSA code, which most commands do not need.
 * @module
 */

/** The smallest accepted key; Salt's library makes none smaller. */
export const MIN_KEY_BITS = 1024;
/** The smallest key that is made. */
export const MIN_NEW_KEY_BITS = 2048;
/** The largest key that is accepted or made: Deno reads no larger public key. */
export const MAX_KEY_BITS = 4096;
