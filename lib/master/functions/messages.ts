/**
 * The messages between an MWorker and the master's main thread about functions of runners and wheel modules: requests
 * and their outcomes.
 * @module
 */

import { fieldsOf, oneOf, readBlob, readText } from "#lib/runtime/message_fields.ts";
import { decode, encode } from "#lib/values/msgpack.ts";
import { WireError } from "#lib/errors.ts";
import type { FunctionKind } from "#lib/protocol/tags.ts";
import { asBytes } from "#lib/protocol/payload.ts";
import { isMap, map, str, type Value, type ValueMap } from "#lib/values/value.ts";

/** A function to run for an authorized user. */
export interface FunctionJob {
  /** Whether it is a runner or a wheel function. */
  readonly kind: FunctionKind;
  /** The function: `jobs.list_jobs`. */
  readonly fun: string;
  readonly args: readonly Value[];
  readonly kwargs: ValueMap;
  /** The id that it runs under. */
  readonly jid: string;
  /** The user that requested it. */
  readonly user: string;
}

export interface FunctionOutcome {
  /** Its result, or a text in its place. */
  readonly return: Value;
  /** Whether it succeeded. */
  readonly success: boolean;
}

/** The request of an MWorker to run a function. */
export interface FunctionRequest {
  /** A unique key, for the answers. */
  readonly key: string;
  /** The job, packed. */
  readonly job: Uint8Array;
}

/**
 * `taken`: it will be run. `full`: it will not, because too many are waiting. `ended`: its packed outcome. `lost`: its
 * process ended without an outcome.
 */
export interface FunctionMessage {
  readonly key: string;
  readonly state: "taken" | "full" | "ended" | "lost";
  /** For `ended`: the outcome, packed. Empty otherwise. */
  readonly outcome: Uint8Array;
}

const STATES = ["taken", "full", "ended", "lost"] as const;

/**
 * Parses a {@linkcode FunctionRequest}.
 * @throws {WireError} If it is something else.
 */
export function parseFunctionRequest(message: unknown): FunctionRequest {
  const fields = fieldsOf(message);
  return { key: readText(fields, "key"), job: readBlob(fields, "job") };
}

/**
 * Parses a {@linkcode FunctionMessage}.
 * @throws {WireError} If it is something else.
 */
export function parseFunctionMessage(message: unknown): FunctionMessage {
  const fields = fieldsOf(message);
  return {
    key: readText(fields, "key"),
    state: oneOf(fields, "state", STATES),
    outcome: readBlob(fields, "outcome"),
  };
}

/** The bytes of a job. */
export function packFunctionJob({ args, ...job }: FunctionJob): Uint8Array {
  return encode(map({ ...job, args: [...args] }), "disk");
}

/**
 * The job in bytes of {@linkcode packFunctionJob}.
 * @throws {WireError} If it is none.
 */
export function unpackFunctionJob(bytes: Uint8Array): FunctionJob {
  const job = decode(bytes, "disk");
  const kind = isMap(job) ? job.get("kind") : undefined;
  const args = isMap(job) ? job.get("args") : undefined;
  const kwargs = isMap(job) ? job.get("kwargs") : undefined;
  if (!isMap(job) || (kind !== "runner" && kind !== "wheel") || !Array.isArray(args) || !isMap(kwargs)) {
    throw new WireError("invalid message about a function", "job");
  }
  const field = (name: string) => str(job.get(name) ?? "");
  return { kind, fun: field("fun"), args, kwargs, jid: field("jid"), user: field("user") };
}

/** The bytes of an outcome. */
export function packFunctionOutcome({ return: result, success }: FunctionOutcome): Uint8Array {
  return encode(map({ return: result, success }), "disk");
}

/**
 * The outcome in bytes of {@linkcode packFunctionOutcome}.
 * @throws {WireError} If it is none.
 */
export function unpackFunctionOutcome(bytes: Uint8Array): FunctionOutcome {
  const outcome = decode(bytes, "disk");
  if (!isMap(outcome) || !outcome.has("return")) throw new WireError("invalid outcome of a function", "outcome");
  return { return: outcome.get("return") ?? null, success: outcome.get("success") === true };
}

/** The input of a process for one job: the job, and the master's packed options. */
export interface FunctionInit {
  readonly job: FunctionJob;
  readonly opts: Uint8Array;
}

/** Packs the input of a process. */
export function packFunctionInit(job: Uint8Array, opts: Uint8Array): Uint8Array {
  return encode(map({ job, opts }), "disk");
}

/**
 * Parses the input of a process.
 * @throws {WireError} If it is something else.
 */
export function unpackFunctionInit(bytes: Uint8Array): FunctionInit {
  const init = decode(bytes, "disk");
  const job = isMap(init) ? asBytes(init.get("job")) : undefined;
  const opts = isMap(init) ? asBytes(init.get("opts")) : undefined;
  if (job === undefined || opts === undefined) throw new WireError("invalid input of a process for a function");
  return { job: unpackFunctionJob(job), opts };
}

/** Functions of runners and wheel modules: each runs in a separate process. */
export interface FunctionServices {
  /**
   * Starts one. Resolves when it has been accepted; its outcome comes as events.
   * @throws {RefusedError} If too many are running.
   */
  start(job: FunctionJob): Promise<void>;
  /**
   * Runs one to its end.
   * @throws {RefusedError} If too many are running, or its process was lost.
   */
  call(job: FunctionJob): Promise<FunctionOutcome>;
}
