/**
 * Digests by the names of `hash_type`.
 * @module
 */

import { md5, sha1 } from "@noble/hashes/legacy.js";
import { sha224, sha256, sha384, sha512 } from "@noble/hashes/sha2.js";
import { ConfigError } from "../errors.ts";
import { HASH_TYPES, type HashType } from "./hash_types.ts";

// Not node:crypto, which costs every command 17 ms and every thread 4 MB.
const DIGESTS: Readonly<Record<HashType, (data: Uint8Array) => Uint8Array>> = {
  md5,
  sha1,
  sha224,
  sha256,
  sha384,
  sha512,
};

function isHashType(name: string): name is HashType {
  return Object.hasOwn(DIGESTS, name);
}

/**
 * The lower-case hexadecimal digest of `data` (a text stands for its UTF-8).
 * @throws {ConfigError} If `hashType` is not one of {@linkcode HASH_TYPES}.
 */
export function hashHex(data: Uint8Array | string, hashType: string): string {
  if (!isHashType(hashType)) {
    throw new ConfigError(`"${hashType}" is not one of ${HASH_TYPES.join(", ")}`, { option: "hash_type" });
  }
  return DIGESTS[hashType](typeof data === "string" ? new TextEncoder().encode(data) : data).toHex();
}
