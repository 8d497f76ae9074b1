/**
 * The envelopes on port 4506, in both directions: clear `{enc, load, version}` and encrypted `{enc, load, version, id,
 * …}`. Checks what comes from the network once; does not decrypt or dispatch.
 * Source: docs/protocol.md "Envelopes".
 * @module
 */

import { WireError } from "#lib/errors.ts";
import { type Bounds, decode, encode } from "#lib/values/msgpack.ts";
import { isMap, map, type Value, type ValueMap } from "#lib/values/value.ts";

/** Our protocol version: session keys for each minion; `ts`, `tok` and `id` in every request. */
export const PROTOCOL_VERSION = 3;

/**
 * Bounds for reading a message of an unauthenticated sender: an envelope, a clear request, an answer to a sign-in. A
 * minion's own load is decoded after its key is verified, and may cost eight times as much. An operator's clear request
 * may name about a hundred thousand minions.
 */
export const UNAUTHENTICATED_BOUNDS: Bounds = { memory: 1_000_000, depth: 100, keyBytes: 4_096, otherKeys: 1_000 };

/** Maximum number of fields in a request's load: handlers may copy it, which must be cheap for any field names. */
export const MAX_FIELDS = 1_000;

/** A parsed request. */
export type Request =
  | { readonly enc: "clear"; readonly version: number; readonly load: ValueMap }
  | {
    readonly enc: "aes";
    readonly version: number;
    readonly load: Uint8Array;
    /** The outer id; absent before version 3. */
    readonly id: string | undefined;
    /** The algorithms requested for a private reply (`_pillar`). */
    readonly encAlgorithm: string | undefined;
    readonly sigAlgorithm: string | undefined;
  };

/**
 * Parses the request in `frame`.
 * @throws {WireError} Its message is Salt's reply: `bad load`, or `payload and load must be a dict`. If the error names
 * a field, the reply is Salt's general one.
 * @throws {MsgpackError} If `frame` is not a value, or is out of bounds.
 */
export function parseRequest(frame: Uint8Array): Request {
  const outer = decode(frame, "wire", UNAUTHENTICATED_BOUNDS);
  if (!isMap(outer) || !outer.has("enc") || !outer.has("load")) throw new WireError("bad load");
  const enc = outer.get("enc");
  const load = outer.get("load");
  const version = parseVersion(outer.get("version"));
  if (enc === "clear" && isMap(load)) {
    if (load.size > MAX_FIELDS) throw new WireError("bad load");
    return { enc, version, load };
  }
  if (enc === "aes" && (load instanceof Uint8Array || typeof load === "string")) {
    const text = (key: string) => {
      const field = outer.get(key);
      return typeof field === "string" ? field : undefined;
    };
    return {
      enc,
      version,
      // Ciphertext that happens to be valid UTF-8 arrives as a string.
      load: typeof load === "string" ? new TextEncoder().encode(load) : load,
      id: text("id"),
      encAlgorithm: text("enc_algo"),
      sigAlgorithm: text("sig_algo"),
    };
  }
  if (enc === "aes") throw new WireError("bad load");
  if (enc === "clear" || !isMap(load)) throw new WireError("payload and load must be a dict");
  throw new WireError("an envelope that is neither clear nor aes", "enc");
}

/** Salt's `int(version)`; a value that it refuses is a bad load. Absent means 0, as up to 3004. */
function parseVersion(version: Value | undefined): number {
  if (version === undefined) return 0;
  if (typeof version === "number" && Number.isInteger(version)) return version;
  if (typeof version === "string" && /^\s*[+-]?\d{1,9}\s*$/.test(version)) return Number(version);
  throw new WireError("bad load");
}

/** Encodes a request that is not encrypted. */
export function clearRequest(load: ValueMap): Uint8Array {
  return encode(map({ enc: "clear", load, version: PROTOCOL_VERSION }), "wire");
}

/** Encodes a minion's encrypted request. `load` is its crypticle. */
export function encryptedRequest(
  load: Uint8Array,
  sender: { readonly id: string; readonly encAlgorithm: string; readonly sigAlgorithm: string },
): Uint8Array {
  const { id, encAlgorithm, sigAlgorithm } = sender;
  return encode(
    map({ enc: "aes", load, version: PROTOCOL_VERSION, id, enc_algo: encAlgorithm, sig_algo: sigAlgorithm }),
    "wire",
  );
}

/** The content of a message of the PUB socket: a crypticle with the shared key, and the master's signature of it. */
export interface Published {
  readonly load: Uint8Array;
  /** The signature of `load`, if there is one. */
  readonly sig: Uint8Array | undefined;
  /** The algorithm of the signature. */
  readonly sigAlgorithm: string | undefined;
}

/**
 * Parses the publish in `frame`.
 * @throws {WireError} If it is not a publish.
 */
export function parsePublished(frame: Uint8Array): Published {
  const outer = decode(frame, "wire", UNAUTHENTICATED_BOUNDS);
  if (!isMap(outer) || outer.get("enc") !== "aes") throw new WireError("not an encrypted publish", "enc");
  const load = asBytes(outer.get("load"));
  if (load === undefined) throw new WireError("a publish without a load", "load");
  const sigAlgorithm = outer.get("sig_algo");
  return {
    load,
    sig: asBytes(outer.get("sig")),
    sigAlgorithm: typeof sigAlgorithm === "string" ? sigAlgorithm : undefined,
  };
}

/** Raw bytes that may have been decoded as a string because they are valid UTF-8. */
export function asBytes(v: Value | undefined): Uint8Array | undefined {
  if (v instanceof Uint8Array) return v;
  return typeof v === "string" ? new TextEncoder().encode(v) : undefined;
}

/**
 * The string in field `key`.
 * @throws {WireError} With the field, if it is not a string.
 */
export function stringField(load: ValueMap, key: string): string {
  const field = load.get(key);
  if (typeof field !== "string") throw new WireError(`"${key}" is not a string`, key);
  return field;
}

/**
 * The list in field `key`.
 * @throws {WireError} With the field, if it is not a list.
 */
export function listField(load: ValueMap, key: string): Value[] {
  const field = load.get(key);
  if (!Array.isArray(field)) throw new WireError(`"${key}" is not a list`, key);
  return field;
}
