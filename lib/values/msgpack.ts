/**
 * MessagePack for Salt's values, byte for byte as Python's `msgpack` writes it, in Salt's two dialects. Reading is
 * bounded ({@linkcode Bounds}): a length is checked against the remaining input before memory is taken, and a large map
 * becomes a `Dict`, so no choice of keys makes it slow. Knows nothing of envelopes, frames or minions' keys.
 * Source: Salt's `salt/payload.py` and `salt/transport/frame.py`.
 * @module
 */

import { MsgpackError } from "#lib/errors.ts";
import { type Bounds, Reader } from "./msgpack_reader.ts";
import { type Packable, Packed, Writer } from "./msgpack_writer.ts";
import type { Value } from "./value.ts";

export { type Bounds, type Packable, Packed };

/**
 * `wire`: ports 4505 and 4506. The bin types are not written; text and bytes share the raw family, and both are read as
 * text if they are valid UTF-8. `disk`: files and the event bus. Text and bytes are kept apart.
 */
export type Dialect = "wire" | "disk";

/** Maximum nesting of lists and maps, written or read (from a sender that has proved its identity). */
export const MAX_DEPTH = 512;

const writer = new Writer();

/**
 * Encodes `value`. A lone surrogate is written as U+FFFD, an int beyond 64 bits as its decimal digits (as Salt does).
 * @param head Bytes that are before it, which saves a copy of what is large.
 * @throws {MsgpackError} If `value` is nested deeper than {@linkcode MAX_DEPTH} or contains something that is not a
 * value.
 */
export function encode(value: Packable, dialect: Dialect, head?: Uint8Array): Uint8Array {
  writer.start(dialect === "disk");
  if (head !== undefined) writer.writeHead(head);
  writer.write(value, MAX_DEPTH);
  return writer.finish();
}

/**
 * Decodes the one value in `bytes`. It shares no memory with them.
 * @param bounds Limits of memory and depth. Default: those for authenticated peers and for files.
 * @throws {MsgpackError} If they are anything else: truncated, malformed, or followed by more.
 */
export function decode(bytes: Uint8Array, dialect: Dialect, bounds?: Bounds): Value {
  const reader = new Reader(bytes, { binAsText: dialect === "wire", bounds });
  const value = reader.readValue();
  const rest = bytes.length - reader.position;
  if (rest !== 0) throw new MsgpackError(`${rest} bytes follow the value`);
  return value;
}

/**
 * The value in the bytes of a file; `undefined` if there is no file, or if its bytes are no value, as those of one cut
 * off.
 */
export function decodeIfWhole(bytes: Uint8Array | undefined): Value | undefined {
  if (bytes === undefined) return undefined;
  try {
    return decode(bytes, "disk");
  } catch (error) {
    if (error instanceof MsgpackError) return undefined;
    throw error;
  }
}
