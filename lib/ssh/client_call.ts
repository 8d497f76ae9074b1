/**
 * A call of the runner `ssh`, as it passes to the process that runs it.
 * @module
 */

import { WireError } from "#lib/errors.ts";
import { decode, encode } from "#lib/values/msgpack.ts";
import { listOrEmpty, mapOrEmpty } from "#lib/values/shape.ts";
import { map, str, type Value } from "#lib/values/value.ts";

/** A function, and the hosts that it runs on. */
export interface SshClientCall {
  /** The packed options of the master. */
  readonly opts: Uint8Array;
  readonly tgt: Value;
  readonly tgtType: string;
  readonly fun: string;
  /** As on the wire. */
  readonly arg: readonly Value[];
  readonly jid: string;
}

/** The call as bytes. */
export function packSshClientCall(call: SshClientCall): Uint8Array {
  return encode(map({ ...call }), "disk");
}

/**
 * The call in bytes that {@linkcode packSshClientCall} made.
 * @throws {WireError} If it has no options.
 */
export function unpackSshClientCall(bytes: Uint8Array): SshClientCall {
  const call = mapOrEmpty(decode(bytes, "disk"));
  const opts = call.get("opts");
  if (!(opts instanceof Uint8Array)) throw new WireError("a call without options", "opts");
  const text = (name: string) => str(call.get(name) ?? "");
  return {
    opts,
    tgt: call.get("tgt") ?? null,
    tgtType: text("tgtType"),
    fun: text("fun"),
    arg: listOrEmpty(call.get("arg")),
    jid: text("jid"),
  };
}
