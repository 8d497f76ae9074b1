/**
 * Crypticle: Salt's authenticated encryption under a key that both sides hold (the shared key or a session key).
 *
 * AES-192-CBC with PKCS#7 padding, then HMAC-SHA256; a message is IV ‖ ciphertext ‖ MAC. Knows nothing of who holds which
 * key, nor of `serial`, which the receiver of publishes checks. Source: `salt.crypt.Crypticle`.
 * @module
 */

import { hmac } from "@noble/hashes/hmac.js";
import { sha256 } from "@noble/hashes/sha2.js";
import { AesKey, BLOCK } from "./aes.ts";
import { AuthenticationError, KeyError } from "./errors.ts";
import { decode, encode } from "./msgpack.ts";
import { timingSafeEqual } from "./timing_safe_equal.ts";
import type { Value } from "./value.ts";

const AES_BYTES = 24;
const MAC_BYTES = 32;
const NONCE_LENGTH = 32;

const PREFIX = new TextEncoder().encode("pickle::");
const utf8 = new TextEncoder();

/** A new key, as it is sent and stored: the base64 of 56 random bytes, 76 characters. */
export function generateKeyString(): string {
  return crypto.getRandomValues(new Uint8Array(AES_BYTES + MAC_BYTES)).toBase64();
}

/** Encrypts and decrypts under one key. */
export class Crypticle {
  readonly #aes: AesKey;
  /** HMAC with the key already in it: cloned for each message, which saves two of its blocks. */
  readonly #keyedMac: ReturnType<typeof hmac.create>;

  /**
   * Takes a key as {@linkcode generateKeyString} gives it.
   * @throws {KeyError} If it is not the base64 of 56 bytes.
   */
  constructor(
    /** The key, as it is sent and stored. */
    readonly keyString: string,
  ) {
    let key: Uint8Array;
    try {
      key = Uint8Array.fromBase64(keyString);
    } catch {
      key = new Uint8Array();
    }
    if (key.length !== AES_BYTES + MAC_BYTES) throw new KeyError("Not the key of a crypticle: 56 bytes in base64");
    this.#aes = new AesKey(key.subarray(0, AES_BYTES));
    this.#keyedMac = hmac.create(sha256, key.slice(AES_BYTES));
  }

  /** Encrypts and authenticates `bytes`. */
  encrypt(bytes: Uint8Array): Uint8Array {
    const padded = Math.floor(bytes.length / BLOCK) * BLOCK + BLOCK;
    const message = new Uint8Array(BLOCK + padded + MAC_BYTES);
    const iv = message.subarray(0, BLOCK);
    crypto.getRandomValues(iv);
    const sealed = message.subarray(0, BLOCK + padded);
    this.#aes.encryptCbc(iv, bytes, message.subarray(BLOCK, BLOCK + padded));
    message.set(this.#mac(sealed), sealed.length);
    return message;
  }

  /**
   * Checks and decrypts a message.
   * @throws {AuthenticationError} If it was not made under this key. It never says why, so that it is no oracle.
   */
  decrypt(message: Uint8Array): Uint8Array {
    const sealed = message.subarray(0, Math.max(0, message.length - MAC_BYTES));
    const mac = message.subarray(sealed.length);
    // The MAC comes first: nothing is decrypted, and no padding looked at, that this key did not seal.
    if (mac.length !== MAC_BYTES || !timingSafeEqual(this.#mac(sealed), mac)) throw refusal();
    const bytes = this.#aes.decryptCbc(sealed.subarray(0, BLOCK), sealed.subarray(BLOCK));
    if (bytes === undefined) throw refusal();
    return bytes;
  }

  /** Packs `value` for the wire and encrypts it. @param nonce The 32 characters of the request that it answers. */
  dumps(value: Value, nonce = ""): Uint8Array {
    const packed = encode(value, "wire");
    const bytes = new Uint8Array(PREFIX.length + nonce.length + packed.length);
    bytes.set(PREFIX);
    utf8.encodeInto(nonce, bytes.subarray(PREFIX.length));
    bytes.set(packed, PREFIX.length + nonce.length);
    return this.encrypt(bytes);
  }

  /**
   * Undoes {@linkcode Crypticle.dumps}. What was encrypted without the prefix `pickle::` is an empty map, as in Salt.
   * @param nonce The nonce of the request that the message must answer; without one, none is expected in it.
   * @throws {AuthenticationError} If the message was not made under this key, or answers another request.
   * @throws {MsgpackError} If what was encrypted is no value.
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

  #mac(bytes: Uint8Array): Uint8Array {
    return this.#keyedMac.clone().update(bytes).digest();
  }
}

function startsWith(bytes: Uint8Array, start: Uint8Array): boolean {
  return bytes.length >= start.length && start.every((byte, i) => bytes[i] === byte);
}

function refusal(): AuthenticationError {
  return new AuthenticationError("Message authentication failed");
}
