/**
 * Crypticle: Salt's authenticated encryption with a key that both sides have (the shared key or a session key).
 * AES-192-CBC with PKCS#7 padding, then HMAC-SHA256; a message is IV ‖ ciphertext ‖ MAC. Does not know who has which
 * key, nor `serial`, which the receiver of publishes checks.
 * Source: `salt.crypt.Crypticle`.
 * @module
 */

import { startsWith } from "./same_bytes.ts";
import { BLOCK } from "./aes.ts";
import { AuthenticationError, KeyError } from "#lib/errors.ts";
import { decode, encode } from "#lib/values/msgpack.ts";
import { MAC_BYTES, opensslSealing, ownSealing, type Sealing } from "./sealing.ts";
import { timingSafeEqual } from "./timing_safe_equal.ts";
import type { Value } from "#lib/values/value.ts";

const AES_BYTES = 24;
export const KEY_BYTES: number = AES_BYTES + MAC_BYTES;
const NONCE_LENGTH = 32;
/** Below this size OpenSSL gains little. */
const SMALL_BYTES = 1 << 12;
/**
 * This number of bytes of larger messages is processed by own code: as much as it can do in the time of loading
 * OpenSSL, which takes 4 ms, and 4 MB.
 */
const UNLOADED_BYTES = 1 << 18;

/** Number of these bytes that own code has processed in this thread. */
let unloadedBytes = 0;

const PREFIX_TEXT = "pickle::";
const PREFIX = new TextEncoder().encode(PREFIX_TEXT);
const utf8 = new TextEncoder();

/** Makes a key as it is sent and stored: the base64 of 56 random bytes, 76 characters. */
export function generateKeyString(): string {
  return crypto.getRandomValues(new Uint8Array(KEY_BYTES)).toBase64();
}

/** Encrypts and decrypts with one key. */
export class Crypticle {
  readonly #aesKey: Uint8Array;
  readonly #macKey: Uint8Array;
  #sealing: Sealing | undefined;
  /** For larger messages, once OpenSSL is loaded. */
  #large: Sealing | undefined;

  /** @throws {KeyError} If the key string is not the base64 of 56 bytes. */
  constructor(
    /** The key as it is sent and stored. */
    readonly keyString: string,
  ) {
    let key: Uint8Array;
    try {
      key = Uint8Array.fromBase64(keyString);
    } catch {
      key = new Uint8Array();
    }
    if (key.length !== KEY_BYTES) throw new KeyError("Not the key of a crypticle: 56 bytes in base64");
    this.#aesKey = key.subarray(0, AES_BYTES);
    this.#macKey = key.subarray(AES_BYTES);
  }

  /** The implementation for a message of this size. */
  #for(bytes: number): Sealing {
    if (bytes >= SMALL_BYTES) {
      unloadedBytes = Math.min(unloadedBytes + bytes, UNLOADED_BYTES);
      if (unloadedBytes === UNLOADED_BYTES) this.#large ??= opensslSealing(this.#aesKey, this.#macKey);
      if (this.#large !== undefined) return this.#large;
    }
    return this.#sealing ??= ownSealing(this.#aesKey, this.#macKey);
  }

  /** Encrypts and authenticates `bytes`. */
  encrypt(bytes: Uint8Array): Uint8Array {
    const padded = Math.floor(bytes.length / BLOCK) * BLOCK + BLOCK;
    const message = new Uint8Array(BLOCK + padded + MAC_BYTES);
    const iv = message.subarray(0, BLOCK);
    crypto.getRandomValues(iv);
    const sealed = message.subarray(0, BLOCK + padded);
    const sealing = this.#for(bytes.length);
    sealing.encrypt(iv, bytes, message.subarray(BLOCK, BLOCK + padded));
    message.set(sealing.mac(sealed), sealed.length);
    return message;
  }

  /**
   * Verifies and decrypts a message.
   * @throws {AuthenticationError} If it was not encrypted with this key. The error never gives the reason, so that it
   * is no oracle.
   */
  decrypt(message: Uint8Array): Uint8Array {
    const sealed = message.subarray(0, Math.max(0, message.length - MAC_BYTES));
    const mac = message.subarray(sealed.length);
    // The MAC is checked first: without it, nothing is decrypted and no padding is looked at.
    const sealing = this.#for(message.length);
    if (mac.length !== MAC_BYTES || !timingSafeEqual(sealing.mac(sealed), mac)) throw refusal();
    const bytes = sealing.decrypt(sealed.subarray(0, BLOCK), sealed.subarray(BLOCK));
    if (bytes === undefined) throw refusal();
    return bytes;
  }

  /**
   * Encodes `value` for the wire and encrypts it.
   * @param nonce The 32 characters of the request that it answers.
   */
  dumps(value: Value, nonce = ""): Uint8Array {
    const head = nonce === "" ? PREFIX : utf8.encode(PREFIX_TEXT + nonce);
    return this.encrypt(encode(value, "wire", head));
  }

  /**
   * Reverses {@linkcode Crypticle.dumps}. Content without the prefix `pickle::` gives an empty map, as in Salt.
   * @param nonce The nonce of the request that this message must answer; empty: the message has none.
   * @throws {AuthenticationError} If the message was not encrypted with this key, or answers another request.
   * @throws {MsgpackError} If the content is not a valid value.
   */
  loads(message: Uint8Array, nonce = ""): Value {
    const bytes = this.decrypt(message);
    if (!startsWith(bytes, PREFIX)) return new Map();
    const body = bytes.subarray(PREFIX.length);
    if (nonce === "") return decode(body, "wire");
    if (nonce.length !== NONCE_LENGTH || !startsWith(body, utf8.encode(nonce))) {
      throw new AuthenticationError("The reply answers another request");
    }
    return decode(body.subarray(NONCE_LENGTH), "wire");
  }
}

function refusal(): AuthenticationError {
  return new AuthenticationError("Message authentication failed");
}
