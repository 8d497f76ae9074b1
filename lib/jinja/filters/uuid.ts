/**
 * The filter `uuid`: a UUID of version 5 that the value gives, in Salt's namespace.
 * Source: RFC 9562, section 5.5; Salt 3008.3, `salt/utils/jinja.py`.
 * @module
 */

import { hashHex } from "#lib/crypto/hash.ts";
import { joinBytes } from "#lib/values/join_bytes.ts";

/** Salt's namespace, 91633EBF-1C86-5E33-935A-28061F4B480E. */
const NAMESPACE = Uint8Array.fromHex("91633ebf1c865e33935a28061f4b480e");

/** The UUID of `name`. */
export function uuid5(name: Uint8Array): string {
  const bytes = Uint8Array.fromHex(hashHex(joinBytes([NAMESPACE, name]), "sha1").slice(0, 32));
  bytes[6] = (bytes[6] & 0x0f) | 0x50;
  bytes[8] = (bytes[8] & 0x3f) | 0x80;
  return bytes.toHex().replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
}
