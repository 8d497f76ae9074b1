/**
 * Digests by the names that `hash_type` may have.
 * Source: Salt's option `hash_type`, whose values are the names of Python's hashlib.
 * @module
 */

import { createHash } from "node:crypto";
import { ConfigError } from "./errors.ts";

/** The digests that `hash_type` may name. */
export const HASH_TYPES: readonly string[] = ["md5", "sha1", "sha224", "sha256", "sha384", "sha512"];

/**
 * The lower-case hexadecimal digest of `data` (a text stands for its UTF-8).
 * @throws {ConfigError} If `hashType` is not one of {@linkcode HASH_TYPES}.
 */
export function hashHex(data: Uint8Array | string, hashType: string): string {
  if (!HASH_TYPES.includes(hashType)) {
    throw new ConfigError(`"${hashType}" is not one of ${HASH_TYPES.join(", ")}`, { option: "hash_type" });
  }
  return createHash(hashType).update(data).digest("hex");
}
