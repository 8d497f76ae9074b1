/**
 * AES in CBC mode with PKCS#7 padding, for keys of 128, 192 and 256 bits.
 *
 * Own code, because no library fits. node:crypto has no AES-192-CBC in Deno, only ECB: that is a call into Rust for
 * each 16 bytes (9 s for 10 MB, against 0.4 s), and Node's compatibility layer in every thread (4 MB). WebCrypto is
 * asynchronous. @noble/ciphers 2.4.0 computes 1.3 MB of tables in each thread: a master with its seven threads becomes
 * 17 to 20 MB larger (above its limit of 180 MB), and a minion 10 MB (above its 90). The tests check this file against
 * NIST's vectors and node:crypto. Like every AES with tables, its time depends a little on the key. Knows nothing of
 * authentication.
 * Source: FIPS 197; NIST SP 800-38A (CBC); RFC 5652, section 6.3 (padding).
 * @module
 */

/** Bytes of a block and of an IV. */
export const BLOCK = 16;

const SBOX = new Uint8Array(256);
const INVERSE_SBOX = new Uint8Array(256);
/** The results of SubBytes, ShiftRows and MixColumns for one byte, for each of the four positions in a column. */
const ENCRYPT = [0, 1, 2, 3].map(() => new Uint32Array(256));
/** The tables for decryption. */
const DECRYPT = [0, 1, 2, 3].map(() => new Uint32Array(256));

/** Multiplication in GF(2^8) modulo x^8 + x^4 + x^3 + x + 1. */
function times(a: number, b: number): number {
  let product = 0;
  for (let factor = a, rest = b; rest > 0; rest >>= 1) {
    if (rest & 1) product ^= factor;
    factor = factor << 1 ^ (factor & 0x80 ? 0x11b : 0);
  }
  return product;
}

function rotateRight(word: number, bytes: number): number {
  return (word >>> (8 * bytes) | word << (32 - 8 * bytes)) >>> 0;
}

function makeTables(): void {
  // 3 generates the field. p runs through its powers and q through their inverses, as 0xf6 is the inverse of 3.
  for (let p = 1, q = 1, first = true; first || p !== 1; first = false) {
    p = times(p, 3);
    q = times(q, 0xf6);
    const spread = q * 0x101;
    SBOX[p] = 0x63 ^ (q ^ spread >> 7 ^ spread >> 6 ^ spread >> 5 ^ spread >> 4) & 0xff;
  }
  SBOX[0] = 0x63;
  for (let byte = 0; byte < 256; byte++) {
    const s = SBOX[byte];
    INVERSE_SBOX[s] = byte;
    const forward = (times(s, 2) << 24 | s << 16 | s << 8 | times(s, 3)) >>> 0;
    const back = (times(byte, 14) << 24 | times(byte, 9) << 16 | times(byte, 13) << 8 | times(byte, 11)) >>> 0;
    for (let place = 0; place < 4; place++) {
      ENCRYPT[place][byte] = place === 0 ? forward : rotateRight(forward, place);
      DECRYPT[place][s] = place === 0 ? back : rotateRight(back, place);
    }
  }
}

makeTables();
const [E0, E1, E2, E3] = ENCRYPT;
const [D0, D1, D2, D3] = DECRYPT;

/** An expanded key. */
export class AesKey {
  /** The round keys of encryption: four words for each round and the whitening. */
  readonly #encrypt: Uint32Array;
  /** The round keys of decryption, in the order of use. */
  readonly #decrypt: Uint32Array;
  readonly #rounds: number;

  /**
   * Expands a key of 16, 24 or 32 bytes.
   * @throws {RangeError} For another size.
   */
  constructor(key: Uint8Array) {
    if (![16, 24, 32].includes(key.length)) throw new RangeError(`An AES key has no ${key.length} bytes`);
    this.#rounds = key.length / 4 + 6;
    this.#encrypt = expand(key, this.#rounds);
    this.#decrypt = invertKeys(this.#encrypt, this.#rounds);
  }

  /**
   * Pads and encrypts `plain` into `out`, whose size must be the next multiple of {@linkcode BLOCK} above the length of
   * `plain`.
   */
  encryptCbc(iv: Uint8Array, plain: Uint8Array, out: Uint8Array): void {
    const keys = this.#encrypt;
    const last = 4 * this.#rounds;
    const whole = plain.length - plain.length % BLOCK;
    const end = new Uint8Array(BLOCK).fill(BLOCK - plain.length % BLOCK);
    end.set(plain.subarray(whole));
    let a = word(iv, 0), b = word(iv, 4), c = word(iv, 8), d = word(iv, 12);
    for (let at = 0; at <= whole; at += BLOCK) {
      const source = at < whole ? plain : end;
      const from = at < whole ? at : 0;
      a ^= word(source, from) ^ keys[0];
      b ^= word(source, from + 4) ^ keys[1];
      c ^= word(source, from + 8) ^ keys[2];
      d ^= word(source, from + 12) ^ keys[3];
      for (let k = 4; k < last; k += 4) {
        const e = E0[a >>> 24] ^ E1[b >>> 16 & 255] ^ E2[c >>> 8 & 255] ^ E3[d & 255] ^ keys[k];
        const f = E0[b >>> 24] ^ E1[c >>> 16 & 255] ^ E2[d >>> 8 & 255] ^ E3[a & 255] ^ keys[k + 1];
        const g = E0[c >>> 24] ^ E1[d >>> 16 & 255] ^ E2[a >>> 8 & 255] ^ E3[b & 255] ^ keys[k + 2];
        d = E0[d >>> 24] ^ E1[a >>> 16 & 255] ^ E2[b >>> 8 & 255] ^ E3[c & 255] ^ keys[k + 3];
        a = e, b = f, c = g;
      }
      const e = substitute(SBOX, a, b, c, d) ^ keys[last];
      const f = substitute(SBOX, b, c, d, a) ^ keys[last + 1];
      const g = substitute(SBOX, c, d, a, b) ^ keys[last + 2];
      d = substitute(SBOX, d, a, b, c) ^ keys[last + 3];
      a = e, b = f, c = g;
      put(out, at, a), put(out, at + 4, b), put(out, at + 8, c), put(out, at + 12, d);
    }
  }

  /** Decrypts `sealed`; `undefined` if its length is not a whole number of blocks, or the padding is invalid. */
  decryptCbc(iv: Uint8Array, sealed: Uint8Array): Uint8Array | undefined {
    if (sealed.length === 0 || sealed.length % BLOCK !== 0) return undefined;
    const keys = this.#decrypt;
    const last = 4 * this.#rounds;
    const out = new Uint8Array(sealed.length);
    let v = word(iv, 0), w = word(iv, 4), x = word(iv, 8), y = word(iv, 12);
    for (let at = 0; at < sealed.length; at += BLOCK) {
      const p = word(sealed, at), q = word(sealed, at + 4), r = word(sealed, at + 8), s = word(sealed, at + 12);
      let a = p ^ keys[0], b = q ^ keys[1], c = r ^ keys[2], d = s ^ keys[3];
      for (let k = 4; k < last; k += 4) {
        const e = D0[a >>> 24] ^ D1[d >>> 16 & 255] ^ D2[c >>> 8 & 255] ^ D3[b & 255] ^ keys[k];
        const f = D0[b >>> 24] ^ D1[a >>> 16 & 255] ^ D2[d >>> 8 & 255] ^ D3[c & 255] ^ keys[k + 1];
        const g = D0[c >>> 24] ^ D1[b >>> 16 & 255] ^ D2[a >>> 8 & 255] ^ D3[d & 255] ^ keys[k + 2];
        d = D0[d >>> 24] ^ D1[c >>> 16 & 255] ^ D2[b >>> 8 & 255] ^ D3[a & 255] ^ keys[k + 3];
        a = e, b = f, c = g;
      }
      put(out, at, substitute(INVERSE_SBOX, a, d, c, b) ^ keys[last] ^ v);
      put(out, at + 4, substitute(INVERSE_SBOX, b, a, d, c) ^ keys[last + 1] ^ w);
      put(out, at + 8, substitute(INVERSE_SBOX, c, b, a, d) ^ keys[last + 2] ^ x);
      put(out, at + 12, substitute(INVERSE_SBOX, d, c, b, a) ^ keys[last + 3] ^ y);
      v = p, w = q, x = r, y = s;
    }
    return removePadding(out);
  }
}

/**
 * Removes the padding; `undefined` if it is invalid. Only for data with a verified MAC: the time shows where it fails.
 */
export function removePadding(bytes: Uint8Array): Uint8Array | undefined {
  const padding = bytes[bytes.length - 1];
  const start = bytes.length - padding;
  if (padding === 0 || padding > BLOCK) return undefined;
  for (let i = start; i < bytes.length; i++) if (bytes[i] !== padding) return undefined;
  return bytes.subarray(0, start);
}

function expand(key: Uint8Array, rounds: number): Uint32Array {
  const length = key.length / 4;
  const words = new Uint32Array(4 * (rounds + 1));
  for (let i = 0; i < length; i++) words[i] = word(key, 4 * i);
  for (let i = length, constant = 1; i < words.length; i++) {
    let next = words[i - 1];
    if (i % length === 0) {
      next = substituteWord(rotateRight(next, 3)) ^ constant << 24;
      constant = times(constant, 2);
    } else if (length > 6 && i % length === 4) next = substituteWord(next);
    words[i] = words[i - length] ^ next;
  }
  return words;
}

/**
 * The keys of the equivalent inverse cipher: rounds in reverse order, all but the first and the last through
 * InvMixColumns.
 */
function invertKeys(words: Uint32Array, rounds: number): Uint32Array {
  const inverse = new Uint32Array(words.length);
  for (let i = 0; i < words.length; i++) {
    const round = i >> 2;
    const w = words[4 * (rounds - round) + i % 4];
    inverse[i] = round === 0 || round === rounds
      ? w
      : D0[SBOX[w >>> 24]] ^ D1[SBOX[w >>> 16 & 255]] ^ D2[SBOX[w >>> 8 & 255]] ^ D3[SBOX[w & 255]];
  }
  return inverse;
}

function substituteWord(w: number): number {
  return substitute(SBOX, w, w, w, w);
}

/** Substitutes each byte with a table: the first byte of `a`, the second of `b`, the third of `c`, the last of `d`. */
function substitute(box: Uint8Array, a: number, b: number, c: number, d: number): number {
  return box[a >>> 24] << 24 | box[b >>> 16 & 255] << 16 | box[c >>> 8 & 255] << 8 | box[d & 255];
}

function word(bytes: Uint8Array, at: number): number {
  return bytes[at] << 24 | bytes[at + 1] << 16 | bytes[at + 2] << 8 | bytes[at + 3];
}

function put(bytes: Uint8Array, at: number, w: number): void {
  bytes[at] = w >>> 24;
  bytes[at + 1] = w >>> 16;
  bytes[at + 2] = w >>> 8;
  bytes[at + 3] = w;
}
