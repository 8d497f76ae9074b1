/**
 * Packs options for another thread: structured clone would lose the class of a `Float`, msgpack does not.
 * @module
 */

import type { OptsOf, Role } from "./options.ts";
import { WireError } from "#lib/errors.ts";
import { decode, encode } from "#lib/values/msgpack.ts";
import { toValue } from "#lib/values/value.ts";

/** The options as bytes, with their role. */
export function packOpts<R extends Role>(role: R, opts: OptsOf[R]): Uint8Array {
  return encode(toValue([role, Object.entries(opts)]), "disk");
}

/**
 * The options in `bytes`, which this build's {@linkcode packOpts} made.
 * @throws {WireError} If they are not this role's.
 */
export function unpackOpts<R extends Role>(role: R, bytes: Uint8Array): OptsOf[R] {
  const packed = decode(bytes, "disk");
  const [owner, entries] = Array.isArray(packed) ? packed : [];
  if (!Array.isArray(entries)) throw new WireError("these are no options");
  const opts: object = Object.fromEntries(entries.map((entry) => Array.isArray(entry) ? [entry[0], entry[1]] : []));
  if (!areOptionsOf(role, owner, opts)) throw new WireError(`these are options of no ${role}`);
  return opts;
}

/** Not checked against the option tables: loading these would cost a thread some milliseconds. */
function areOptionsOf<R extends Role>(role: R, owner: unknown, opts: object): opts is OptsOf[R] {
  return owner === role && Object.hasOwn(opts, "conf_file");
}
