/**
 * The digests that the option `hash_type` may name; hash.ts has the digests themselves.
 * Source: Salt's option `hash_type`, whose values are the names of Python's hashlib.
 * @module
 */

/** The names. */
export const HASH_TYPES = ["md5", "sha1", "sha224", "sha256", "sha384", "sha512"] as const;

/** A name out of {@linkcode HASH_TYPES}. */
export type HashType = (typeof HASH_TYPES)[number];
