/**
 * Makes unexpected inputs: a seeded source of randomness, and mutations of bytes and texts. The same seed gives the
 * same inputs on every machine. Does not know formats.
 * @module
 */

/** A deterministic source of randomness (sfc32 over an FNV hash of the seed). */
export class Random {
  #a: number;
  #b: number;
  #c: number;
  #counter = 1;

  /**
   * Starts a sequence.
   * @param seed Any text; another text is another sequence.
   */
  constructor(seed: string) {
    const [a, b, c] = [0, 1, 2].map((salt) => {
      let hash = 0x811c9dc5 ^ salt;
      for (let i = 0; i < seed.length; i++) hash = Math.imul(hash ^ seed.charCodeAt(i), 0x01000193);
      return hash | 0;
    });
    [this.#a, this.#b, this.#c] = [a, b, c];
    for (let i = 0; i < 12; i++) this.bits();
  }

  /** 32 random bits, as an unsigned int. */
  bits(): number {
    const sum = (this.#a + this.#b + this.#counter++) | 0;
    this.#a = this.#b ^ (this.#b >>> 9);
    this.#b = (this.#c + (this.#c << 3)) | 0;
    this.#c = (((this.#c << 21) | (this.#c >>> 11)) + sum) | 0;
    return sum >>> 0;
  }

  /** An int from 0 to `below - 1`. */
  int(below: number): number {
    return this.bits() % below;
  }

  /** True with the probability `share`. */
  chance(share: number): boolean {
    return this.bits() < share * 2 ** 32;
  }

  /** One of `list`. */
  pick<T>(list: readonly T[]): T {
    return list[this.int(list.length)];
  }

  /** A random length: usually short, seldom up to `max`. */
  length(max: number): number {
    return this.int(1 + this.int(1 + (this.chance(0.1) ? max : Math.min(max, 24))));
  }

  /** Random bytes. */
  bytes(length: number): Uint8Array {
    const bytes = new Uint8Array(length);
    for (let i = 0; i < length; i++) bytes[i] = this.bits() & 0xff;
    return bytes;
  }
}

/** Bytes at the limits of lengths, types and signs. */
const LIMIT_BYTES = [
  0x00,
  0x01,
  0x0a,
  0x20,
  0x7f,
  0x80,
  0x8f,
  0x90,
  0x9f,
  0xa0,
  0xbf,
  0xc0,
  0xc1,
  0xc7,
  0xd4,
  0xdd,
  0xff,
];
/** Sizes larger than the data that follows, as four bytes. */
const HUGE = [0xffffffff, 0x7fffffff, 0x80000000, 0x00ffffff, 0x0000ffff, 0x00010000];

/**
 * `bytes` with one to four mutations.
 * @param other Bytes to splice in. Default: `bytes`.
 */
export function mutateBytes(random: Random, bytes: Uint8Array, other: Uint8Array = bytes): Uint8Array {
  let mutated: Uint8Array = bytes.slice();
  for (let times = 1 + random.int(4); times > 0; times--) mutated = mutateOnce(random, mutated, other);
  return mutated;
}

function mutateOnce(random: Random, bytes: Uint8Array, other: Uint8Array): Uint8Array {
  const at = random.int(bytes.length + 1);
  const end = Math.min(bytes.length, at + 1 + random.length(bytes.length));
  switch (random.int(9)) {
    case 0:
      if (at < bytes.length) bytes[at] ^= 1 << random.int(8);
      return bytes;
    case 1:
      if (at < bytes.length) bytes[at] = random.pick(LIMIT_BYTES);
      return bytes;
    case 2:
      return bytes.slice(0, at);
    case 3:
      return splice(bytes, { at, end, with: new Uint8Array() });
    case 4:
      return splice(bytes, { at, end: at, with: random.bytes(1 + random.length(64)) });
    case 5:
      return splice(bytes, { at, end: at, with: bytes.subarray(at, end) });
    case 6: {
      const from = random.int(other.length + 1);
      return splice(bytes, { at, end, with: other.subarray(from, from + random.length(other.length)) });
    }
    case 7:
      if (at + 4 <= bytes.length) new DataView(bytes.buffer).setUint32(at, random.pick(HUGE));
      return bytes;
    default:
      return splice(bytes, { at, end: at, with: new Uint8Array(random.length(2_000)).fill(random.pick(LIMIT_BYTES)) });
  }
}

function splice(bytes: Uint8Array, change: { at: number; end: number; with: Uint8Array }): Uint8Array {
  const tail = bytes.subarray(change.end);
  const spliced = new Uint8Array(change.at + change.with.length + tail.length);
  spliced.set(bytes.subarray(0, change.at));
  spliced.set(change.with, change.at);
  spliced.set(tail, change.at + change.with.length);
  return spliced;
}

/** Pieces of text that may cause errors in any reader. */
export const NASTY_TEXTS = [
  "",
  " ",
  "\0",
  "\n",
  "\r\n",
  "\t",
  "\u{1f9c2}",
  "\ud800",
  "\ufeff",
  "\u2028",
  "é",
  "../",
  "../../../../etc/passwd",
  "/etc/shadow",
  "..\\",
  ".",
  "..",
  "__proto__",
  "constructor",
  "hasOwnProperty",
  "toString",
  "-1",
  "0",
  "1e999",
  "99999999999999999999999",
  "NaN",
  "true",
  "None",
  "null",
  "{{ 1 }}",
  "$(id)",
  "`id`",
  "%s%n",
  "*",
  "a".repeat(300),
] as const;

/** Longer texts are cut before they are mutated, in UTF-16 units: longer inputs found no further faults. */
const LONGEST_TEXT = 10_000;

/**
 * `text` with one to four mutations.
 * @param tokens Tokens of the format to insert.
 */
export function mutateText(random: Random, text: string, tokens: readonly string[] = NASTY_TEXTS): string {
  let chars = [...text.slice(0, LONGEST_TEXT)];
  for (let times = 1 + random.int(4); times > 0; times--) {
    const at = random.int(chars.length + 1);
    const count = 1 + random.length(chars.length);
    switch (random.int(7)) {
      case 0:
        chars.splice(at, count);
        break;
      case 1:
        chars = chars.slice(0, at);
        break;
      case 2:
        chars.splice(at, 0, ...chars.slice(at, at + count));
        break;
      case 3:
        chars.splice(at, 1, String.fromCharCode(random.int(0x180)));
        break;
      case 4:
        chars.splice(at, 0, ...random.pick(random.chance(0.8) ? tokens : NASTY_TEXTS));
        break;
      case 5:
        chars.splice(at, 0, ...random.pick(tokens).repeat(random.length(random.chance(0.05) ? 5_000 : 40)));
        break;
      default:
        chars.splice(at, 1, ...random.pick(tokens));
    }
  }
  return chars.join("");
}

/** A text made only of `tokens`. */
export function textOf(random: Random, tokens: readonly string[], max = 40): string {
  let text = "";
  for (let count = random.length(max); count >= 0; count--) text += random.pick(tokens);
  return text;
}
