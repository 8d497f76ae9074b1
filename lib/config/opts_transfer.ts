/**
 * Options on their way to another thread: structured clone would lose the class of a `Float`, msgpack does not.
 * @module
 */

import { decode, encode } from "../values/msgpack.ts";
import { toValue } from "../values/value.ts";

/** The bytes of `opts`. */
export function packOpts(opts: object): Uint8Array {
  return encode(toValue(Object.entries(opts).map(([key, option]) => [key, option])), "disk");
}

/** The options in `bytes`, which this build's {@linkcode packOpts} made of a `T`. */
export function unpackOpts<T extends object>(bytes: Uint8Array): T {
  const entries = decode(bytes, "disk");
  if (!Array.isArray(entries)) throw new TypeError("these are no options");
  const pairs = entries.map((entry) => Array.isArray(entry) ? [entry[0], entry[1]] : []);
  return Object.fromEntries(pairs) as T;
}
