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
  blob,
  bool,
  type Fields,
  fieldsOf,
  has,
  integer,
  number,
  oneOf,
  part,
  text,
  textsByName,
} from "#lib/runtime/message_fields.ts";

const REFRESHES: readonly Refresh[] = ["modules", "grains", "pillar"];

/**
 * Parses a message of a worker of built-in modules.
 * @throws {WireError} If it is invalid.
 */
export function parseFromJob(message: unknown): FromJob {
  const fields = fieldsOf(message);
  const kind = text(fields, "kind");
  switch (kind) {
    case "begun":
    case "after_large_outcome":
      return { kind };
    case "done":
      return { kind, outcome: blob(fields, "outcome") };
    case "output":
      return { kind, written: written(part(fields, "written")) };
    case "not_permitted":
      return { kind, permissions: permissionsOf(fields) };
    case "ask":
      return { kind, id: messageId(fields), request: requestByWorker(part(fields, "request")) };
    default:
      throw new WireError("a message of no known kind");
  }
}

/**
 * Parses a message of the minion to a worker or process.
 * @throws {WireError} If it is invalid.
 */
export function parseToJob(fields: Fields): ToJob {
  const kind = text(fields, "kind");
  switch (kind) {
    case "run":
      return {
        kind,
        load: blob(fields, "load"),
        ...has(fields, "declared") && { declared: textsByName(fields, "declared") },
        ...has(fields, "call") && { call: blob(fields, "call") },
        ...has(fields, "resumed") && { resumed: bool(fields, "resumed") },
      };
    case "abort":
      return { kind, signal: integer(fields, "signal", 64) };
    case "host_data":
      return { kind, hostData: hostDataOf(part(fields, "hostData")) };
    case "answer":
      return { kind, id: messageId(fields), value: blob(fields, "value") };
    case "refused": {
      const timeout = has(fields, "timeout") ? part(fields, "timeout") : undefined;
      return {
        kind,
        id: messageId(fields),
        reason: text(fields, "reason"),
        timeout: timeout && { address: text(timeout, "address"), waitedMs: number(timeout, "waitedMs") },
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
  return { grains: blob(fields, "grains"), pillar: blob(fields, "pillar") };
}

/**
 * The number of a request; the reply to it has the same number.
 * @throws {WireError}
 */
export function messageId(fields: Fields): number {
  return integer(fields, "id", Number.MAX_SAFE_INTEGER);
}

/**
 * Output of a command.
 * @throws {WireError}
 */
export function written(fields: Fields): WrittenOutput {
  return {
    command: integer(fields, "command", Number.MAX_SAFE_INTEGER),
    stream: oneOf(fields, "stream", ["stdout", "stderr"]),
    bytes: blob(fields, "bytes"),
    encoding: has(fields, "encoding") ? text(fields, "encoding") : null,
  };
}

/**
 * Parses a request to the minion that any job may send.
 * @throws {WireError}
 */
export function requestByJob(fields: Fields): MinionRequest {
  const what = text(fields, "what");
  switch (what) {
    case "request":
      return { what, load: blob(fields, "load") };
    case "fire":
      return { what, data: blob(fields, "data"), tag: text(fields, "tag") };
    case "refresh":
      return { what, refresh: oneOf(fields, "refresh", REFRESHES) };
    case "pillar":
      return { what, query: blob(fields, "query") };
    case "grains":
    case "running":
      return { what };
    case "signal":
      return { what, jid: text(fields, "jid"), signal: integer(fields, "signal", 64) };
    default:
      throw new WireError("a job sent a request that it may not send");
  }
}

/** Parses the other requests of a worker: it does not load the custom modules. */
function requestByWorker(fields: Fields): MinionRequest {
  const what = text(fields, "what");
  if (what === "describe" || what === "keeper") return { what };
  // Any number that an operator typed: the system checks it.
  if (what === "signal") return { what, jid: text(fields, "jid"), signal: number(fields, "signal") };
  if (what === "call") return { what, fun: text(fields, "fun"), call: blob(fields, "call") };
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
