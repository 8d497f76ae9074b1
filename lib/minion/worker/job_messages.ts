/**
 * Parses the messages of jobs, and checks each field: messages of threads, and the decoded messages of a process
 * (module_messages.ts). Source: the types in job_protocol.ts.
 * @module
 */

import { WireError } from "#lib/errors.ts";
import type { FromJob, HostData, MinionRequest, ToJob } from "./job_protocol.ts";
import type { WrittenOutput } from "./live_output.ts";
import { parsePermissions, type Permissions } from "#lib/plugins/permissions.ts";
import type { Refresh } from "#lib/plugins/job_context.ts";
import {
  type Fields,
  fieldsOf,
  has,
  oneOf,
  readBlob,
  readBool,
  readInteger,
  readNumber,
  readPart,
  readText,
  readTextsByName,
} from "#lib/runtime/message_fields.ts";

const REFRESHES: readonly Refresh[] = ["modules", "grains", "pillar"];

/**
 * Parses a message of a worker of built-in modules.
 * @throws {WireError} If it is invalid.
 */
export function parseFromJob(message: unknown): FromJob {
  const fields = fieldsOf(message);
  const kind = readText(fields, "kind");
  switch (kind) {
    case "begun":
    case "after_large_outcome":
      return { kind };
    case "done":
      return { kind, outcome: readBlob(fields, "outcome") };
    case "output":
      return { kind, written: readWritten(readPart(fields, "written")) };
    case "not_permitted":
      return { kind, permissions: permissionsOf(fields) };
    case "ask":
      return { kind, id: messageId(fields), request: requestByWorker(readPart(fields, "request")) };
    default:
      throw new WireError("a message of no known kind");
  }
}

/**
 * Parses a message of the minion to a worker or process.
 * @throws {WireError} If it is invalid.
 */
export function parseToJob(fields: Fields): ToJob {
  const kind = readText(fields, "kind");
  switch (kind) {
    case "run":
      return {
        kind,
        load: readBlob(fields, "load"),
        ...has(fields, "declared") && { declared: readTextsByName(fields, "declared") },
        ...has(fields, "call") && { call: readBlob(fields, "call") },
        ...has(fields, "resumed") && { resumed: readBool(fields, "resumed") },
      };
    case "abort":
      return { kind, signal: readInteger(fields, "signal", 64) };
    case "host_data":
      return { kind, hostData: hostDataOf(readPart(fields, "hostData")) };
    case "answer":
      return { kind, id: messageId(fields), value: readBlob(fields, "value") };
    case "refused": {
      const timeout = has(fields, "timeout") ? readPart(fields, "timeout") : undefined;
      return {
        kind,
        id: messageId(fields),
        reason: readText(fields, "reason"),
        timeout: timeout && { address: readText(timeout, "address"), waitedMs: readNumber(timeout, "waitedMs") },
      };
    }
    default:
      throw new WireError("a message of no known kind");
  }
}

/**
 * Grains and pillar, packed.
 * @throws {WireError}
 */
export function hostDataOf(fields: Fields): HostData {
  const master = has(fields, "master") ? readPart(fields, "master") : undefined;
  return {
    grains: readBlob(fields, "grains"),
    pillar: readBlob(fields, "pillar"),
    ...master && { master: { host: readText(master, "host"), port: readInteger(master, "port", 65_535) } },
  };
}

/**
 * The number of a request; the reply to it has the same number.
 * @throws {WireError}
 */
export function messageId(fields: Fields): number {
  return readInteger(fields, "id", Number.MAX_SAFE_INTEGER);
}

/**
 * Output of a command.
 * @throws {WireError}
 */
export function readWritten(fields: Fields): WrittenOutput {
  return {
    command: readInteger(fields, "command", Number.MAX_SAFE_INTEGER),
    stream: oneOf(fields, "stream", ["stdout", "stderr"]),
    bytes: readBlob(fields, "bytes"),
    encoding: has(fields, "encoding") ? readText(fields, "encoding") : null,
  };
}

/**
 * Parses a request to the minion that any job may send.
 * @throws {WireError}
 */
export function requestByJob(fields: Fields): MinionRequest {
  const what = readText(fields, "what");
  switch (what) {
    case "request":
      return { what, load: readBlob(fields, "load") };
    case "fire":
      return { what, data: readBlob(fields, "data"), tag: readText(fields, "tag") };
    case "ask":
      return {
        what,
        data: readBlob(fields, "data"),
        tag: readText(fields, "tag"),
        answerTag: readText(fields, "answerTag"),
        waitS: readNumber(fields, "waitS"),
      };
    case "refresh":
      return { what, refresh: oneOf(fields, "refresh", REFRESHES) };
    case "pillar":
      return { what, query: readBlob(fields, "query") };
    case "grains":
    case "running":
      return { what };
    case "signal":
      return { what, jid: readText(fields, "jid"), signal: readInteger(fields, "signal", 64) };
    default:
      throw new WireError("a job sent a request that it may not send");
  }
}

/** Parses the other requests of a worker: it does not load the custom modules. */
function requestByWorker(fields: Fields): MinionRequest {
  const what = readText(fields, "what");
  if (what === "describe" || what === "keeper" || what === "python") return { what };
  // Any number that an operator typed: the system checks it.
  if (what === "signal") return { what, jid: readText(fields, "jid"), signal: readNumber(fields, "signal") };
  if (what === "call") return { what, fun: readText(fields, "fun"), call: readBlob(fields, "call") };
  return requestByJob(fields);
}

function permissionsOf(fields: Fields): Permissions {
  if (!has(fields, "permissions")) throw new WireError("permissions are missing", "permissions");
  try {
    return parsePermissions(fields.get("permissions"), "permissions");
  } catch (error) {
    throw error instanceof TypeError ? new WireError(error.message, "permissions") : error;
  }
}
