/**
 * Events as the bus carries them: a tag, two newlines, and a msgpack map.
 * Knows no sockets, and no tags. Source: salt-protocol section 7.
 * @module
 */

import { copyMap } from "../values/dict.ts";
import { MsgpackError, WireError } from "../errors.ts";
import { decode, encode, type Packable } from "../values/msgpack.ts";
import { isMap, type Value, type ValueMap } from "../values/value.ts";

/** One event of a bus. */
export interface BusEvent {
  /** What it is about; subscribers choose by its beginning. */
  readonly tag: string;
  /** What happened, with `_stamp`. */
  readonly data: ValueMap;
}

/** What an event is made of: what is large in it may be packed already. */
export type EventData = ReadonlyMap<Value, Packable>;

const NEWLINE = 0x0a;
/** Tags of the oldest form are padded to this many bytes with {@linkcode PAD}. */
const OLD_TAG_BYTES = 20;
const PAD = /\|+$/;

const encoder = new TextEncoder();
// A byte order mark stays: a minion may fire "\ufeffsalt/auth", and that must not be read as "salt/auth".
const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

/** The frame of an event. Salt trims large values (`max_event_size`); here a large return arrives whole. */
export function packEvent(tag: string, data: EventData): Uint8Array {
  const body = encode(data, "disk");
  const head = encoder.encode(tag);
  const frame = new Uint8Array(head.length + 2 + body.length);
  frame.set(head);
  frame[head.length] = frame[head.length + 1] = NEWLINE;
  frame.set(body, head.length + 2);
  return frame;
}

/**
 * The event in a frame, of today's form or of the old one (the tag padded with `|` to 20 bytes, no newlines); `undefined` if its
 * tag is not `wanted`: on a busy bus most events concern somebody else, and their data are not read.
 * @throws {WireError} If it is an event of neither form.
 */
export function unpackWanted(frame: Uint8Array, wanted: (tag: string) => boolean): BusEvent | undefined {
  const end = tagEnd(frame);
  // A tag that is not wanted is known as one of today's form by what follows it, read or not.
  if (end >= 0 && startsMap(frame[end + 2]) && !wanted(decoder.decode(frame.subarray(0, end)))) return undefined;
  const data = end < 0 ? undefined : readMap(frame.subarray(end + 2));
  if (data !== undefined) return { tag: decoder.decode(frame.subarray(0, end)), data };
  // Only what cannot be of today's form: else a minion could fire a long tag that reads as an old event of the master's.
  // A newline cannot stand in an old tag.
  if ((end < 0 || end >= OLD_TAG_BYTES) && startsMap(frame[OLD_TAG_BYTES])) {
    const old = readMap(frame.subarray(OLD_TAG_BYTES));
    if (old !== undefined) {
      return { tag: decoder.decode(frame.subarray(0, OLD_TAG_BYTES)).replace(PAD, ""), data: old };
    }
  }
  if (end < 0) throw new WireError("Cannot read an event: no tag in the frame", "tag");
  throw new WireError("Cannot read an event: its data is no map", "data");
}

function tagEnd(frame: Uint8Array): number {
  for (let i = frame.indexOf(NEWLINE); i >= 0; i = frame.indexOf(NEWLINE, i + 1)) {
    if (frame[i + 1] === NEWLINE) return i;
  }
  return -1;
}

/** Whether `byte` opens a map in msgpack: fixmap, map16 or map32. */
function startsMap(byte: number | undefined): boolean {
  return byte !== undefined && ((byte >= 0x80 && byte <= 0x8f) || byte === 0xde || byte === 0xdf);
}

function readMap(bytes: Uint8Array): ValueMap | undefined {
  try {
    const value = decode(bytes, "disk");
    return isMap(value) ? value : undefined;
  } catch (error) {
    if (error instanceof MsgpackError) return undefined;
    throw error;
  }
}

let lastStampMs = 0;
let sameMs = 0;

/**
 * The time now as `_stamp` has it: UTC, ISO 8601, microseconds, `+00:00`. The clock counts milliseconds here; the last
 * three digits count the stamps made in the same one, so that stamps of one process keep their order.
 */
export function stampNow(nowMs: number = Date.now()): string {
  sameMs = nowMs === lastStampMs ? Math.min(sameMs + 1, 999) : 0;
  lastStampMs = nowMs;
  return `${new Date(nowMs).toISOString().slice(0, -1)}${String(sameMs).padStart(3, "0")}+00:00`;
}

/** A new map: `data` and its `_stamp`. */
export function stamp<V>(data: ReadonlyMap<Value, V>, nowMs: number = Date.now()): Map<Value, V | string> {
  return copyMap<V | string>(data).set("_stamp", stampNow(nowMs));
}
