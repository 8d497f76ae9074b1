/**
 * The messages between a minion and a process of a custom module, as bytes: MessagePack maps with a field `kind`.
 * Messages of the process come from untrusted code: each field is checked, and an invalid message is an error that ends
 * the process.
 * Source: the types in job_protocol.ts.
 * @module
 */

import { WireError } from "#lib/errors.ts";
import { hostDataOf, messageId, parseToJob, readWritten, requestByJob } from "./job_messages.ts";
import { type FromModule, type ModuleProcessInit, pack, type ToModule } from "./job_protocol.ts";
import {
  type Fields,
  fieldsOf,
  oneOf,
  readBlob,
  readBool,
  readInteger,
  readPart,
  readText,
  readTexts,
  readTextsByName,
} from "#lib/runtime/message_fields.ts";
import { type Bounds, decode } from "#lib/values/msgpack.ts";
import type { Value } from "#lib/values/value.ts";

/** Memory bound of the parts of one message, in the entries of `decode`: about 75 MB. */
const BOUNDS: Bounds = { memory: 4_000_000, depth: 512, keyBytes: Infinity, otherKeys: Infinity };
/** Maximum length of a name and of a log message, in UTF-16 units. */
const MAX_TEXT = 1 << 16;

/** Encodes a message. */
export function packMessage(message: FromModule | ToModule): Uint8Array {
  return pack(message);
}

/**
 * The message that the minion packed.
 * @throws {WireError | MsgpackError} If it is none.
 */
export function parseToModule(bytes: unknown): ToModule {
  if (!(bytes instanceof Uint8Array)) throw new WireError("a message is not bytes");
  const fields = fieldsOf(decode(bytes, "disk"));
  const kind = readText(fields, "kind");
  switch (kind) {
    case "start":
      return { kind, init: initOf(readPart(fields, "init")) };
    case "describe":
      return { kind };
    case "grains":
      return {
        kind,
        path: readText(fields, "path"),
        permissions: readText(fields, "permissions"),
        declared: readTextsByName(fields, "declared"),
      };
    default:
      return parseToJob(fields);
  }
}

function initOf(fields: Fields): ModuleProcessInit {
  return {
    opts: readBlob(fields, "opts"),
    hostData: hostDataOf(readPart(fields, "hostData")),
    modules: readTexts(fields, "modules"),
    renamed: readTextsByName(fields, "renamed"),
    logLevel: readInteger(fields, "logLevel", 1_000),
    logFailures: readBool(fields, "logFailures"),
  };
}

/**
 * Decodes a message of the process.
 * @throws {WireError | MsgpackError} If it is invalid.
 */
export function parseFromModule(bytes: Uint8Array): FromModule {
  const fields = fieldsOf(decode(bytes, "disk", BOUNDS), MAX_TEXT);
  const kind = readText(fields, "kind");
  switch (kind) {
    case "ready":
    case "begun":
      return { kind };
    case "done":
      return { kind, outcome: readBlob(fields, "outcome") };
    case "log":
      return { kind, level: readInteger(fields, "level", 50), message: readText(fields, "message") };
    case "child":
      return { kind, pid: readInteger(fields, "pid", 0x7fffffff), state: oneOf(fields, "state", ["started", "ended"]) };
    case "output":
      return { kind, written: readWritten(readPart(fields, "written")) };
    case "ask":
      // It does not call functions through the minion: its own process has them.
      return { kind, id: messageId(fields), request: requestByJob(readPart(fields, "request")) };
    default:
      throw new WireError("a message of no known kind");
  }
}

/**
 * Decodes the value of an outcome that a process sent.
 * @throws {MsgpackError}
 */
export function unpackModuleOutcome(bytes: Uint8Array): Value {
  return decode(bytes, "disk", BOUNDS);
}
