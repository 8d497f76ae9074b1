/**
 * The messages between `salt-ssh` and the executable on a host: frames of MessagePack on the session's input and
 * output. The host asks for pillar and files as a minion asks its master, with the same loads; its answers come by
 * number.
 * @module
 */

import { MsgpackError, WireError } from "#lib/errors.ts";
import { frame, FrameReader } from "#lib/protocol/frames.ts";
import { decode, encode } from "#lib/values/msgpack.ts";
import { listOrEmpty, mapOrEmpty } from "#lib/values/shape.ts";
import { isMap, map, str, toNumber, type Value, type ValueMap } from "#lib/values/value.ts";

/** Maximum bytes of a message: pieces of files are at most a mebibyte, results of functions may be large. */
const MAX_MESSAGE = 256 * 2 ** 20;

/** What is to be done, the first message to a host. */
export interface SshCall {
  readonly id: string;
  readonly fun: string;
  /** As on the wire. */
  readonly arg: readonly Value[];
  readonly jid: string;
  /** Options of the minion. */
  readonly minionOpts: ValueMap;
  /** Grains that replace those of the host. */
  readonly grains: ValueMap;
  /** The minimum level of log records that are wanted, a number of `LEVEL_NUMBERS`. */
  readonly logLevel: number;
  /** Whether the file roots have plugins of the operator's own. */
  readonly syncs: boolean;
}

/** What a host sends during a session, one frame each. */
export type HostMessage =
  /** A request, as a minion sends it to its master. */
  | { readonly what: "request"; readonly number: number; readonly load: ValueMap }
  /** The end, if the function could not be run. */
  | { readonly what: "failed"; readonly message: string }
  | { readonly what: "log"; readonly level: number; readonly name: string; readonly message: string }
  /** The end: the return of the function. */
  | {
    readonly what: "outcome";
    readonly return: Value;
    readonly retcode: number;
    readonly out?: string;
    readonly errorDetails?: readonly string[];
  };

/** The return of a function. */
export type HostReturn = Extract<HostMessage, { readonly what: "outcome" }>;

/** An answer to a request: a value, or the text of a failure. */
export type HostAnswer = { readonly value: Value } | { readonly error: string };

/** A call as bytes. */
export function packCall(call: SshCall): Uint8Array {
  return packed(map({ ...call }));
}

/**
 * The call in these bytes.
 * @throws {WireError} If there is none.
 */
export function unpackCall(bytes: Uint8Array): SshCall {
  const call = unpacked(bytes);
  const [id, fun, jid] = ["id", "fun", "jid"].map((name) => call.get(name));
  if (typeof id !== "string" || typeof fun !== "string" || typeof jid !== "string") {
    throw new WireError("a call without id, function or job id", "id");
  }
  return {
    id,
    fun,
    jid,
    arg: listOrEmpty(call.get("arg")),
    minionOpts: mapOrEmpty(call.get("minionOpts")),
    grains: mapOrEmpty(call.get("grains")),
    logLevel: toNumber(call.get("logLevel")) ?? 0,
    syncs: call.get("syncs") === true,
  };
}

/** A message of a host as bytes. */
export function packHostMessage(message: HostMessage): Uint8Array {
  return packed(map({ ...message }));
}

/**
 * The message of a host in these bytes.
 * @throws {WireError} If there is none.
 */
export function unpackMessage(bytes: Uint8Array): HostMessage {
  const message = unpacked(bytes);
  const number = (name: string) => toNumber(message.get(name)) ?? 0;
  switch (message.get("what")) {
    case "request": {
      const load = message.get("load");
      if (!isMap(load)) throw new WireError("a request without a load", "load");
      return { what: "request", number: number("number"), load };
    }
    case "failed":
      return { what: "failed", message: str(message.get("message") ?? "") };
    case "log":
      return {
        what: "log",
        level: number("level"),
        name: str(message.get("name") ?? "salt"),
        message: str(message.get("message") ?? ""),
      };
    case "outcome": {
      const out = message.get("out"), details = message.get("errorDetails");
      return {
        what: "outcome",
        return: message.get("return") ?? null,
        retcode: number("retcode"),
        ...typeof out === "string" && { out },
        ...Array.isArray(details) && { errorDetails: details.map(str) },
      };
    }
    default:
      throw new WireError("an unknown message", "what");
  }
}

/** An answer as bytes. */
export function packHostAnswer(number: number, answer: HostAnswer): Uint8Array {
  return packed(map({ number, ...answer }));
}

/**
 * The answer in these bytes, and the number of its request.
 * @throws {WireError} If there is none.
 */
export function unpackAnswer(bytes: Uint8Array): { readonly number: number; readonly answer: HostAnswer } {
  const answer = unpacked(bytes);
  const error = answer.get("error");
  return {
    number: toNumber(answer.get("number")) ?? -1,
    answer: typeof error === "string" ? { error } : { value: answer.get("value") ?? null },
  };
}

/** Assembles messages from the pieces of a stream. */
export function messageReader(): FrameReader {
  return new FrameReader(MAX_MESSAGE);
}

function packed(value: ValueMap): Uint8Array {
  return frame(1, encode(value, "disk"));
}

function unpacked(bytes: Uint8Array): ValueMap {
  let value: Value;
  try {
    value = decode(bytes, "disk");
  } catch (error) {
    if (!(error instanceof MsgpackError)) throw error;
    throw new WireError(`not MessagePack: ${error.message}`, "message");
  }
  if (!isMap(value)) throw new WireError("a message that is no map", "message");
  return value;
}
