/**
 * HMAC with the digests of `hash_type`.
 * Source: RFC 2104.
 * @module
 */

import { hmac } from "@noble/hashes/hmac.js";
import { md5, sha1 } from "@noble/hashes/legacy.js";
import { sha224, sha256, sha384, sha512 } from "@noble/hashes/sha2.js";
import { HASH_TYPES, type HashType } from "./hash_types.ts";

/** Whether `name` is a digest that an HMAC is made with. */
export function isHmacHash(name: string): name is HashType {
  return HASH_TYPES.some((type) => type === name);
}

/** The lower-case hexadecimal HMAC of `data`. */
export function hmacHex(
  type: HashType,
  { key, data }: { readonly key: Uint8Array; readonly data: Uint8Array },
): string {
  switch (type) {
    case "md5":
      return hmac(md5, key, data).toHex();
    case "sha1":
      return hmac(sha1, key, data).toHex();
    case "sha224":
      return hmac(sha224, key, data).toHex();
    case "sha256":
      return hmac(sha256, key, data).toHex();
    case "sha384":
      return hmac(sha384, key, data).toHex();
    case "sha512":
      return hmac(sha512, key, data).toHex();
  }
}
