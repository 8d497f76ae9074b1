/**
 * Reads an event log, also while it is written: from an event, from a time, or from its end on.
 * @module
 */

import { joinBytes } from "#lib/values/join_bytes.ts";
import {
  HEADER_BYTES,
  listSegments,
  missedBetween,
  readLogId,
  recordAt,
  type Segment,
  type StoredEvent,
} from "./segment.ts";

/** Bytes that are read at once. */
const CHUNK_BYTES = 1024 * 1024;

/** An event of a log. */
export interface LoggedEvent extends StoredEvent {
  /** Its number in the log. */
  readonly number: number;
}

/** Some events of the log that follow each other. */
export interface LogBatch {
  /** The events, in their order; none at the end of the log. */
  readonly events: readonly LoggedEvent[];
  /** Number of events before them that are not in the log: they were removed, or could not be written. */
  readonly missed: number;
}

/** The events of a batch of records whose first one has the number `first`. */
export function eventsOf(records: Uint8Array, first: number): LoggedEvent[] {
  const events: LoggedEvent[] = [];
  for (let record = recordAt(records, 0); record !== undefined; record = recordAt(records, record.next)) {
    events.push({ number: first + events.length, ms: record.ms, frame: record.frame });
  }
  return events;
}

/** A position in a log. Holds the file that it reads open until it is closed. */
export class EventLogReader {
  readonly #directory: string;
  #segment: Segment | undefined;
  #file: Deno.FsFile | undefined;
  /** Bytes of the file that were read and hold no whole record yet. */
  #rest: Uint8Array = new Uint8Array();
  /** Whether all of the file was read. */
  #atEnd = true;
  /** The number of the next record of the file. */
  #next = 0;
  /** Events before this number are known already. */
  #known = 0;

  /** @param directory The log's; it may not exist yet. */
  constructor(directory: string) {
    this.#directory = directory;
  }

  /** The id of the log; `undefined` if there is none. */
  get id(): string | undefined {
    return readLogId(this.#directory);
  }

  /** The number of the event that comes next. */
  get next(): number {
    return Math.max(this.#next, this.#known);
  }

  /** Leaves out the events before `number`, which the caller got in another way. */
  pass(number: number): void {
    this.#known = Math.max(this.#known, number);
  }

  /** Continues with the event `number`, or, if it is not in the log any more, with the oldest one after it. */
  seek(number: number): void {
    this.#leave();
    this.#next = this.#known = number;
    const segment = listSegments(this.#directory).findLast(({ first }) => first <= number);
    if (segment === undefined) return;
    this.#enter(segment);
    this.#skip(({ number: at }) => at < number);
  }

  /** Continues with the first event that was published at `ms` or later. */
  seekTime(ms: number): void {
    this.#leave();
    const segments = listSegments(this.#directory);
    const segment = segments.findLast((each) => (firstMs(each) ?? Infinity) <= ms) ?? segments[0];
    if (segment === undefined) return this.seekEnd();
    this.#next = this.#known = segment.first;
    this.#enter(segment);
    this.#skip((event) => event.ms < ms);
  }

  /** Continues after the last event. */
  seekEnd(): void {
    this.#leave();
    const segment = listSegments(this.#directory).at(-1);
    this.#next = this.#known = segment?.first ?? -1; // nothing can be missed before the first event of an empty log
    if (segment === undefined) return;
    this.#enter(segment);
    this.#skip(() => true);
  }

  /** Passes the events of the segment as long as `before` says so. */
  #skip(before: (event: LoggedEvent) => boolean): void {
    for (;;) {
      const events = this.#read();
      if (events.length === 0) return;
      const at = events.findIndex((event) => !before(event));
      if (at < 0) continue;
      // The first one that counts is read again.
      const { frame: { byteOffset, buffer } } = events[at];
      const end = this.#rest.byteOffset + this.#rest.length;
      const from = byteOffset - 8 - HEADER_BYTES;
      this.#rest = new Uint8Array(buffer, from, end - from);
      this.#next = events[at].number;
      this.#atEnd = false;
      return;
    }
  }

  /**
   * The next events, at most about a megabyte of them; none at the end of the log.
   * @throws What reading throws.
   */
  read(): LogBatch {
    const before = this.next;
    for (;;) {
      const wasAtEnd = this.#atEnd, { first: current = -1 } = this.#segment ?? {};
      // Listed before the file is read: the writer finishes a file before it begins the next one.
      const following = wasAtEnd ? listSegments(this.#directory).find(({ first }) => first > current) : undefined;
      const all = this.#read();
      const events = all[0]?.number < before ? all.filter(({ number }) => number >= before) : all;
      if (events.length > 0) return { events, missed: before < 0 ? 0 : missedBetween(before, events[0].number) };
      if (!wasAtEnd || all.length > 0) continue;
      if (following === undefined) return { events, missed: 0 };
      this.#leave();
      this.#enter(following);
    }
  }

  /** The next whole records of the file. */
  #read(): LoggedEvent[] {
    this.#atEnd = true;
    if (this.#file === undefined) return [];
    for (let size = CHUNK_BYTES;; size *= 2) {
      const more = readUpTo(this.#file, size);
      const bytes = this.#rest = this.#rest.length === 0 ? more : joinBytes([this.#rest, more]);
      const events: LoggedEvent[] = [];
      let at = 0;
      for (let record = recordAt(bytes, at); record !== undefined; record = recordAt(bytes, at)) {
        events.push({ number: this.#next++, ms: record.ms, frame: record.frame });
        at = record.next;
      }
      this.#rest = bytes.subarray(at);
      this.#atEnd = more.length < size;
      if (events.length > 0 || this.#atEnd) return events;
    }
  }

  #enter(segment: Segment): void {
    try {
      this.#file = Deno.openSync(segment.path);
    } catch (error) {
      if (!(error instanceof Deno.errors.NotFound)) throw error; // it has just become too old
    }
    this.#segment = segment;
    this.#next = segment.first;
    this.#atEnd = false;
  }

  #leave(): void {
    this.#file?.close();
    this.#file = undefined;
    this.#segment = undefined;
    this.#rest = new Uint8Array();
  }

  close(): void {
    this.#leave();
  }

  [Symbol.dispose](): void {
    this.close();
  }
}

/** Where a chunk is read to before its size is known: who follows a log mostly gets one event of it. */
let chunk: Uint8Array<ArrayBuffer> | undefined;

/** Reads `size` bytes, or what there is. */
function readUpTo(file: Deno.FsFile, size: number): Uint8Array<ArrayBuffer> {
  const bytes = size > CHUNK_BYTES ? new Uint8Array(size) : chunk ??= new Uint8Array(CHUNK_BYTES);
  let filled = 0;
  for (let count: number | null = 1; filled < size && (count ?? 0) > 0; filled += count ?? 0) {
    count = file.readSync(bytes.subarray(filled, size));
  }
  return bytes.slice(0, filled);
}

/** When the first event of a segment was published. */
function firstMs({ path }: Segment): number | undefined {
  try {
    using file = Deno.openSync(path);
    const head = readUpTo(file, HEADER_BYTES + 8);
    return head.length < HEADER_BYTES + 8 ? undefined : new DataView(head.buffer).getFloat64(HEADER_BYTES);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return undefined;
    throw error;
  }
}
