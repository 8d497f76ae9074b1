/**
 * Digests by the names of `hash_type`.
 * @module
 */

import { _MD5 as MD5, _SHA1 as SHA1 } from "@noble/hashes/legacy.js";
import { _SHA224 as SHA224, _SHA256 as SHA256, _SHA384 as SHA384, _SHA512 as SHA512 } from "@noble/hashes/sha2.js";
import { ConfigError } from "#lib/errors.ts";
import { HASH_TYPES, type HashType } from "./hash_types.ts";
import { nodeBuiltin } from "#lib/os/node_builtin.ts";

/** One of the library's digests. */
interface Digest {
  update(data: Uint8Array): Digest;
  digest(): Uint8Array;
}

// Not node:crypto, which costs every command 17 ms and every thread 4 MB; and not the library's `md5` and so on, which
// are made when it is loaded: 0.5 ms of each start.
const DIGESTS: Readonly<Record<HashType, new () => Digest>> = {
  md5: MD5,
  sha1: SHA1,
  sha224: SHA224,
  sha256: SHA256,
  sha384: SHA384,
  sha512: SHA512,
};

function isHashType(name: string): name is HashType {
  return Object.hasOwn(DIGESTS, name);
}

/**
 * The lower-case hexadecimal digest of `data` (a text is encoded as UTF-8).
 * @throws {ConfigError} If `hashType` is not one of {@linkcode HASH_TYPES}.
 */
export function hashHex(data: Uint8Array | string, hashType: string): string {
  return hashBytes(data, hashType).toHex();
}

/**
 * The digest of `data` as bytes.
 * @throws {ConfigError} As {@linkcode hashHex}.
 */
export function hashBytes(data: Uint8Array | string, hashType: string): Uint8Array {
  if (!isHashType(hashType)) {
    throw new ConfigError(`"${hashType}" is not one of ${HASH_TYPES.join(", ")}`, { option: "hash_type" });
  }
  return new DIGESTS[hashType]().update(typeof data === "string" ? new TextEncoder().encode(data) : data).digest();
}

/** A digest of data in pieces. */
export interface StreamingHash {
  /** Adds a piece. */
  update(data: Uint8Array): void;
  /** The digest; called once, at the end. */
  digest(): Uint8Array;
}

/** From this size on OpenSSL's digests are worth the loading of Node's layer: they are ten times as fast. */
const LARGE_BYTES = 8 << 20;

/**
 * A digest by its name in Python's hashlib; `undefined` if there is none of that name.
 * @param options.size Bytes that will come, as far as they are known.
 */
export function streamingHash(name: string, { size = 0 }: { readonly size?: number } = {}): StreamingHash | undefined {
  if (!isHashType(name)) return undefined;
  if (size >= LARGE_BYTES) {
    const hash = nodeBuiltin("node:crypto").createHash(name);
    return { update: (data) => void hash.update(data), digest: () => new Uint8Array(hash.digest()) };
  }
  const hash = new DIGESTS[name]();
  return { update: (data) => void hash.update(data), digest: () => hash.digest() };
}

/** The digests that the runtime has itself, by their names of Web Crypto. */
const NATIVE: Readonly<Partial<Record<HashType, string>>> = {
  sha1: "SHA-1",
  sha256: "SHA-256",
  sha384: "SHA-384",
  sha512: "SHA-512",
};
/**
 * From this size on the runtime's digests are worth a turn of another thread: they need no compiling, and are ten times
 * as fast.
 */
const NATIVE_BYTES = 16 << 10;

/** The digest of complete data; `undefined` if there is none of that name. */
export async function digestOf(bytes: Uint8Array<ArrayBuffer>, name: string): Promise<Uint8Array | undefined> {
  if (!isHashType(name)) return undefined;
  const native = NATIVE[name];
  if (native === undefined || bytes.length < NATIVE_BYTES) return hashBytes(bytes, name);
  return new Uint8Array(await crypto.subtle.digest(native, bytes));
}
