/**
 * The key of a client that waits for the return of a `no_log` job. Returns are encrypted for it, so that nobody else
 * can read them on the network, on disk and on the event bus, and the private key is never stored. An encrypted return
 * is the sender's one-time X25519 public key, then a crypticle with the shared secret of both keys.
 * Source: the sealed boxes of libsodium; RFC 7748, RFC 5869.
 * @module
 */

import { hkdf } from "@noble/hashes/hkdf.js";
import { sha256 } from "@noble/hashes/sha2.js";
import { Crypticle, KEY_BYTES } from "#lib/crypto/crypticle.ts";
import { AuthenticationError, KeyError } from "#lib/errors.ts";
import { isReturnKey } from "./no_log.ts";
import type { Value } from "#lib/values/value.ts";

const ALGORITHM = "X25519";
const PUBLIC_BYTES = 32;
const PURPOSE = new TextEncoder().encode("salt no_log return");

/** A key pair of one process, for the jobs that it waits for. */
export class ReturnKey {
  readonly #private: CryptoKey;

  private constructor(
    /** The public key, 64 hex digits. */
    readonly publicKey: string,
    privateKey: CryptoKey,
  ) {
    this.#private = privateKey;
  }

  /** Makes a new pair. */
  static async create(): Promise<ReturnKey> {
    const { publicKey, privateKey } = await newPair();
    return new ReturnKey((await exportKey(publicKey)).toHex(), privateKey);
  }

  /**
   * Decrypts what {@linkcode sealReturn} encrypted.
   * @throws {AuthenticationError} If it was encrypted for another key, or changed.
   */
  async open(sealed: Uint8Array): Promise<Value> {
    const sender = sealed.slice(0, PUBLIC_BYTES);
    try {
      const crypticle = await common(this.#private, {
        sender,
        peer: sender,
        reader: Uint8Array.fromHex(this.publicKey),
      });
      return crypticle.loads(sealed.subarray(PUBLIC_BYTES));
    } catch (error) {
      throw new AuthenticationError("A return that was not sealed for this client", { cause: error });
    }
  }
}

/**
 * Encrypts `value` for the owner of this public key.
 * @throws {KeyError} If `reader` is not a key.
 */
export async function sealReturn(value: Value, reader: string): Promise<Uint8Array> {
  if (!isReturnKey(reader)) throw new KeyError("Not a public key of a client that waits for a return");
  const peer = Uint8Array.fromHex(reader);
  const once = await newPair();
  const sender = await exportKey(once.publicKey);
  let crypticle: Crypticle;
  try {
    crypticle = await common(once.privateKey, { sender, peer, reader: peer });
  } catch (error) {
    throw new KeyError("Not a public key of a client that waits for a return", { cause: error });
  }
  const message = crypticle.dumps(value);
  const sealed = new Uint8Array(PUBLIC_BYTES + message.length);
  sealed.set(sender);
  sealed.set(message, PUBLIC_BYTES);
  return sealed;
}

/** The crypticle that both sides derive: each from its own private key and the other's public key. */
async function common(
  own: CryptoKey,
  { sender, peer, reader }: Readonly<Record<"sender" | "peer" | "reader", Uint8Array<ArrayBuffer>>>,
): Promise<Crypticle> {
  const imported = await crypto.subtle.importKey("raw", peer, ALGORITHM, true, []);
  const secret = await crypto.subtle.deriveBits({ name: ALGORITHM, public: imported }, own, 8 * PUBLIC_BYTES);
  const salt = new Uint8Array([...sender, ...reader]);
  return new Crypticle(hkdf(sha256, new Uint8Array(secret), salt, PURPOSE, KEY_BYTES).toBase64());
}

async function newPair(): Promise<CryptoKeyPair> {
  const pair = await crypto.subtle.generateKey(ALGORITHM, false, ["deriveBits"]);
  if (!("publicKey" in pair)) throw new TypeError(`${ALGORITHM} generated no key pair`);
  return pair;
}

async function exportKey(key: CryptoKey): Promise<Uint8Array<ArrayBuffer>> {
  return new Uint8Array(await crypto.subtle.exportKey("raw", key));
}
