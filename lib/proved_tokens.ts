/**
 * Tokens that have proved themselves, in memory that all threads of the master share: what one MWorker has checked with RSA,
 * which takes a millisecond, the others need not check again.
 *
 * A table of digests over a key and a token, each in the place that it says itself. Two that say the same place push each
 * other out, which costs a check, and so does a digest that two threads wrote at once. Knows no ids and no key files: a
 * digest counts for whoever has that key.
 * @module
 */

import { sha256 } from "@noble/hashes/sha2.js";

/** Places; of a larger fleet some push each other out. */
const PLACES = 1 << 14;
/** 128 bits of a digest: nobody finds a token of another key's that comes to the same. */
const WORDS = 4;

const utf8 = new TextEncoder();

/** One thread's view of the table. */
export class ProvedTokens {
  /** What other threads make their own view of: 256 KB, of which only what is written to takes memory. */
  readonly memory: SharedArrayBuffer;
  readonly #words: Int32Array;

  /** A view of a table. @param memory Another thread's; without it an empty table is made. */
  constructor(memory?: SharedArrayBuffer) {
    this.memory = memory ?? new SharedArrayBuffer(PLACES * WORDS * Int32Array.BYTES_PER_ELEMENT);
    this.#words = new Int32Array(this.memory);
  }

  /** Whether `token` has proved itself under the key `pem`. */
  has(pem: string, token: Uint8Array): boolean {
    const { digest, place } = look(pem, token);
    return digest.every((word, i) => Atomics.load(this.#words, place + i) === word);
  }

  /** Notes that `token` has proved itself under the key `pem`. */
  add(pem: string, token: Uint8Array): void {
    const { digest, place } = look(pem, token);
    digest.forEach((word, i) => Atomics.store(this.#words, place + i, word));
  }
}

function look(pem: string, token: Uint8Array): { digest: Int32Array; place: number } {
  // The length keeps the end of a key apart from the beginning of a token.
  const bytes = sha256(new Uint8Array([...utf8.encode(`${pem.length}:${pem}`), ...token]));
  const digest = new Int32Array(bytes.buffer, bytes.byteOffset, WORDS);
  return { digest, place: (digest[0] & (PLACES - 1)) * WORDS };
}
