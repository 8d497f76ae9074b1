/**
 * Entries of a map in MessagePack, found without decoding the others: a master that matches ten thousand minions'
 * grains reads two or three of eighty values of each.
 * Source: github.com/msgpack/msgpack/blob/master/spec.md.
 * @module
 */

import { MsgpackError } from "#lib/errors.ts";
import { decode } from "./msgpack.ts";
import type { Value } from "./value.ts";

const utf8 = new TextEncoder();

/**
 * Entries of one map after the other. All requested keys are searched in one pass over a map, so one key of each map
 * costs as much as five.
 */
export class EntryReader {
  readonly #numbers = new Map<string, number>();
  readonly #keys: Uint8Array[] = [];
  /** By the number of a key: where its value begins and ends in the map; 0 if the map has no such key. */
  readonly #starts: number[] = [];
  readonly #ends: number[] = [];
  #bytes: Uint8Array = new Uint8Array(0);
  #isLocated = false;

  /** Makes another map the current one. */
  open(bytes: Uint8Array): void {
    this.#bytes = bytes;
    this.#isLocated = false;
  }

  /**
   * The value of a text key; `undefined` if the map has no such key.
   * @throws {MsgpackError} If the bytes are no map, or cannot be read up to there.
   */
  get(key: string): Value | undefined {
    const packed = this.packed(key);
    return packed === undefined ? undefined : decode(packed, "disk");
  }

  /**
   * As {@linkcode get}, but the bytes of the value, which are part of the map's.
   * @throws {MsgpackError} As `get`; not if the value itself cannot be read.
   */
  packed(key: string): Uint8Array | undefined {
    let number = this.#numbers.get(key);
    if (number === undefined) {
      number = this.#keys.push(utf8.encode(key)) - 1;
      this.#numbers.set(key, number);
      this.#isLocated = false;
    }
    if (!this.#isLocated) this.#locate();
    const start = this.#starts[number];
    return start === 0 ? undefined : this.#bytes.subarray(start, this.#ends[number]);
  }

  #locate(): void {
    const bytes = this.#bytes;
    let at = 1;
    let count = 0;
    if (bytes[0] >= 0x80 && bytes[0] < 0x90) count = bytes[0] & 0x0f;
    else if (bytes[0] === 0xde || bytes[0] === 0xdf) {
      const size = bytes[0] === 0xde ? 2 : 4;
      count = lengthAt(bytes, at, size);
      at += size;
    } else throw new MsgpackError("No map");
    for (let i = 0; i < this.#keys.length; i++) this.#starts[i] = 0;
    for (let missing = this.#keys.length; count > 0 && missing > 0; count--) {
      const number = this.#keyAt(at);
      at = skip(bytes, at);
      const end = skip(bytes, at);
      if (number >= 0) {
        this.#starts[number] = at;
        this.#ends[number] = end;
        missing--;
      }
      at = end;
    }
    this.#isLocated = true;
  }

  /** The number of the key that is there; -1 if it is another one. */
  #keyAt(at: number): number {
    const bytes = this.#bytes;
    const code = bytes[at];
    let start = at + 1;
    let length: number;
    if (code >= 0xa0 && code < 0xc0) length = code & 0x1f;
    else if (code >= 0xd9 && code <= 0xdb) {
      const size = 1 << (code - 0xd9);
      length = lengthAt(bytes, start, size);
      start += size;
    } else return -1;
    for (let number = 0; number < this.#keys.length; number++) {
      const wanted = this.#keys[number];
      if (wanted.length !== length) continue;
      let i = 0;
      while (i < length && bytes[start + i] === wanted[i]) i++;
      if (i === length) return number;
    }
    return -1;
  }
}

/**
 * The big-endian number of `size` bytes.
 * @throws {MsgpackError} If they are not all there.
 */
function lengthAt(bytes: Uint8Array, at: number, size: number): number {
  if (at + size > bytes.length) throw new MsgpackError(`Truncated: ${size} bytes expected at ${at}`);
  let length = 0;
  for (let i = at; i < at + size; i++) length = length * 256 + bytes[i];
  return length;
}

/** The bytes after the first byte of a value: a fixed number, or a length and that number of elements. */
type Shape =
  | { readonly bytes: number }
  | { readonly size: 1 | 2 | 4; readonly of: "bytes" | "extension" | "items" | "pairs" };

/** The shapes of the codes from 0xc0 to 0xdf. */
const SHAPES: readonly Shape[] = [
  ...[0, 0, 0, 0].map((bytes) => ({ bytes })), // None, unused, False, True
  ...([1, 2, 4] as const).map((size) => ({ size, of: "bytes" as const })),
  ...([1, 2, 4] as const).map((size) => ({ size, of: "extension" as const })),
  ...[4, 8, 1, 2, 4, 8, 1, 2, 4, 8].map((bytes) => ({ bytes })), // floats and ints
  ...[2, 3, 5, 9, 17].map((bytes) => ({ bytes })), // extensions
  ...([1, 2, 4] as const).map((size) => ({ size, of: "bytes" as const })),
  ...([2, 4] as const).map((size) => ({ size, of: "items" as const })),
  ...([2, 4] as const).map((size) => ({ size, of: "pairs" as const })),
];

/**
 * The end of the value that starts at `at`. Nesting costs no stack.
 * @throws {MsgpackError} If it is truncated.
 */
function skip(bytes: Uint8Array, at: number): number {
  for (let values = 1; values > 0; values--) {
    if (at >= bytes.length) throw new MsgpackError(`Truncated: a value expected at ${at}`);
    const code = bytes[at++];
    if (code < 0x80 || code >= 0xe0) continue;
    if (code < 0x90) values += 2 * (code & 0x0f);
    else if (code < 0xa0) values += code & 0x0f;
    else if (code < 0xc0) at += code & 0x1f;
    else {
      const shape = SHAPES[code - 0xc0];
      if ("bytes" in shape) {
        at += shape.bytes;
        continue;
      }
      const length = lengthAt(bytes, at, shape.size);
      at += shape.size;
      if (shape.of === "bytes") at += length;
      else if (shape.of === "extension") at += length + 1;
      else values += shape.of === "items" ? length : 2 * length;
    }
  }
  if (at > bytes.length) throw new MsgpackError(`Truncated: ${at - bytes.length} bytes missing`);
  return at;
}
