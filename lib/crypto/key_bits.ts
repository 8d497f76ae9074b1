/**
 * The allowed sizes of RSA keys, in bits. Separate from the RSA code, which most commands do not need.
 * @module
 */

/** The smallest accepted key; Salt's library makes none smaller. */
export const MIN_KEY_BITS = 1024;
/** The smallest key that is made. */
export const MIN_NEW_KEY_BITS = 2048;
/** The largest key that is accepted or made, as in Salt. */
export const MAX_KEY_BITS = 32768;
/** The largest key that Deno makes and encrypts for: larger ones need the host's OpenSSL. */
export const MAX_RUNTIME_BITS = 4096;
