/**
 * Writes values as MessagePack into a buffer, each number and length in its smallest form; the writing half of
 * `msgpack.ts`.
 * Source: github.com/msgpack/msgpack/blob/master/spec.md; Salt's `salt/payload.py` for ints beyond 64 bits.
 * @module
 */

import { countStep } from "./stop_word.ts";
import { MsgpackError } from "#lib/errors.ts";
import { Float, type Value } from "./value.ts";

/** A value that is encoded already. A large value that goes to several places is encoded once. */
export class Packed {
  /** @param bytes One complete value, in the dialect of its message. */
  constructor(readonly bytes: Uint8Array) {}
}

/** What can be written: a value, of which parts may be encoded already. */
export type Packable = Value | Packed | ReadonlyMap<Value, Packable>;

const INITIAL_CAPACITY = 16 * 1024;
/** A larger buffer is returned with its message; a smaller one is kept, and the message is copied out of it. */
const KEPT_CAPACITY = 1024 * 1024;
/** Up to this many characters a loop is faster than the runtime's encoder. */
const SHORT_TEXT = 48;

const textEncoder = new TextEncoder();

/** Writes messages one after the other into a buffer that it keeps and grows. */
export class Writer {
  #bytes = new Uint8Array(INITIAL_CAPACITY);
  #view = new DataView(this.#bytes.buffer);
  #position = 0;
  #bin = false;

  /**
   * Begins a message.
   * @param bin Whether bytes are written with the bin types.
   */
  start(bin: boolean): void {
    this.#position = 0;
    this.#bin = bin;
  }

  /** Writes bytes as they are, before the value. */
  writeHead(head: Uint8Array): void {
    this.#reserve(head.length);
    this.#bytes.set(head, this.#position);
    this.#position += head.length;
  }

  /** Returns the bytes written since {@linkcode start}. */
  finish(): Uint8Array {
    if (this.#bytes.length <= KEPT_CAPACITY) return this.#bytes.slice(0, this.#position);
    const result = this.#bytes.subarray(0, this.#position);
    this.#resize(INITIAL_CAPACITY, 0);
    return result;
  }

  #resize(capacity: number, keep: number): void {
    const bytes = new Uint8Array(capacity);
    bytes.set(this.#bytes.subarray(0, keep));
    this.#bytes = bytes;
    this.#view = new DataView(bytes.buffer);
  }

  #reserve(size: number): void {
    const needed = this.#position + size;
    if (needed <= this.#bytes.length) return;
    // An eighth more than a large value needs, so that the small values after it do not copy it again.
    this.#resize(Math.max(this.#bytes.length * 2, needed + (needed >> 3)), this.#position);
  }

  /**
   * Writes `value`; lists and maps in it may be nested `depth` deep.
   * @throws {MsgpackError}
   */
  write(value: Packable, depth: number): void {
    this.#reserve(9);
    if (typeof value === "string") this.#writeText(value);
    else if (typeof value === "number") {
      if (Number.isSafeInteger(value)) this.#writeInt(value);
      else if (Number.isInteger(value)) this.#writeBigInt(BigInt(value));
      else this.#writeFloat(value);
    } else if (value === null) this.#bytes[this.#position++] = 0xc0;
    else if (typeof value === "boolean") this.#bytes[this.#position++] = value ? 0xc3 : 0xc2;
    else if (typeof value === "bigint") this.#writeBigInt(value);
    else if (value instanceof Map) {
      if (depth === 0) throw tooDeep();
      countStep();
      this.#writeCount(value.size, 0x80, 0xde);
      for (const [key, item] of value) {
        this.write(key, depth - 1);
        this.write(item, depth - 1);
      }
    } else if (Array.isArray(value)) {
      if (depth === 0) throw tooDeep();
      countStep();
      this.#writeCount(value.length, 0x90, 0xdc);
      for (let i = 0; i < value.length; i++) this.write(value[i], depth - 1);
    } else if (value instanceof Uint8Array) this.#writeBytes(value);
    else if (value instanceof Float) this.#writeFloat(value.value);
    else if (value instanceof Packed) this.#writePacked(value.bytes);
    else throw new MsgpackError(`Cannot write a ${typeof value}`);
  }

  #writePacked(bytes: Uint8Array): void {
    this.#reserve(bytes.length);
    this.#bytes.set(bytes, this.#position);
    this.#position += bytes.length;
  }

  #writeFloat(n: number): void {
    this.#bytes[this.#position] = 0xcb;
    this.#view.setFloat64(this.#position + 1, n);
    this.#position += 9;
  }

  #writeInt(n: number): void {
    const view = this.#view;
    const at = this.#position;
    if (n >= 0) {
      if (n < 0x80) this.#bytes[this.#position++] = n;
      else if (n < 0x100) this.#position = at + 2, view.setUint16(at, 0xcc00 | n);
      else if (n < 0x10000) this.#position = at + 3, view.setUint8(at, 0xcd), view.setUint16(at + 1, n);
      else if (n < 0x100000000) this.#position = at + 5, view.setUint8(at, 0xce), view.setUint32(at + 1, n);
      else this.#position = at + 9, view.setUint8(at, 0xcf), view.setBigUint64(at + 1, BigInt(n));
    } else if (n >= -0x20) this.#bytes[this.#position++] = n & 0xff;
    else if (n >= -0x80) this.#position = at + 2, view.setUint16(at, 0xd000 | (n & 0xff));
    else if (n >= -0x8000) this.#position = at + 3, view.setUint8(at, 0xd1), view.setInt16(at + 1, n);
    else if (n >= -0x80000000) this.#position = at + 5, view.setUint8(at, 0xd2), view.setInt32(at + 1, n);
    else this.#position = at + 9, view.setUint8(at, 0xd3), view.setBigInt64(at + 1, BigInt(n));
  }

  #writeBigInt(n: bigint): void {
    if (n >= BigInt(Number.MIN_SAFE_INTEGER) && n <= BigInt(Number.MAX_SAFE_INTEGER)) this.#writeInt(Number(n));
    else if (n > 0 ? BigInt.asUintN(64, n) !== n : BigInt.asIntN(64, n) !== n) this.#writeText(String(n));
    else {
      this.#bytes[this.#position] = n > 0 ? 0xcf : 0xd3;
      this.#view.setBigInt64(this.#position + 1, n);
      this.#position += 9;
    }
  }

  /**
   * Writes the head of a list or map: `fix` for up to 15 entries, else the code `long` with 16 bits, or the next code
   * with 32.
   */
  #writeCount(count: number, fix: number, long: number): void {
    if (count < 16) this.#bytes[this.#position++] = fix | count;
    else this.#writeLength(count, long);
  }

  #writeLength(length: number, code16: number): void {
    if (length < 0x10000) {
      this.#bytes[this.#position] = code16;
      this.#view.setUint16(this.#position + 1, length);
      this.#position += 3;
    } else {
      this.#bytes[this.#position] = code16 + 1;
      this.#view.setUint32(this.#position + 1, length);
      this.#position += 5;
    }
  }

  #textHeadSize(length: number): number {
    return length < 32 ? 1 : length < 0x100 && this.#bin ? 2 : length < 0x10000 ? 3 : 5;
  }

  #writeTextHead(length: number): void {
    if (length < 32) this.#bytes[this.#position++] = 0xa0 | length;
    else if (length < 0x100 && this.#bin) {
      this.#view.setUint16(this.#position, 0xd900 | length);
      this.#position += 2;
    } else this.#writeLength(length, 0xda);
  }

  #writeText(text: string): void {
    this.#reserve(5 + text.length * 3);
    const bytes = this.#bytes;
    const size = this.#textHeadSize(text.length);
    const start = this.#position + size;
    if (text.length <= SHORT_TEXT) {
      let i = 0;
      for (; i < text.length; i++) {
        const code = text.charCodeAt(i);
        if (code >= 0x80) break;
        bytes[start + i] = code;
      }
      if (i === text.length) {
        this.#writeTextHead(i);
        this.#position = start + i;
        return;
      }
    }
    const { written } = textEncoder.encodeInto(text, bytes.subarray(start));
    const realSize = this.#textHeadSize(written);
    if (realSize !== size) bytes.copyWithin(this.#position + realSize, start, start + written);
    this.#writeTextHead(written);
    this.#position += written;
  }

  #writeBytes(value: Uint8Array): void {
    this.#reserve(5 + value.length);
    if (!this.#bin) this.#writeTextHead(value.length);
    else if (value.length < 0x100) {
      this.#view.setUint16(this.#position, 0xc400 | value.length);
      this.#position += 2;
    } else this.#writeLength(value.length, 0xc5);
    this.#bytes.set(value, this.#position);
    this.#position += value.length;
  }
}

function tooDeep(): MsgpackError {
  return new MsgpackError("Cannot write a value that is nested so deep");
}
