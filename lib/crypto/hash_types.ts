/**
 * The digests that the option `hash_type` may name; hash.ts implements them.
 * Source: Salt's option `hash_type`, whose values are the names of Python's hashlib.
 * @module
 */

export const HASH_TYPES = ["md5", "sha1", "sha224", "sha256", "sha384", "sha512"] as const;

export type HashType = (typeof HASH_TYPES)[number];
