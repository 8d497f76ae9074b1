/**
 * The files of an event log. A segment is named by the number of its first event, `00000000000000012345.log`, and holds
 * records: the length of the body and its CRC-32 (four bytes each), then the body: the time in milliseconds since the
 * epoch (a double of eight bytes) and the event as it was on the bus. The numbers of its events follow each other.
 * Everything after the first record that is not whole is ignored: a killed process or a full disk cuts a file anywhere.
 * @module
 */

import { crc32 } from "#lib/values/crc32.ts";
import { readTextFileIfExists, writeFileAtomic } from "#lib/os/atomic_file.ts";
import { LOG_ID } from "./offset.ts";

/** Bytes before the body of a record. */
export const HEADER_BYTES = 8;
/** Bytes of the time in a body. */
const TIME_BYTES = 8;

/**
 * After a boot of the host the numbers go on at a multiple of this, as the last events may be lost with the power that
 * readers know by their numbers. More events than a system keeps in memory before it writes them.
 */
const BOOT_NUMBERS = 2 ** 20;

const NAME = /^(\d{20})\.log$/;

/** A segment of a directory. */
export interface Segment {
  readonly path: string;
  /** The number of its first event. */
  readonly first: number;
}

/** A record of a segment. */
export interface StoredEvent {
  /** When the event was published, in milliseconds since the epoch. */
  readonly ms: number;
  /** The event as it was on the bus. */
  readonly frame: Uint8Array;
}

/** The path of the segment that begins with the event `first`. */
export function segmentPath(directory: string, first: number): string {
  return `${directory}/${String(first).padStart(20, "0")}.log`;
}

/** The segments of a directory, the oldest first; none if it does not exist. */
export function listSegments(directory: string): Segment[] {
  let names: string[];
  try {
    names = [...Deno.readDirSync(directory)].map(({ name }) => name);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound || error instanceof Deno.errors.NotADirectory) return [];
    throw error;
  }
  return names.flatMap((name) => {
    const digits = NAME.exec(name)?.[1];
    return digits === undefined ? [] : [{ path: `${directory}/${name}`, first: Number(digits) }];
  }).sort((a, b) => a.first - b.first);
}

/** The number at which a log goes on after a boot, if it would have been `next`. */
export function numberAfterBoot(next: number): number {
  return (Math.floor(next / BOOT_NUMBERS) + 2) * BOOT_NUMBERS;
}

/** How many events between two numbers of a log are not in it: the gap of a boot has none that can be counted. */
export function missedBetween(before: number, first: number): number {
  return first % BOOT_NUMBERS === 0 && first > before && first - before <= 2 * BOOT_NUMBERS ? 0 : first - before;
}

/** The id of the log in a directory; `undefined` if there is none. */
export function readLogId(directory: string): string | undefined {
  const id = readTextFileIfExists(`${directory}/id`)?.trim();
  return id !== undefined && LOG_ID.test(id) ? id : undefined;
}

/**
 * Gives the log in a directory an id. It begins with a letter: an operator's offset `12345678.3320` would be read as
 * the number 12345678.332, another offset.
 * @throws What writing throws.
 */
export function makeLogId(directory: string): string {
  const id = `f${crypto.randomUUID().slice(1, 8)}`;
  writeFileAtomic(`${directory}/id`, `${id}\n`, { mode: 0o600 });
  return id;
}

/** Number of bytes of the record of an event. */
export function recordBytes(frame: Uint8Array): number {
  return HEADER_BYTES + TIME_BYTES + frame.length;
}

/**
 * Puts a record into `bytes`, of which `view` is a view, at `at`, where {@linkcode recordBytes} are free.
 * @returns Where the next one begins.
 */
export function putRecord(
  { bytes: into, view }: { readonly bytes: Uint8Array; readonly view: DataView },
  at: number,
  { ms, frame }: StoredEvent,
): number {
  const body = at + HEADER_BYTES, end = body + TIME_BYTES + frame.length;
  view.setUint32(at, TIME_BYTES + frame.length);
  view.setFloat64(body, ms);
  into.set(frame, body + TIME_BYTES);
  view.setUint32(at + 4, crc32(into.subarray(body, end)));
  return end;
}

/** A record that was read, and where the next one begins. */
export interface ReadRecord extends StoredEvent {
  readonly next: number;
}

/**
 * The record of `bytes` at `at`; `undefined` if there is none that is whole.
 * @returns Its event is a part of `bytes`.
 */
export function recordAt(bytes: Uint8Array, at: number): ReadRecord | undefined {
  if (at + HEADER_BYTES > bytes.length) return undefined;
  const view = new DataView(bytes.buffer, bytes.byteOffset);
  const size = view.getUint32(at), body = at + HEADER_BYTES, next = body + size;
  // No event is empty: a size of zero is a hole that was never written.
  if (size <= TIME_BYTES || next > bytes.length) return undefined;
  if (crc32(bytes.subarray(body, next)) !== view.getUint32(at + 4)) return undefined;
  return { ms: view.getFloat64(body), frame: bytes.subarray(body + TIME_BYTES, next), next };
}
