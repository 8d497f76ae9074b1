/**
 * Digests by the names that `hash_type` may have.
 * Source: Salt's option `hash_type`, whose values are the names of Python's hashlib.
 * @module
 */

import { md5, sha1 } from "@noble/hashes/legacy.js";
import { sha224, sha256, sha384, sha512 } from "@noble/hashes/sha2.js";
import { ConfigError } from "./errors.ts";

// Not node:crypto's: to load that costs every command 17 ms and every thread 4 MB.
const DIGESTS: Readonly<Record<string, (data: Uint8Array) => Uint8Array>> = {
  md5,
  sha1,
  sha224,
  sha256,
  sha384,
  sha512,
};

/** The digests that `hash_type` may name. */
export const HASH_TYPES: readonly string[] = Object.keys(DIGESTS);

/**
 * The lower-case hexadecimal digest of `data` (a text stands for its UTF-8).
 * @throws {ConfigError} If `hashType` is not one of {@linkcode HASH_TYPES}.
 */
export function hashHex(data: Uint8Array | string, hashType: string): string {
  if (!Object.hasOwn(DIGESTS, hashType)) {
    throw new ConfigError(`"${hashType}" is not one of ${HASH_TYPES.join(", ")}`, { option: "hash_type" });
  }
  return DIGESTS[hashType](typeof data === "string" ? new TextEncoder().encode(data) : data).toHex();
}
