/**
 * DER, the encoding of certificates: values as a tag with contents. Only definite lengths and tags of one byte, which
 * is all that X.509 has. What is BER and not DER is refused, as by Python's `cryptography`, which Salt uses.
 *
 * `@peculiar/asn1-x509` 2.11.1 (asn1-schema 2.11.1, asn1js 3.1.0) was measured in November 2026 and is not used: it
 * reads BER (an indefinite length, bytes behind the certificate), and its limit of nodes refuses a revocation list of
 * 10,000 entries. One certificate takes 4 ms instead of 0.2 ms, and the bundle has 269 KB instead of 12 KB. Both read
 * the 105 recorded documents that `cryptography` 50.0.2 reads. Of 6,000 documents with changed bytes, the library reads
 * 447 that `cryptography` refuses, this reader 64. Its decorators need no reflection: they work in Deno and in a
 * bundle. Source: ITU-T X.690.
 * @module
 */

/** Thrown for bytes that are not DER, or not of the expected form. */
export class DerError extends Error {
  override name = "DerError";
}

/** Tags of the universal class. */
export const TAG = {
  boolean: 0x01,
  integer: 0x02,
  bitString: 0x03,
  octetString: 0x04,
  null: 0x05,
  oid: 0x06,
  enumerated: 0x0a,
  utf8: 0x0c,
  printable: 0x13,
  teletex: 0x14,
  ia5: 0x16,
  utcTime: 0x17,
  generalizedTime: 0x18,
  visible: 0x1a,
  universal: 0x1c,
  bmp: 0x1e,
  sequence: 0x30,
  set: 0x31,
} as const;

/** One value that was read. */
export interface Der {
  readonly tag: number;
  /** The contents, without tag and length. */
  readonly body: Uint8Array;
  /** Tag, length and contents. */
  readonly whole: Uint8Array;
}

/**
 * Reads `bytes` as one value.
 * @throws {DerError} If they are none, or more follows.
 */
export function readDer(bytes: Uint8Array): Der {
  const value = readAt(bytes, 0);
  if (value.end !== bytes.length) throw new DerError("More bytes follow the value");
  return value;
}

/** A value that makes views of its bytes only when they are asked for: a revocation list may have a million of them. */
class Part implements Der {
  readonly #bytes: Uint8Array;
  readonly #start: number;
  readonly #bodyStart: number;

  constructor(bytes: Uint8Array, readonly tag: number, at: { start: number; bodyStart: number; end: number }) {
    this.#bytes = bytes;
    this.#start = at.start;
    this.#bodyStart = at.bodyStart;
    this.end = at.end;
  }

  /** Where the next value begins. */
  readonly end: number;

  get body(): Uint8Array {
    return this.#bytes.subarray(this.#bodyStart, this.end);
  }

  get whole(): Uint8Array {
    return this.#bytes.subarray(this.#start, this.end);
  }
}

function readAt(bytes: Uint8Array, start: number): Part {
  const tag = bytes[start], first = bytes[start + 1];
  if (tag === undefined || first === undefined) throw new DerError("The value is cut short");
  if ((tag & 0x1f) === 0x1f) throw new DerError("A tag of several bytes");
  let bodyStart = start + 2;
  let length = first;
  if (first >= 0x80) {
    const count = first & 0x7f;
    if (count === 0 || count > 4) throw new DerError("No definite length");
    length = 0;
    for (let i = 0; i < count; i++) length = length * 256 + (bytes[bodyStart + i] ?? 0);
    bodyStart += count;
    if (length < 0x80 || length < 256 ** (count - 1)) throw new DerError("A length of more bytes than it needs");
  }
  const end = bodyStart + length;
  if (end > bytes.length) throw new DerError("The value is cut short");
  return new Part(bytes, tag, { start, bodyStart, end });
}

/**
 * The values in the contents of a constructed value.
 * @throws {DerError} If they are none.
 */
export function readChildren(of: Der, tag?: number): Der[] {
  if (tag !== undefined) expectTag(of, tag);
  const children: Der[] = [];
  const { body } = of;
  for (let at = 0; at < body.length;) {
    const value = readAt(body, at);
    children.push(value);
    at = value.end;
  }
  return children;
}

/** @throws {DerError} If the value has another tag. */
export function expectTag(value: Der | undefined, tag: number): Der {
  if (value?.tag !== tag) throw new DerError(`Tag ${value?.tag ?? "none"} where ${tag} was expected`);
  return value;
}

/** An INTEGER or ENUMERATED, whatever its tag. */
export function readDerInteger({ body }: Der): bigint {
  if (body.length === 0) throw new DerError("A number without digits");
  const needed = body.length === 1 || (body[0] !== 0 && body[0] !== 0xff) || (body[0] ^ body[1]) >= 0x80;
  if (!needed) throw new DerError("A number of more bytes than it needs");
  const n = BigInt(`0x${body.toHex()}`);
  return body[0] >= 0x80 ? n - (1n << BigInt(8 * body.length)) : n;
}

/**
 * A BOOLEAN, whatever its tag.
 * @throws {DerError} If it is neither 0 nor 255.
 */
export function readBoolean({ body }: Der): boolean {
  if (body.length !== 1 || (body[0] !== 0 && body[0] !== 0xff)) throw new DerError("Neither true nor false");
  return body[0] !== 0;
}

/** Maximum bytes of an identifier; the library that Salt uses reads no longer ones either. */
const MAX_OID_BYTES = 63;

/** An OBJECT IDENTIFIER as `1.2.840.…`. */
export function readOid({ body }: Der): string {
  if (body.length > MAX_OID_BYTES) throw new DerError("An object identifier that is too long");
  const arcs: bigint[] = [];
  let arc = 0n;
  let inside = false;
  for (const byte of body) {
    if (!inside && byte === 0x80) throw new DerError("A number of more bytes than it needs");
    inside = byte >= 0x80;
    arc = (arc << 7n) | BigInt(byte & 0x7f);
    if (byte >= 0x80) continue;
    arcs.push(arc);
    arc = 0n;
  }
  if (arcs.length === 0) throw new DerError("An empty object identifier");
  if (inside) throw new DerError("An object identifier that does not end");
  const [first, ...rest] = arcs;
  const root = first < 40n ? 0n : first < 80n ? 1n : 2n;
  return [root, first - root * 40n, ...rest].join(".");
}

/**
 * The bytes of a BIT STRING without unused bits.
 * @throws {DerError} If bits that are unused are set.
 */
export function bitBytes({ body }: Der): Uint8Array {
  if (body.length === 0) throw new DerError("A bit string without its first byte");
  const unused = body[0];
  const wrong = unused > 7 ||
    (unused > 0 && (body.length === 1 || (body[body.length - 1] & ((1 << unused) - 1)) !== 0));
  if (wrong) throw new DerError("A bit string with wrong unused bits");
  return body.subarray(1);
}

/** Whether bit `n`, counted from the first, of a BIT STRING is set. */
export function bit(value: Der, n: number): boolean {
  return ((bitBytes(value)[n >> 3] ?? 0) & (0x80 >> (n & 7))) !== 0;
}

/** UTCTime or GeneralizedTime, in milliseconds since 1970. */
export function readTime(value: Der): number {
  const text = new TextDecoder("latin1").decode(value.body);
  const short = value.tag === TAG.utcTime;
  const match = (short ? /^(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)Z$/ : /^(\d{4})(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)Z$/).exec(
    text,
  );
  if (match === null || (!short && value.tag !== TAG.generalizedTime)) throw new DerError(`No time: ${text}`);
  const [year, month, day, hour, minute, second] = match.slice(1).map(Number);
  const full = short ? year + (year < 50 ? 2000 : 1900) : year;
  const date = new Date(0);
  date.setUTCFullYear(full, month - 1, day);
  const exists = date.getUTCMonth() === month - 1 && date.getUTCDate() === day;
  if (!exists || hour > 23 || minute > 59 || second > 59) throw new DerError(`No time: ${text}`);
  return date.setUTCHours(hour, minute, second);
}

/** A value with a tag; its contents are given in pieces. */
export function der(tag: number, ...pieces: readonly Uint8Array[]): Uint8Array {
  const length = pieces.reduce((sum, piece) => sum + piece.length, 0);
  const digits: number[] = [];
  for (let rest = length; rest > 0; rest = Math.floor(rest / 256)) digits.unshift(rest % 256);
  const head = length < 0x80 ? [tag, length] : [tag, 0x80 | digits.length, ...digits];
  const whole = new Uint8Array(head.length + length);
  whole.set(head);
  let at = head.length;
  for (const piece of pieces) {
    whole.set(piece, at);
    at += piece.length;
  }
  return whole;
}

/** A SEQUENCE of these values, each of them whole: tag, length and body. */
export function encodeSequence(...pieces: readonly Uint8Array[]): Uint8Array {
  return der(TAG.sequence, ...pieces);
}

/** A SET OF, in DER's order. */
export function setOf(pieces: readonly Uint8Array[]): Uint8Array {
  const inOrder = pieces.map((piece) => piece.toHex()).sort().map((hex) => Uint8Array.fromHex(hex));
  return der(TAG.set, ...inOrder);
}

/**
 * A context-specific tag: `[n]`.
 * @param constructed Whether it contains values.
 */
export function contextTag(n: number, constructed: boolean): number {
  return (constructed ? 0xa0 : 0x80) | n;
}

/** A value that is explicitly `[n]`. */
export function explicit(n: number, ...pieces: readonly Uint8Array[]): Uint8Array {
  return der(contextTag(n, true), ...pieces);
}

/**
 * An INTEGER.
 * @param tag Another tag for it.
 */
export function encodeInteger(n: bigint | number, tag: number = TAG.integer): Uint8Array {
  let rest = BigInt(n);
  const bytes: number[] = [];
  do {
    bytes.unshift(Number(rest & 0xffn));
    rest >>= 8n;
  } while (!(rest === 0n && bytes[0] < 0x80) && !(rest === -1n && bytes[0] >= 0x80));
  return der(tag, new Uint8Array(bytes));
}

/**
 * A BOOLEAN.
 * @param tag Another tag for it.
 */
export function encodeBoolean(value: boolean, tag: number = TAG.boolean): Uint8Array {
  return der(tag, new Uint8Array([value ? 0xff : 0]));
}

/** An OBJECT IDENTIFIER of `1.2.840.…`. */
export function encodeOid(dotted: string): Uint8Array {
  const [first, second, ...rest] = dotted.split(".").map(BigInt);
  const bytes = [first * 40n + (second ?? 0n), ...rest].flatMap((arc) => {
    const digits = [Number(arc & 0x7fn)];
    for (let left = arc >> 7n; left > 0n; left >>= 7n) digits.unshift(Number(left & 0x7fn) | 0x80);
    return digits;
  });
  return der(TAG.oid, new Uint8Array(bytes));
}

/** A BIT STRING of whole bytes. */
export function encodeBitString(bytes: Uint8Array): Uint8Array {
  return der(TAG.bitString, new Uint8Array([0]), bytes);
}

/**
 * A BIT STRING of named bits, without the zeros at its end.
 * @param set The numbers of those that are set.
 */
export function namedBits(set: readonly number[], tag: number = TAG.bitString): Uint8Array {
  if (set.length === 0) return der(tag, new Uint8Array([0]));
  const last = Math.max(...set);
  const bytes = new Uint8Array((last >> 3) + 1);
  for (const n of set) bytes[n >> 3] |= 0x80 >> (n & 7);
  return der(tag, new Uint8Array([7 - (last & 7)]), bytes);
}

/** A text in UTF-8, or in a subset of it if the tag demands this. */
export function encodeString(tag: number, value: string): Uint8Array {
  return der(tag, new TextEncoder().encode(value));
}

/**
 * A time: UTCTime until 2049, and GeneralizedTime after it or if it is asked for.
 * @param ms Since 1970.
 */
export function encodeTime(ms: number, general = false): Uint8Array {
  const date = new Date(ms);
  const digits = date.toISOString().slice(0, 19).replace(/\D/g, "");
  const year = date.getUTCFullYear();
  if (general || year >= 2050 || year < 1950) return encodeString(TAG.generalizedTime, `${digits}Z`);
  return encodeString(TAG.utcTime, `${digits.slice(2)}Z`);
}
