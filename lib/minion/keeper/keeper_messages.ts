/**
 * The messages between a minion and the keeper of its commands (command_keeper.ts): a connection for each command. The
 * minion sends one request, and maybe {@linkcode ABORT}; the keeper sends answers, the last of which is `ended` or
 * `failed`.
 * @module
 */

import type { ChildOutcome, ChildSpec } from "#lib/programs/child_process.ts";
import { WireError } from "#lib/errors.ts";
import { frame } from "#lib/protocol/frames.ts";
import { packCommandOutcome, unpackCommandOutcome } from "#lib/programs/detached_commands.ts";
import {
  fieldsOf,
  has,
  oneOf,
  readBlob,
  readBool,
  readInteger,
  readNumber,
  readPart,
  readText,
  readTexts,
  readTextsByName,
} from "#lib/runtime/message_fields.ts";
import { decode, encode } from "#lib/values/msgpack.ts";
import { map } from "#lib/values/value.ts";

/** A command that the keeper is to start. */
export interface KeeperRequest {
  /** The job that it belongs to. */
  readonly jid: string;
  /** Which command of the job it is, from 1. */
  readonly number: number;
  /** Whether nothing of it may be written to the disk (`no_log`). */
  readonly hidden: boolean;
  /** Whether the output is to be sent as it is read. */
  readonly watched: boolean;
  readonly spec: ChildSpec;
  /** Milliseconds after which it is killed. */
  readonly timeoutMs?: number;
  /** Maximum bytes of both outputs together that are kept. */
  readonly outputMax: number;
}

/** The keeper's message about a command. */
export type KeeperAnswer =
  | { readonly kind: "started"; readonly pid: number }
  | { readonly kind: "output"; readonly stream: "stdout" | "stderr"; readonly bytes: Uint8Array }
  | { readonly kind: "ended"; readonly outcome: ChildOutcome }
  /** It could not be started: the runtime's text. */
  | { readonly kind: "failed"; readonly reason: string };

/** Maximum size of a message, in bytes; input and output of a command fit in. */
export const MAX_KEEPER_MESSAGE = 0x7fffffff;

/** The message that ends a command. */
export const ABORT: Uint8Array<ArrayBuffer> = frame(0, new Uint8Array());

/** Frames a request. */
export function packRequest({ spec, ...request }: KeeperRequest): Uint8Array<ArrayBuffer> {
  const { argv, cwd, env, user, stdin, joined = false } = spec;
  const packed = {
    ...request,
    timeoutMs: request.timeoutMs ?? null,
    argv: [...argv],
    cwd,
    env: map({ ...env }),
    user: user === undefined ? null : map({ ...user }),
    stdin: stdin ?? null,
    joined,
  };
  return frame(1, encode(map(packed), "disk"));
}

/**
 * The reverse of {@linkcode packRequest}.
 * @throws {WireError} If a field is missing or wrong.
 */
export function parseKeeperRequest(content: Uint8Array): KeeperRequest {
  const fields = fieldsOf(decode(content, "disk"));
  const user = has(fields, "user") ? readPart(fields, "user") : undefined;
  return {
    jid: readText(fields, "jid"),
    number: readInteger(fields, "number", Number.MAX_SAFE_INTEGER),
    hidden: readBool(fields, "hidden"),
    watched: readBool(fields, "watched"),
    ...has(fields, "timeoutMs") && { timeoutMs: readNumber(fields, "timeoutMs") },
    outputMax: readNumber(fields, "outputMax"),
    spec: {
      argv: readTexts(fields, "argv"),
      cwd: readText(fields, "cwd"),
      env: readTextsByName(fields, "env"),
      ...user && { user: { uid: readInteger(user, "uid", 0xffffffff), gid: readInteger(user, "gid", 0xffffffff) } },
      ...has(fields, "stdin") && { stdin: readBlob(fields, "stdin") },
      joined: readBool(fields, "joined"),
    },
  };
}

/** Frames an answer. */
export function packAnswer(answer: KeeperAnswer): Uint8Array<ArrayBuffer> {
  const packed = answer.kind === "ended" ? { ...answer, outcome: map(packCommandOutcome(answer.outcome)) } : answer;
  return frame(1, encode(map({ ...packed }), "disk"));
}

/**
 * The reverse of {@linkcode packAnswer}.
 * @throws {WireError} If a field is missing or wrong.
 */
export function parseAnswer(content: Uint8Array): KeeperAnswer {
  const fields = fieldsOf(decode(content, "disk"));
  const kind = readText(fields, "kind");
  switch (kind) {
    case "started":
      return { kind, pid: readInteger(fields, "pid", 0x7fffffff) };
    case "output":
      return { kind, stream: oneOf(fields, "stream", ["stdout", "stderr"]), bytes: readBlob(fields, "bytes") };
    case "ended":
      return { kind, outcome: unpackCommandOutcome(readPart(fields, "outcome")) };
    case "failed":
      return { kind, reason: readText(fields, "reason") };
    default:
      throw new WireError("an answer of no known kind");
  }
}
