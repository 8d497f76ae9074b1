/**
 * The keys of a cluster. Its root, 32 random bytes, is kept sealed by a key that scrypt makes of `cluster_secret`;
 * everything else is sealed, or has its MAC, with keys that are derived from the root, one for each purpose. So what
 * the database's own password opens is no key and no job.
 * @module
 */

import { hkdf } from "@noble/hashes/hkdf.js";
import { hmac } from "@noble/hashes/hmac.js";
import { scrypt } from "@noble/hashes/scrypt.js";
import { sha256 } from "@noble/hashes/sha2.js";
import { Crypticle, KEY_BYTES } from "#lib/crypto/crypticle.ts";
import { joinBytes } from "#lib/values/join_bytes.ts";

const ROOT_BYTES = 32, SALT_BYTES = 16;
/** The work of scrypt: about 0.2 s, once for each start. */
const SCRYPT = { N: 1 << 15, r: 8, p: 1, dkLen: KEY_BYTES } as const;

const utf8 = new TextEncoder();

/** What is sealed and signed with the root of a cluster. */
export interface ClusterKeys {
  /** Encrypts and authenticates. */
  seal(purpose: string, bytes: Uint8Array): Uint8Array;
  /**
   * Reverses {@linkcode seal}.
   * @throws {AuthenticationError} If it was not sealed by this cluster, or for another purpose.
   */
  open(purpose: string, sealed: Uint8Array): Uint8Array;
  /** The MAC over all parts, each with its length. 32 bytes. */
  mac(purpose: string, ...parts: readonly Uint8Array[]): Uint8Array;
}

/** Derives everything from the 32 bytes that only masters of the cluster have. */
export class RootKeys implements ClusterKeys {
  /** The root itself, for the other threads of this master. */
  readonly root: Uint8Array;
  readonly #crypticles = new Map<string, Crypticle>();

  constructor(root: Uint8Array) {
    this.root = root;
  }

  /** A key of `bytes` bytes for one purpose. */
  derive(purpose: string, bytes: number): Uint8Array {
    return hkdf(sha256, this.root, undefined, utf8.encode(`salt cluster ${purpose}`), bytes);
  }

  /** As {@linkcode ClusterKeys} says. */
  seal(purpose: string, bytes: Uint8Array): Uint8Array {
    return this.#crypticle(purpose).encrypt(bytes);
  }

  /** As {@linkcode ClusterKeys} says. */
  open(purpose: string, sealed: Uint8Array): Uint8Array {
    return this.#crypticle(purpose).decrypt(sealed);
  }

  /** As {@linkcode ClusterKeys} says. */
  mac(purpose: string, ...parts: readonly Uint8Array[]): Uint8Array {
    const mac = hmac.create(sha256, this.derive(`mac ${purpose}`, ROOT_BYTES));
    for (const part of parts) mac.update(utf8.encode(`${part.length}:`)).update(part);
    return mac.digest();
  }

  #crypticle(purpose: string): Crypticle {
    let crypticle = this.#crypticles.get(purpose);
    if (crypticle === undefined) {
      crypticle = new Crypticle(this.derive(`seal ${purpose}`, KEY_BYTES).toBase64());
      this.#crypticles.set(purpose, crypticle);
    }
    return crypticle;
  }
}

/** The secret of a cluster, as its masters are told it. */
export interface ClusterSecret {
  /** The name of the cluster. */
  readonly id: string;
  readonly secret: string;
}

/** A new root, and the same sealed. */
export function makeRoot(of: ClusterSecret): { readonly root: Uint8Array; readonly sealed: Uint8Array } {
  const root = crypto.getRandomValues(new Uint8Array(ROOT_BYTES));
  const salt = crypto.getRandomValues(new Uint8Array(SALT_BYTES));
  return { root, sealed: joinBytes([salt, secretKey(of, salt).encrypt(root)]) };
}

/**
 * Opens what {@linkcode makeRoot} sealed.
 * @throws {AuthenticationError} If the secret is another.
 */
export function openRoot(of: ClusterSecret, sealed: Uint8Array): Uint8Array {
  return secretKey(of, sealed.subarray(0, SALT_BYTES)).decrypt(sealed.subarray(SALT_BYTES));
}

function secretKey({ id, secret }: ClusterSecret, salt: Uint8Array): Crypticle {
  return new Crypticle(scrypt(utf8.encode(secret), joinBytes([salt, utf8.encode(id)]), SCRYPT).toBase64());
}
