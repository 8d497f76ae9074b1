/**
 * The format of events on the bus: a tag, two newlines, and a msgpack map. Knows no sockets and no tags.
 * Source: docs/protocol.md "Event buses".
 * @module
 */

import { copyMap } from "#lib/values/dict.ts";
import { WireError } from "#lib/errors.ts";
import { decodeIfWhole, encode, type Packable } from "#lib/values/msgpack.ts";
import { isMap, type Value, type ValueMap } from "#lib/values/value.ts";

/** One event of a bus. */
export interface BusEvent {
  /** Names the kind of event; subscribers select by prefix. */
  readonly tag: string;
  /** The event's data, with `_stamp`. */
  readonly data: ValueMap;
}

/** The data of an event to be packed; large parts may be packed already. */
export type EventData = ReadonlyMap<Value, Packable>;

const NEWLINE = 0x0a;
/** Tags of the old form are padded to this many bytes with {@linkcode PAD}. */
const OLD_TAG_BYTES = 20;
const PAD = /\|+$/;

const encoder = new TextEncoder();
// Keep a byte order mark: a minion may fire "\ufeffsalt/auth", which must not be read as "salt/auth".
const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

/** Packs an event. Salt trims large values (`max_event_size`); here a large return arrives whole. */
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
 * The event in a frame, of today's form or of the old one (the tag padded with `|` to 20 bytes, no newlines);
 * `undefined` if its tag is not `wanted`: on a busy bus most events are for other subscribers, and their data are not
 * read.
 * @throws {WireError} If it is an event of neither form.
 */
export function unpackMatching(frame: Uint8Array, wanted: (tag: string) => boolean): BusEvent | undefined {
  const end = tagEnd(frame);
  // An unwanted tag is recognised as the current form by the bytes after it, without reading the data.
  if (end >= 0 && startsMap(frame[end + 2]) && !wanted(decoder.decode(frame.subarray(0, end)))) return undefined;
  const data = end < 0 ? undefined : readMap(frame.subarray(end + 2));
  if (data !== undefined) return { tag: decoder.decode(frame.subarray(0, end)), data };
  // Only for frames that cannot have the current form: otherwise a minion could fire a long tag that is read as an old
  // event of the master. An old tag has no newline.
  if ((end < 0 || end >= OLD_TAG_BYTES) && startsMap(frame[OLD_TAG_BYTES])) {
    const old = readMap(frame.subarray(OLD_TAG_BYTES));
    if (old !== undefined) {
      return { tag: decoder.decode(frame.subarray(0, OLD_TAG_BYTES)).replace(PAD, ""), data: old };
    }
  }
  if (end < 0) throw new WireError("Cannot read an event: no tag in the frame", "tag");
  throw new WireError("Cannot read an event: its data is no map", "data");
}

/** As {@linkcode unpackMatching}; a frame that is no event is not wanted either. */
export function readMatching(frame: Uint8Array, wanted: (tag: string) => boolean): BusEvent | undefined {
  try {
    return unpackMatching(frame, wanted);
  } catch (error) {
    if (error instanceof WireError) return undefined;
    throw error;
  }
}

/** Where the tag of an event ends, which is where its two newlines begin; -1 if it has none. */
export function tagEnd(frame: Uint8Array): number {
  for (let i = frame.indexOf(NEWLINE); i >= 0; i = frame.indexOf(NEWLINE, i + 1)) {
    if (frame[i + 1] === NEWLINE) return i;
  }
  return -1;
}

/** Whether `byte` begins a map in msgpack: fixmap, map16 or map32. */
function startsMap(byte: number | undefined): boolean {
  return byte !== undefined && ((byte >= 0x80 && byte <= 0x8f) || byte === 0xde || byte === 0xdf);
}

function readMap(bytes: Uint8Array): ValueMap | undefined {
  const value = decodeIfWhole(bytes);
  return isMap(value) ? value : undefined;
}

let lastStampMs = 0;
let sameMs = 0;

/**
 * The current time for `_stamp`: UTC, ISO 8601, microseconds, `+00:00`. The clock has milliseconds; the last three
 * digits number the stamps within one, so that stamps of a process keep their order.
 */
export function stampNow(nowMs: number = Date.now()): string {
  sameMs = nowMs === lastStampMs ? Math.min(sameMs + 1, 999) : 0;
  lastStampMs = nowMs;
  return `${new Date(nowMs).toISOString().slice(0, -1)}${String(sameMs).padStart(3, "0")}+00:00`;
}

/** A copy of `data` with `_stamp`. */
export function stamp<V>(data: ReadonlyMap<Value, V>, nowMs: number = Date.now()): Map<Value, V | string> {
  return copyMap<V | string>(data).set("_stamp", stampNow(nowMs));
}
