/**
 * Calls of rows as bytes, for a process that asks the master for them: what comes is checked, on both sides.
 * @module
 */

import { WireError } from "#lib/errors.ts";
import { acknowledgedState } from "#lib/protocol/outcome.ts";
import { isJid } from "#lib/protocol/jid.ts";
import { isValidId } from "#lib/protocol/minion_id.ts";
import { decode, encode } from "#lib/values/msgpack.ts";
import { isMap, type Value, type ValueMap } from "#lib/values/value.ts";
import type { BatchWrite, JobRows, JobWrite, PageQuery, ReturnWrite } from "./rows.ts";

/**
 * Reads what a message has at one place.
 * @throws {WireError} If it is something else.
 */
type Read<T> = (value: Value | undefined, name: string) => T;

/** A call that a process of its own may make: how its argument and what comes of it are read. */
interface Call {
  readonly argument: Read<unknown>;
  readonly value: Read<unknown>;
}

function checked<T>(is: (value: Value | undefined) => value is T & Value): Read<T> {
  return (value, name) => {
    if (!is(value)) throw new WireError(`a call of the job store with another ${name}`, name);
    return value;
  };
}

const text = checked((value): value is string => typeof value === "string");
const flag = checked((value): value is boolean => typeof value === "boolean");
const number = checked((value): value is number => typeof value === "number");
const bytes = checked((value): value is Uint8Array<ArrayBuffer> => value instanceof Uint8Array);
const fields = checked((value): value is ValueMap => isMap(value));
const list = checked((value): value is Value[] => Array.isArray(value));
const jid = checked((value): value is string => typeof value === "string" && isJid(value));
const minion = checked((value): value is string => typeof value === "string" && isValidId(value));

function orNull<T>(read: Read<T>): Read<T | null> {
  return (value, name) => value === null ? null : read(value, name);
}

function optional<T>(read: Read<T>): Read<T | undefined> {
  return (value, name) => value === undefined ? undefined : read(value, name);
}

function listOf<T>(read: Read<T>): Read<T[]> {
  return (value, name) => list(value, name).map((item) => read(item, name));
}

const nothing: Read<undefined> = () => undefined;

/** Reads the fields of a map, each with its own reader. */
function record<T extends object>(readers: { readonly [Name in keyof T]-?: Read<T[Name]> }): Read<T> {
  const names = Object.keys(readers) as (keyof T & string)[];
  return (value, name) => {
    const from = fields(value, name);
    // Each field was read by its own reader.
    return Object.fromEntries(names.flatMap((key) => {
      const read = readers[key](from.get(key), key);
      return read === undefined ? [] : [[key, read]];
    })) as T;
  };
}

const jobWrite = record<JobWrite>({
  jid,
  load: optional(bytes),
  fun: optional(listOf(text)),
  tgt: optional(text),
  tgtType: optional(text),
  user: optional(text),
  keepsLoad: optional(flag),
  minions: optional(listOf(text)),
  hidden: optional(text),
  ended: optional(text),
  nocache: optional(flag),
  live: optional(flag),
});

const pageQuery = record<PageQuery>({
  before: orNull(text),
  from: orNull(text),
  to: orNull(text),
  fun: listOf(text),
  target: listOf(text),
  count: number,
});

/** A job and a minion, as two items. */
const pair: Read<unknown> = (value, name) => {
  const [job, id] = list(value, name);
  return [jid(job, "jid"), minion(id, "id")];
};

/** A job, a minion or null for all, and the part of them that is wanted. */
const wantedReturns: Read<unknown> = (value, name) => {
  const [job, id, part] = list(value, name);
  return [
    jid(job, "jid"),
    orNull(minion)(id, "id"),
    optional(record({ after: text, count: number }))(part ?? undefined, "part"),
  ];
};

const batchRow = record({ jid: text, state: bytes });
const acknowledged: Read<unknown> = (value, name) => {
  const state = acknowledgedState(value);
  if (state === undefined) throw new WireError(`an acknowledgement with another ${name}`, name);
  return state;
};

const CALLS: Readonly<Partial<Record<keyof JobRows, Call>>> = {
  saveJob: { argument: jobWrite, value: flag },
  saveReturn: {
    argument: record<ReturnWrite>({ jid, id: minion, retcode: orNull(number), success: orNull(flag), body: bytes }),
    value: text,
  },
  saveBatch: { argument: record<BatchWrite>({ jid, active: flag, state: bytes }), value: nothing },
  job: {
    argument: jid,
    value: optional(record({
      load: bytes,
      minions: listOf(text),
      hidden: orNull(text),
      ended: orNull(text),
      nocache: flag,
    })),
  },
  returns: { argument: wantedReturns, value: listOf(record({ id: text, body: bytes, storedMs: number })) },
  acks: { argument: jid, value: listOf(record({ id: text, state: acknowledged, atMs: number })) },
  answered: {
    argument: listOf(jid),
    value: listOf(record({ jid: text, acknowledged: listOf(text), returned: listOf(text) })),
  },
  outputs: { argument: pair, value: listOf(bytes) },
  outputIds: { argument: jid, value: listOf(text) },
  batch: { argument: jid, value: optional(bytes) },
  activeBatches: { argument: nothing, value: listOf(batchRow) },
  page: { argument: pageQuery, value: listOf(record({ jid: text, load: bytes })) },
  status: {
    argument: nothing,
    value: record({
      server: text,
      schema: number,
      outbox: number,
      waiting: number,
      oldestPartition: orNull(text),
      size: number,
    }),
  },
};

/** @throws {WireError} If no process of its own may call it. */
function callOf(method: string): Call {
  const call = Object.entries(CALLS).find(([name]) => name === method)?.[1];
  if (call === undefined) throw new WireError("a call of the job store that is none", "method");
  return call;
}

/** An argument of a call, or what came of it. */
export function packRows(value: unknown): Uint8Array {
  return encode(toValue(value), "disk");
}

/**
 * The argument of a call for `performCall`.
 * @throws {WireError} If the method is none, or the argument is another.
 */
export function readRowArgument(method: string, packed: Uint8Array): unknown {
  return callOf(method).argument(absent(decode(packed, "disk")), "argument");
}

/**
 * What came of a call.
 * @throws {WireError} If it is something else.
 */
export function readRowValue(method: string, packed: Uint8Array): unknown {
  return callOf(method).value(absent(decode(packed, "disk")), "value");
}

/** Nothing is packed as null. */
function absent(value: Value): Value | undefined {
  return value === null ? undefined : value;
}

function toValue(value: unknown): Value {
  if (value === undefined || value === null) return null;
  if (value instanceof Uint8Array) return value;
  if (Array.isArray(value)) return value.map(toValue);
  if (typeof value === "string" || typeof value === "number" || typeof value === "boolean") return value;
  if (typeof value !== "object") throw new TypeError(`rows have no ${typeof value}`);
  return new Map(
    Object.entries(value).filter(([, item]) => item !== undefined).map(([name, item]) => [name, toValue(item)]),
  );
}
