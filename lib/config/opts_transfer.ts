/**
 * Options on their way to another thread: structured clone would lose the class of a `Float`, msgpack does not.
 * @module
 */

import type { OptsOf, Role } from "./options.ts";
import { WireError } from "../errors.ts";
import { decode, encode } from "../values/msgpack.ts";
import { toValue } from "../values/value.ts";

/** The bytes of a role's options, which say whose they are. */
export function packOpts<R extends Role>(role: R, opts: OptsOf[R]): Uint8Array {
  return encode(toValue([role, Object.entries(opts)]), "disk");
}

/** The options in `bytes`, which this build's {@linkcode packOpts} made. @throws {WireError} If they are not this role's. */
export function unpackOpts<R extends Role>(role: R, bytes: Uint8Array): OptsOf[R] {
  const packed = decode(bytes, "disk");
  const [owner, entries] = Array.isArray(packed) ? packed : [];
  if (!Array.isArray(entries)) throw new WireError("these are no options");
  const opts: object = Object.fromEntries(entries.map((entry) => Array.isArray(entry) ? [entry[0], entry[1]] : []));
  if (!areOptionsOf(role, owner, opts)) throw new WireError(`these are options of no ${role}`);
  return opts;
}

/** The tables would say which options these must be: threads do without them, as they take milliseconds to load. */
function areOptionsOf<R extends Role>(role: R, owner: unknown, opts: object): opts is OptsOf[R] {
  return owner === role && Object.hasOwn(opts, "conf_file");
}
