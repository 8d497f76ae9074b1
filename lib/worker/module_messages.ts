/**
 * The messages between a minion and a process of a custom module, as bytes: MessagePack maps with a field `kind`.
 * Messages of the process come from untrusted code: each field is checked, and an invalid message is an error that ends
 * the process.
 * Source: the types in job_protocol.ts.
 * @module
 */

import { WireError } from "../errors.ts";
import type { Refresh } from "../plugins/job_context.ts";
import { type Asked, type FromModule, pack, type ToModule } from "./job_protocol.ts";
import { type Bounds, decode } from "../values/msgpack.ts";
import { isMap, type Value, type ValueMap } from "../values/value.ts";

/** Memory bound of the parts of one message, in the entries of `decode`: about 75 MB. */
const BOUNDS: Bounds = { memory: 4_000_000, depth: 512, keyBytes: Infinity, otherKeys: Infinity };
/** Maximum length of a name and of a log message, in UTF-16 units. */
const MOST_TEXT = 1 << 16;

/** Encodes a message. */
export function packMessage(message: FromModule | ToModule): Uint8Array {
  return pack(message);
}

/** Decodes a message of the minion. @throws {TypeError} If it is invalid. */
export function unpackToModule(bytes: unknown): ToModule {
  if (!(bytes instanceof Uint8Array)) throw new TypeError("a message that is no bytes");
  // The minion encoded it with packMessage, and this process was started by it.
  return plain(decode(bytes, "disk")) as ToModule;
}

/** Converts maps to objects and `null` to `undefined`. */
function plain(value: Value): unknown {
  if (value === null) return undefined;
  if (!isMap(value)) return value;
  return Object.fromEntries([...value].map(([key, item]) => [String(key), plain(item)]));
}

/** Decodes a message of the process. @throws {WireError | MsgpackError} If it is invalid. */
export function parseFromModule(bytes: Uint8Array): FromModule {
  const value = decode(bytes, "disk", BOUNDS);
  if (!isMap(value)) throw new WireError("a message that is no map");
  const kind = text(value, "kind");
  switch (kind) {
    case "ready":
    case "begun":
      return { kind };
    case "done":
      return { kind, outcome: blob(value, "outcome") };
    case "log":
      return { kind, level: whole(value, "level", 50), message: text(value, "message") };
    case "child":
      return { kind, pid: whole(value, "pid", 0x7fffffff), state: oneOf(value, "state", ["started", "ended"]) };
    case "output":
      return { kind, written: written(value.get("written")) };
    case "ask":
      return { kind, id: whole(value, "id", Number.MAX_SAFE_INTEGER), asked: asked(value.get("asked")) };
    default:
      throw new WireError("a message of no known kind");
  }
}

/** Decodes the value of an outcome that a process sent. @throws {MsgpackError} */
export function unpackOutcome(bytes: Uint8Array): Value {
  return decode(bytes, "disk", BOUNDS);
}

function written(given: Value | undefined): (FromModule & { readonly kind: "output" })["written"] {
  const fields = record(given);
  const encoding = fields.get("encoding") ?? null;
  return {
    command: whole(fields, "command", Number.MAX_SAFE_INTEGER),
    stream: oneOf(fields, "stream", ["stdout", "stderr"]),
    bytes: blob(fields, "bytes"),
    encoding: encoding === null ? null : text(fields, "encoding"),
  };
}

const REFRESHES: readonly Refresh[] = ["modules", "grains", "pillar"];

/** The requests that a custom module may send. It does not call functions through the minion: its process has them. */
function asked(given: Value | undefined): Asked {
  const fields = record(given);
  const what = text(fields, "what");
  switch (what) {
    case "request":
      return { what, load: blob(fields, "load") };
    case "fire":
      return { what, data: blob(fields, "data"), tag: text(fields, "tag") };
    case "refresh":
      return { what, refresh: oneOf(fields, "refresh", REFRESHES) };
    case "running":
      return { what };
    case "signal":
      return { what, jid: text(fields, "jid"), signal: whole(fields, "signal", 64) };
    default:
      throw new WireError("a module asks for what it may not have");
  }
}

function record(value: Value | undefined): ValueMap {
  if (!isMap(value)) throw new WireError("a part of a message that is no map");
  return value;
}

function text(fields: ValueMap, field: string): string {
  const value = fields.get(field);
  if (typeof value !== "string" || value.length > MOST_TEXT) throw new WireError(`${field} is no text`, field);
  return value;
}

function blob(fields: ValueMap, field: string): Uint8Array {
  const value = fields.get(field);
  if (!(value instanceof Uint8Array)) throw new WireError(`${field} is no bytes`, field);
  return value;
}

function whole(fields: ValueMap, field: string, most: number): number {
  const value = fields.get(field);
  if (typeof value !== "number" || !Number.isInteger(value) || value < 0 || value > most) {
    throw new WireError(`${field} is no number from 0 to ${most}`, field);
  }
  return value;
}

function oneOf<T extends string>(fields: ValueMap, field: string, words: readonly T[]): T {
  const value = fields.get(field);
  const word = words.find((known) => known === value);
  if (word === undefined) throw new WireError(`${field} is none of ${words.join(", ")}`, field);
  return word;
}
