/**
 * Messages about pillars between an MWorker and the master's main thread, and between the main thread and the processes
 * that compile them.
 * @module
 */

import { fieldsOf, oneOf, readBlob, readInteger, readText } from "#lib/runtime/message_fields.ts";
import { decode, encode } from "#lib/values/msgpack.ts";
import { asBytes } from "#lib/protocol/payload.ts";
import { WireError } from "#lib/errors.ts";
import { isMap, map } from "#lib/values/value.ts";

/** A request of an MWorker for a pillar. */
export interface PillarRequestMessage {
  readonly kind: "pillar";
  /** Its own key, for the answer. */
  readonly key: string;
  readonly id: string;
  /** The packed request. */
  readonly request: Uint8Array;
}

/** The answer of the main thread. */
export interface PillarReplyMessage {
  readonly kind: "pillar";
  readonly key: string;
  /** `compiled`; `full`: too many wait; `lost`: the master is ending. */
  readonly state: "compiled" | "full" | "lost";
  /** The pillar as MessagePack of the wire, of one that was compiled; else empty. */
  readonly pillar: Uint8Array;
}

const STATES = ["compiled", "full", "lost"] as const;

/** Whether a message is of this kind. */
export function isAboutPillar(message: unknown): boolean {
  return typeof message === "object" && message !== null && "kind" in message && message.kind === "pillar";
}

/**
 * Parses a {@linkcode PillarRequestMessage}.
 * @throws {WireError} If it is something else.
 */
export function parsePillarRequestMessage(message: unknown): PillarRequestMessage {
  const fields = fieldsOf(message);
  return {
    kind: "pillar",
    key: readText(fields, "key"),
    id: readText(fields, "id"),
    request: readBlob(fields, "request"),
  };
}

/**
 * Parses a {@linkcode PillarReplyMessage}.
 * @throws {WireError} If it is something else.
 */
export function parsePillarReplyMessage(message: unknown): PillarReplyMessage {
  const fields = fieldsOf(message);
  return {
    kind: "pillar",
    key: readText(fields, "key"),
    state: oneOf(fields, "state", STATES),
    pillar: readBlob(fields, "pillar"),
  };
}

/** A request on its way to a process. */
export interface NumberedRequest {
  readonly number: number;
  readonly request: Uint8Array;
}

/** The bytes of it. */
export function packNumbered({ number, request }: NumberedRequest): Uint8Array {
  return encode(map({ number, request }), "disk");
}

/**
 * The request in these bytes.
 * @throws {WireError} If there is none.
 */
export function unpackNumbered(bytes: Uint8Array): NumberedRequest {
  const value = decode(bytes, "disk");
  const request = isMap(value) ? asBytes(value.get("request")) : undefined;
  if (request === undefined) throw new WireError("invalid request for a pillar");
  return { number: readInteger(fieldsOf(value), "number", Number.MAX_SAFE_INTEGER), request };
}
