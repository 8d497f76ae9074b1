/**
 * The messages between the process of an engine and the worker in which the engine's code runs, as bytes: MessagePack
 * maps with a field `kind`. Those of the worker come from code of the operator: each field is checked.
 * @module
 */

import { WireError } from "#lib/errors.ts";
import {
  type Fields,
  fieldsOf,
  oneOf,
  readBlob,
  readBool,
  readInteger,
  readText,
  readTexts,
} from "#lib/runtime/message_fields.ts";
import { type Bounds, decode, encode } from "#lib/values/msgpack.ts";
import { isMap, toValue, type ValueMap } from "#lib/values/value.ts";

/** Maximum id of a request or of a stream of events. */
const MAX_ID = Number.MAX_SAFE_INTEGER;
/** Maximum length of a text, in UTF-16 units. */
const MAX_TEXT = 1 << 16;
/** Memory bound of one message of the worker, in the entries of `decode`. */
const BOUNDS: Bounds = { memory: 4_000_000, depth: 512, keyBytes: Infinity, otherKeys: Infinity };

/** What the process of an engine is started with. */
export interface EngineInit {
  readonly role: "master" | "minion";
  /** The options of the master or minion, packed. */
  readonly opts: Uint8Array;
  readonly name: string;
  readonly module: string;
  /** The arguments of `start`, packed. */
  readonly options: Uint8Array;
}

/** A message to the worker. */
export type ToEngine =
  /** Starts the engine: the first message. */
  | {
    readonly kind: "start";
    readonly init: EngineInit;
    /** Directories of the operator's own engines. */
    readonly directories: readonly string[];
    /** Minimum level of its log. */
    readonly logLevel: number;
  }
  /** Whether an event was taken. */
  | { readonly kind: "fired"; readonly id: number; readonly isTaken: boolean }
  /** The next event of a stream; without `tag`, the stream has ended. */
  | { readonly kind: "event"; readonly stream: number; readonly tag: string; readonly data: Uint8Array }
  | { readonly kind: "closed"; readonly stream: number }
  /** The engine must end. */
  | { readonly kind: "stop" };

/** A message of the worker. */
export type FromEngine =
  | { readonly kind: "ready" }
  | { readonly kind: "log"; readonly level: number; readonly text: string }
  | { readonly kind: "fire"; readonly id: number; readonly tag: string; readonly data: Uint8Array }
  /** Asks for the next event of a stream; the first time opens the stream. */
  | { readonly kind: "next"; readonly stream: number; readonly prefixes: readonly string[] }
  /** The engine reads no more of a stream. */
  | { readonly kind: "close"; readonly stream: number }
  /** The engine has returned, or failed with `reason`. */
  | { readonly kind: "ended"; readonly reason: string };

/** Encodes a message or an init. */
export function packEngine(message: ToEngine | FromEngine | EngineInit): Uint8Array {
  return encode(toValue(message), "disk");
}

/** Encodes a map, of options or of an event's data. */
export function packEngineMap(values: ValueMap): Uint8Array {
  return encode(values, "disk");
}

/**
 * Decodes a map that {@linkcode packEngineMap} made.
 * @throws {WireError} If it is none.
 */
export function unpackEngineMap(bytes: Uint8Array): ValueMap {
  const values = decode(bytes, "disk", BOUNDS);
  if (!isMap(values)) throw new WireError("a part of a message that is no map");
  return values;
}

/**
 * Decodes an init.
 * @throws {WireError} If it is none.
 */
export function unpackEngineInit(bytes: Uint8Array): EngineInit {
  return initOf(fieldsOf(decode(bytes, "disk")));
}

function initOf(fields: Fields): EngineInit {
  return {
    role: oneOf(fields, "role", ["master", "minion"]),
    opts: readBlob(fields, "opts"),
    name: readText(fields, "name"),
    module: readText(fields, "module"),
    options: readBlob(fields, "options"),
  };
}

/**
 * Decodes a message to the worker.
 * @throws {WireError} If it is none.
 */
export function parseToEngine(bytes: unknown): ToEngine {
  if (!(bytes instanceof Uint8Array)) throw new WireError("a message is not bytes");
  const fields = fieldsOf(decode(bytes, "disk"));
  const kind = readText(fields, "kind");
  switch (kind) {
    case "start":
      return {
        kind,
        init: initOf(fieldsOf(fields.get("init"))),
        directories: readTexts(fields, "directories"),
        logLevel: readInteger(fields, "logLevel", 1_000),
      };
    case "fired":
      return { kind, id: readInteger(fields, "id", MAX_ID), isTaken: readBool(fields, "isTaken") };
    case "event":
      return {
        kind,
        stream: readInteger(fields, "stream", MAX_ID),
        tag: readText(fields, "tag"),
        data: readBlob(fields, "data"),
      };
    case "closed":
      return { kind, stream: readInteger(fields, "stream", MAX_ID) };
    case "stop":
      return { kind };
    default:
      throw new WireError(`a message of the unknown kind ${kind}`, "kind");
  }
}

/**
 * Decodes a message of the worker.
 * @throws {WireError | MsgpackError} If it is invalid.
 */
export function parseFromEngine(bytes: unknown): FromEngine {
  if (!(bytes instanceof Uint8Array)) throw new WireError("a message is not bytes");
  const fields = fieldsOf(decode(bytes, "disk", BOUNDS), MAX_TEXT);
  const kind = readText(fields, "kind");
  switch (kind) {
    case "ready":
      return { kind };
    case "log":
      return { kind, level: readInteger(fields, "level", 1_000), text: readText(fields, "text") };
    case "fire":
      return {
        kind,
        id: readInteger(fields, "id", MAX_ID),
        tag: readText(fields, "tag"),
        data: readBlob(fields, "data"),
      };
    case "next":
      return { kind, stream: readInteger(fields, "stream", MAX_ID), prefixes: readTexts(fields, "prefixes") };
    case "close":
      return { kind, stream: readInteger(fields, "stream", MAX_ID) };
    case "ended":
      return { kind, reason: readText(fields, "reason") };
    default:
      throw new WireError(`a message of the unknown kind ${kind}`, "kind");
  }
}
