/**
 * Salt's filters for digests and encodings of bytes.
 * Source: Salt 3008.3, `salt/utils/hashutils.py`.
 * @module
 */

import { hashHex } from "#lib/crypto/hash.ts";
import { HASH_TYPES } from "#lib/crypto/hash_types.ts";
import { hmacHex } from "#lib/crypto/hmac.ts";
import { sameText } from "#lib/crypto/same_text.ts";
import { hashFile } from "#lib/host/filesystem/checksums.ts";
import { pythonError } from "#lib/python/errors.ts";
import { intOf } from "#lib/python/kinds.ts";
import { native } from "#lib/python/native.ts";
import type { CallContext, Obj, Run } from "#lib/python/object.ts";
import { binary } from "#lib/python/operators.ts";
import { strictUtf8 } from "#lib/text/strict_utf8.ts";
import { needBytes, needText } from "./arguments.ts";

function digest(type: string): [string, Run] {
  return [type, native(`${type}_digest`, ["instr"], ([value]) => hashHex(needBytes(value), type))];
}

function needHash(type: string, attribute: boolean): string {
  if (HASH_TYPES.some((known) => known === type)) return type;
  throw attribute
    ? pythonError("AttributeError", `module 'hashlib' has no attribute '${type}'`)
    : pythonError("ValueError", `Invalid hash type: ${type}`);
}

/** The digest of a random number from 0 to `size`. */
function randomHash(size: Obj, type: string, context: CallContext): string {
  const count = binary("+", size, 1, context);
  const int = intOf(count);
  if (int === undefined) throw pythonError("ValueError", "non-integer stop for randrange()");
  if (int < 1) throw pythonError("ValueError", `empty range for randrange() (0, ${int}, ${int})`);
  const [high, low] = crypto.getRandomValues(new BigUint64Array(2));
  return hashHex(String(((high << 64n) | low) % BigInt(int)), type);
}

const randomHashFilter: Run = native(
  "random_hash",
  [["size", 9_999_999_999], ["hash_type", null]],
  ([size, type], { context }) => {
    return randomHash(size, needHash(type === null ? "md5" : needText(type), true), context);
  },
);

/** Python's `b64decode`: other characters are left out. */
function fromBase64(bytes: Uint8Array): Uint8Array {
  const text = new TextDecoder("latin1").decode(bytes).replace(/[^A-Za-z0-9+/=]/g, "");
  const end = text.search(/(?<=^(?:[^=]{4})*(?:[^=]{2}=|[^=]{3}))=/);
  const digits = (end < 0 ? text : text.slice(0, end)).replaceAll("=", "");
  if (digits.length % 4 === 1) {
    throw pythonError(
      "ValueError",
      `Invalid base64-encoded string: number of data characters (${digits.length}) cannot be 1 more than a multiple of 4`,
    );
  }
  if (digits.length % 4 !== 0 && end < 0) throw pythonError("ValueError", "Incorrect padding");
  return Uint8Array.fromBase64(digits, { lastChunkHandling: "loose" });
}

/** The filters by name. */
export const HASH_FILTERS: ReadonlyMap<string, Run> = new Map<string, Run>([
  digest("md5"),
  digest("sha1"),
  digest("sha256"),
  digest("sha512"),
  ["base64_encode", native("base64_b64encode", ["instr"], ([value]) => needBytes(value).toBase64())],
  [
    "base64_decode",
    native("base64_b64decode", ["instr"], ([value]) => {
      const bytes = fromBase64(needBytes(value));
      return strictUtf8(bytes) ?? bytes;
    }),
  ],
  [
    "hmac",
    native("hmac_signature", ["string", "shared_secret", "challenge_hmac"], ([text, secret, challenge]) => {
      const signature = hmacHex("sha256", { key: needBytes(secret), data: needBytes(text) });
      return sameText(Uint8Array.fromHex(signature).toBase64(), new TextDecoder().decode(needBytes(challenge)));
    }),
  ],
  [
    "hmac_compute",
    native("hmac_compute", ["string", "shared_secret"], ([text, secret]) => {
      return hmacHex("sha256", { key: needBytes(secret), data: needBytes(text) });
    }),
  ],
  ["random_hash", randomHashFilter],
  ["rand_str", randomHashFilter],
  [
    "file_hashsum",
    native("get_hash", ["path", ["form", "sha256"], ["chunk_size", 65_536]], ([path, form]) => {
      return hashFile(needText(path), needHash(needText(form), false));
    }),
  ],
]);
