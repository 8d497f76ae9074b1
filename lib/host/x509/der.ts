/**
 * DER, the encoding of certificates: values as a tag with contents. Only definite lengths and tags of one byte, which is all
 * that X.509 has.
 * Source: ITU-T X.690.
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

/** Reads `bytes` as one value. @throws {DerError} If they are none, or more follows. */
export function readDer(bytes: Uint8Array): Der {
  const [value, end] = readAt(bytes, 0);
  if (end !== bytes.length) throw new DerError("More bytes follow the value");
  return value;
}

function readAt(bytes: Uint8Array, start: number): [Der, number] {
  const [tag, first] = [bytes[start], bytes[start + 1]];
  if (tag === undefined || first === undefined) throw new DerError("The value is cut short");
  if ((tag & 0x1f) === 0x1f) throw new DerError("A tag of several bytes");
  let at = start + 2;
  let length = first;
  if (first >= 0x80) {
    const count = first & 0x7f;
    if (count === 0 || count > 4) throw new DerError("No definite length");
    length = 0;
    for (let i = 0; i < count; i++) length = length * 256 + (bytes[at + i] ?? 0);
    at += count;
  }
  const end = at + length;
  if (end > bytes.length) throw new DerError("The value is cut short");
  return [{ tag, body: bytes.subarray(at, end), whole: bytes.subarray(start, end) }, end];
}

/** The values in the contents of a constructed value. @throws {DerError} If they are none. */
export function children(of: Der, tag?: number): Der[] {
  if (tag !== undefined) expectTag(of, tag);
  const found: Der[] = [];
  for (let at = 0; at < of.body.length;) {
    const [value, end] = readAt(of.body, at);
    found.push(value);
    at = end;
  }
  return found;
}

/** @throws {DerError} If the value has another tag. */
export function expectTag(value: Der | undefined, tag: number): Der {
  if (value?.tag !== tag) throw new DerError(`Tag ${value?.tag ?? "none"} where ${tag} was expected`);
  return value;
}

/** An INTEGER or ENUMERATED, whatever its tag. */
export function readInteger({ body }: Der): bigint {
  if (body.length === 0) throw new DerError("A number without digits");
  const n = BigInt(`0x${body.toHex()}`);
  return body[0] >= 0x80 ? n - (1n << BigInt(8 * body.length)) : n;
}

/** A BOOLEAN, whatever its tag. */
export function readBoolean({ body }: Der): boolean {
  return body.length > 0 && body[0] !== 0;
}

/** Maximum bytes of an identifier; the library that Salt uses reads no longer ones either. */
const MAX_OID_BYTES = 63;

/** An OBJECT IDENTIFIER as `1.2.840.…`. */
export function readOid({ body }: Der): string {
  if (body.length > MAX_OID_BYTES) throw new DerError("An object identifier that is too long");
  const arcs: bigint[] = [];
  let arc = 0n;
  for (const byte of body) {
    arc = (arc << 7n) | BigInt(byte & 0x7f);
    if (byte >= 0x80) continue;
    arcs.push(arc);
    arc = 0n;
  }
  if (arcs.length === 0) throw new DerError("An empty object identifier");
  const [first, ...rest] = arcs;
  const root = first < 40n ? 0n : first < 80n ? 1n : 2n;
  return [root, first - root * 40n, ...rest].join(".");
}

/** The bytes of a BIT STRING without unused bits. */
export function bitBytes({ body }: Der): Uint8Array {
  if (body.length === 0) throw new DerError("A bit string without its first byte");
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
  const found = (short ? /^(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)Z$/ : /^(\d{4})(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)Z$/).exec(
    text,
  );
  if (found === null || (!short && value.tag !== TAG.generalizedTime)) throw new DerError(`No time: ${text}`);
  const [year, month, day, hour, minute, second] = found.slice(1).map(Number);
  const full = short ? year + (year < 50 ? 2000 : 1900) : year;
  return Date.UTC(full, month - 1, day, hour, minute, second);
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
export function sequence(...pieces: readonly Uint8Array[]): Uint8Array {
  return der(TAG.sequence, ...pieces);
}

/** A SET OF, in DER's order. */
export function setOf(pieces: readonly Uint8Array[]): Uint8Array {
  const inOrder = pieces.map((piece) => piece.toHex()).sort().map((hex) => Uint8Array.fromHex(hex));
  return der(TAG.set, ...inOrder);
}

/** A context-specific tag: `[n]`. @param constructed Whether it contains values. */
export function contextTag(n: number, constructed: boolean): number {
  return (constructed ? 0xa0 : 0x80) | n;
}

/** A value that is explicitly `[n]`. */
export function explicit(n: number, ...pieces: readonly Uint8Array[]): Uint8Array {
  return der(contextTag(n, true), ...pieces);
}

/** An INTEGER. @param tag Another tag for it. */
export function integer(n: bigint | number, tag: number = TAG.integer): Uint8Array {
  let rest = BigInt(n);
  const bytes: number[] = [];
  do {
    bytes.unshift(Number(rest & 0xffn));
    rest >>= 8n;
  } while (!(rest === 0n && bytes[0] < 0x80) && !(rest === -1n && bytes[0] >= 0x80));
  return der(tag, new Uint8Array(bytes));
}

/** A BOOLEAN. @param tag Another tag for it. */
export function boolean(value: boolean, tag: number = TAG.boolean): Uint8Array {
  return der(tag, new Uint8Array([value ? 0xff : 0]));
}

/** An OBJECT IDENTIFIER of `1.2.840.…`. */
export function oid(dotted: string): Uint8Array {
  const [first, second, ...rest] = dotted.split(".").map(BigInt);
  const bytes = [first * 40n + (second ?? 0n), ...rest].flatMap((arc) => {
    const digits = [Number(arc & 0x7fn)];
    for (let left = arc >> 7n; left > 0n; left >>= 7n) digits.unshift(Number(left & 0x7fn) | 0x80);
    return digits;
  });
  return der(TAG.oid, new Uint8Array(bytes));
}

/** A BIT STRING of whole bytes. */
export function bitString(bytes: Uint8Array): Uint8Array {
  return der(TAG.bitString, new Uint8Array([0]), bytes);
}

/** A BIT STRING of named bits, without the zeros at its end. @param set The numbers of those that are set. */
export function namedBits(set: readonly number[], tag: number = TAG.bitString): Uint8Array {
  if (set.length === 0) return der(tag, new Uint8Array([0]));
  const last = Math.max(...set);
  const bytes = new Uint8Array((last >> 3) + 1);
  for (const n of set) bytes[n >> 3] |= 0x80 >> (n & 7);
  return der(tag, new Uint8Array([7 - (last & 7)]), bytes);
}

/** A text in UTF-8, or in a subset of it if the tag demands this. */
export function text(tag: number, value: string): Uint8Array {
  return der(tag, new TextEncoder().encode(value));
}

/** A time: UTCTime until 2049, and GeneralizedTime after it or if it is asked for. @param ms Since 1970. */
export function time(ms: number, general = false): Uint8Array {
  const date = new Date(ms);
  const digits = date.toISOString().slice(0, 19).replace(/\D/g, "");
  const year = date.getUTCFullYear();
  if (general || year >= 2050 || year < 1950) return text(TAG.generalizedTime, `${digits}Z`);
  return text(TAG.utcTime, `${digits.slice(2)}Z`);
}
