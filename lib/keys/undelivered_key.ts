/**
 * The key that undelivered jobs are sealed with, made from the master's private key.
 * @module
 */

import { hkdf } from "@noble/hashes/hkdf.js";
import { sha256 } from "@noble/hashes/sha2.js";
import { KEY_BYTES } from "#lib/crypto/crypticle.ts";

const utf8 = new TextEncoder();

/** Marks a key that has outlived the pair that it was made from. */
const MADE = "made: ";

/** @param secret A private key; or what {@linkcode outlivingKey} made of an earlier one. */
export function undeliveredKey(secret: string): string {
  if (secret.startsWith(MADE)) return secret.slice(MADE.length).trim();
  return hkdf(sha256, utf8.encode(secret.trim()), undefined, utf8.encode("salt undelivered jobs"), KEY_BYTES)
    .toBase64();
}

/** The key of a pair that is replaced, for those that seal and open jobs later. */
export function outlivingKey(secret: string): string {
  return `${MADE}${undeliveredKey(secret)}`;
}
