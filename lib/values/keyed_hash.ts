/**
 * A hash with a key that only this thread knows, so that an attacker cannot choose input that collides. The runtime's
 * own hash tables do not protect against that: V8 hashes numbers, texts that are array indexes and texts of more than
 * 16,383 characters without a seed; for all other text the seed is in Deno's snapshot, so it is the same in every
 * process. Source: HalfSipHash-1-3, of github.com/veorq/SipHash, over 16 bits a character.
 * @module
 */

const [K0, K1] = crypto.getRandomValues(new Int32Array(2));

const CONSTANT_2 = 0x6c796765;
const CONSTANT_3 = 0x74656462;

/** A signed 32-bit hash of `text`. Its time is proportional to the length of the text. */
export function hashTextKeyed(text: string): number {
  let v0 = K0, v1 = K1, v2 = CONSTANT_2 ^ K0, v3 = CONSTANT_3 ^ K1;
  const { length } = text;
  const even = length & ~1;
  for (let i = 0; i < even; i += 2) {
    const word = text.charCodeAt(i) | text.charCodeAt(i + 1) << 16;
    // One round. It is written out here and below because a function call would take as long as the round.
    v3 ^= word;
    v0 = v0 + v1 | 0, v1 = v1 << 5 | v1 >>> 27, v1 ^= v0, v0 = v0 << 16 | v0 >>> 16;
    v2 = v2 + v3 | 0, v3 = v3 << 8 | v3 >>> 24, v3 ^= v2;
    v0 = v0 + v3 | 0, v3 = v3 << 7 | v3 >>> 25, v3 ^= v0;
    v2 = v2 + v1 | 0, v1 = v1 << 13 | v1 >>> 19, v1 ^= v2, v2 = v2 << 16 | v2 >>> 16;
    v0 ^= word;
  }
  return finish(v0, v1, v2, v3, length << 25 | (even < length ? text.charCodeAt(even) : 0));
}

/** Like {@linkcode hashTextKeyed}, for bytes. */
export function hashBytesKeyed(bytes: Uint8Array): number {
  let v0 = K0, v1 = K1, v2 = CONSTANT_2 ^ K0, v3 = CONSTANT_3 ^ K1;
  const { length } = bytes;
  const whole = length & ~3;
  for (let i = 0; i < whole; i += 4) {
    const word = bytes[i] | bytes[i + 1] << 8 | bytes[i + 2] << 16 | bytes[i + 3] << 24;
    v3 ^= word;
    v0 = v0 + v1 | 0, v1 = v1 << 5 | v1 >>> 27, v1 ^= v0, v0 = v0 << 16 | v0 >>> 16;
    v2 = v2 + v3 | 0, v3 = v3 << 8 | v3 >>> 24, v3 ^= v2;
    v0 = v0 + v3 | 0, v3 = v3 << 7 | v3 >>> 25, v3 ^= v0;
    v2 = v2 + v1 | 0, v1 = v1 << 13 | v1 >>> 19, v1 ^= v2, v2 = v2 << 16 | v2 >>> 16;
    v0 ^= word;
  }
  let last = length << 24;
  for (let i = whole; i < length; i++) last |= bytes[i] << 8 * (i - whole);
  return finish(v0, v1, v2, v3, last);
}

/** Like {@linkcode hashTextKeyed}, for 64 bits in two halves. */
export function hashWords(low: number, high: number): number {
  let v0 = K0, v1 = K1, v2 = CONSTANT_2 ^ K0, v3 = CONSTANT_3 ^ K1;
  v3 ^= low;
  v0 = v0 + v1 | 0, v1 = v1 << 5 | v1 >>> 27, v1 ^= v0, v0 = v0 << 16 | v0 >>> 16;
  v2 = v2 + v3 | 0, v3 = v3 << 8 | v3 >>> 24, v3 ^= v2;
  v0 = v0 + v3 | 0, v3 = v3 << 7 | v3 >>> 25, v3 ^= v0;
  v2 = v2 + v1 | 0, v1 = v1 << 13 | v1 >>> 19, v1 ^= v2, v2 = v2 << 16 | v2 >>> 16;
  v0 ^= low;
  return finish(v0, v1, v2, v3, high);
}

/** The round for the last word, and three final rounds. */
function finish(v0: number, v1: number, v2: number, v3: number, last: number): number {
  v3 ^= last;
  for (let round = 0; round < 4; round++) {
    v0 = v0 + v1 | 0, v1 = v1 << 5 | v1 >>> 27, v1 ^= v0, v0 = v0 << 16 | v0 >>> 16;
    v2 = v2 + v3 | 0, v3 = v3 << 8 | v3 >>> 24, v3 ^= v2;
    v0 = v0 + v3 | 0, v3 = v3 << 7 | v3 >>> 25, v3 ^= v0;
    v2 = v2 + v1 | 0, v1 = v1 << 13 | v1 >>> 19, v1 ^= v2, v2 = v2 << 16 | v2 >>> 16;
    if (round === 0) v0 ^= last, v2 ^= 0xff;
  }
  return v1 ^ v3;
}
