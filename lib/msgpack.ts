/**
 * MessagePack over Salt's values, byte for byte as Python's `msgpack` writes it, in Salt's two dialects.
 *
 * Reading is bounded: a length is checked against the input that is left before anything is made of it, and nesting
 * ends at {@linkcode MAX_DEPTH}, and what a message costs in memory has a bound. Knows nothing of envelopes, frames or keys.
 * Source: Salt's payload.py and transport/frame.py.
 * @module
 */

import { MsgpackError } from "./errors.ts";
import { Reader } from "./msgpack_reader.ts";
import { type Packable, Packed, Writer } from "./msgpack_writer.ts";
import type { Value } from "./value.ts";

export { type Packable, Packed };

/**
 * `wire`: 4505 and 4506. No bin types are written, text and bytes share the raw family; both are read as text where they
 * are valid UTF-8. `disk`: files and the event bus. Text and bytes are kept apart.
 */
export type Dialect = "wire" | "disk";

/** How deep lists and maps may be nested, written or read. */
export const MAX_DEPTH = 512;

const writer = new Writer();

/**
 * The bytes of `value`. A lone surrogate is written as U+FFFD; an int beyond 64 bits as its decimal digits, as Salt does.
 * @throws {MsgpackError} If `value` is nested deeper than {@linkcode MAX_DEPTH}, or contains something that is no value.
 */
export function encode(value: Packable, dialect: Dialect): Uint8Array {
  writer.start(dialect === "disk");
  writer.write(value, MAX_DEPTH);
  return writer.finish();
}

/**
 * The one value that `bytes` are.
 * @param most What it may cost in memory, in entries; a list, a map or a byte string counts 16 more. Default: 8 million.
 * @throws {MsgpackError} If they are anything else: truncated, malformed, or followed by more.
 */
export function decode(bytes: Uint8Array, dialect: Dialect, most?: number): Value {
  const { value, length } = decodeFirst(bytes, dialect, most);
  if (length !== bytes.length) throw new MsgpackError(`${bytes.length - length} bytes follow the value`);
  return value;
}

/**
 * The value that `bytes` begin with, and how many bytes it took. The value shares no memory with `bytes`.
 * @throws {MsgpackError} If they do not begin with a whole value.
 */
export function decodeFirst(bytes: Uint8Array, dialect: Dialect, most?: number): { value: Value; length: number } {
  const reader = new Reader(bytes, { binAsText: dialect === "wire", most });
  const value = reader.read(MAX_DEPTH);
  return { value, length: reader.position };
}
