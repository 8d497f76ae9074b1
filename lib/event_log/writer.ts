/**
 * Writes the event log of a master: the bus gives each event that it publishes, and a few milliseconds later all of
 * them are written at once. The disk can be full: then that is logged once, what could not be written is left out of
 * the log, and its readers get it from the bus ({@linkcode EventLogParts.onWritten}).
 *
 * A new writer begins a new segment, so that a predecessor that hangs cannot write between its events. After a boot of
 * the host it gives no number that events may have had that were lost with the power: readers remember numbers.
 * @module
 */

import { readTextFileIfExists, removeIfExists, statIfExists, writeFileAtomic } from "#lib/os/atomic_file.ts";
import { readBootId } from "#lib/os/moment.ts";
import { clearTimeout, setTimeout, type Timer } from "#lib/os/timers.ts";
import { messageOf } from "#lib/errors.ts";
import { writeAll } from "#lib/os/write_all.ts";
import {
  listSegments,
  makeLogId,
  numberAfterBoot,
  putRecord,
  readLogId,
  recordAt,
  recordBytes,
  type Segment,
  segmentPath,
} from "./segment.ts";

/** How long an event may wait to be written together with others, in milliseconds. */
const WAIT_MS = 4;
/** When so many bytes wait, they are written at once. */
const BATCH_BYTES = 256 * 1024;
/** Size in bytes at which a segment ends. */
const SEGMENT_BYTES = 16 * 1024 * 1024;
/** A segment ends at this part of the time that events are kept, so that old events go in parts. */
const AGE_PARTS = 8;
/** Interval in which old segments are looked for, in milliseconds. */
const LOOK_MS = 60_000;
/** Time after a failure before another try, in milliseconds. */
const RETRY_MS = 1_000;

/** How long events are kept, and how many. */
export interface LogLimits {
  /** Seconds after which events are removed. */
  readonly keepS: number;
  /** Bytes of all segments together; the oldest are removed first. */
  readonly maxBytes: number;
}

/** The parts of an {@linkcode EventLogWriter}. */
export interface EventLogParts {
  /** Logs what cannot be written. */
  readonly log: { error(text: string): void; info(text: string): void };
  /**
   * Called when events were written, or could not be.
   * @param next The number of the event that comes next.
   * @param unwritten Records of the events before it, if they are not in the log.
   */
  onWritten(next: number, unwritten?: Uint8Array): void;
  /** Default: 16 MiB. */
  readonly segmentBytes?: number;
  /**
   * The number of the first event of a log that is made anew: above all numbers of one that was lost, if others know
   * them. Default: 0.
   */
  readonly firstNumber?: number;
}

/** The log of one directory. Only one writer may use it. */
export class EventLogWriter {
  readonly #directory: string;
  readonly #limits: LogLimits;
  readonly #parts: EventLogParts;
  readonly #segmentBytes: number;
  #buffer = bufferOf(BATCH_BYTES);
  #filled = 0;
  /** The number of the first event in the buffer, and of the next one. */
  #pending: number;
  #next: number;
  #timer: Timer | undefined;
  #file: Deno.FsFile | undefined;
  #bytes = 0;
  #begunMs = 0;
  #lookedMs = 0;
  #failedMs = -Infinity;
  /** Number of events that could not be written since the last one that was. */
  #lost = 0;

  /**
   * Opens the log of a directory, which is made if it does not exist.
   * @throws What reading or writing throws.
   */
  constructor(directory: string, limits: LogLimits, parts: EventLogParts) {
    this.#directory = directory;
    this.#limits = limits;
    this.#parts = parts;
    this.#segmentBytes = parts.segmentBytes ?? SEGMENT_BYTES;
    Deno.mkdirSync(directory, { recursive: true, mode: 0o700 });
    const next = readLogId(directory) === undefined
      ? begin(directory, parts.firstNumber)
      : cutTail(directory, parts.firstNumber);
    this.#next = this.#pending = noteBoot(directory, next);
    this.#removeOld(Date.now());
  }

  /** The number of the next event. */
  get next(): number {
    return this.#next;
  }

  /** Takes an event, which is written a little later. */
  append(frame: Uint8Array): void {
    const bytes = recordBytes(frame);
    if (this.#filled + bytes > this.#buffer.bytes.length) {
      this.flush();
      if (bytes > this.#buffer.bytes.length) this.#buffer = bufferOf(bytes);
    }
    this.#filled = putRecord(this.#buffer, this.#filled, { ms: Date.now(), frame });
    this.#next++;
    this.#timer ??= setTimeout(() => this.flush(), WAIT_MS);
  }

  /** Writes the events that wait. */
  flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#filled === 0) return;
    const batch = this.#buffer.bytes.subarray(0, this.#filled);
    const written = this.#write(batch);
    this.#filled = 0;
    this.#pending = this.#next;
    this.#parts.onWritten(this.#next, written ? undefined : batch);
    if (Date.now() >= this.#lookedMs + LOOK_MS) this.#removeOld(Date.now());
    // One large event does not keep its memory.
    if (this.#buffer.bytes.length > BATCH_BYTES) this.#buffer = bufferOf(BATCH_BYTES);
  }

  #write(batch: Uint8Array): boolean {
    const nowMs = Date.now();
    if (nowMs >= this.#failedMs && nowMs < this.#failedMs + RETRY_MS) return this.#lose();
    try {
      const old = nowMs - this.#begunMs > this.#limits.keepS * 1000 / AGE_PARTS;
      if (this.#file === undefined || this.#bytes >= this.#segmentBytes || old) this.#open(nowMs);
      if (this.#file !== undefined) writeAll(this.#file, batch);
      this.#bytes += batch.length;
    } catch (error) {
      this.#fail(nowMs, messageOf(error));
      return this.#lose();
    }
    if (this.#lost > 0) {
      this.#parts.log.info(`The event log is written again; ${this.#lost} events are not in it`);
      this.#lost = 0;
      this.#failedMs = -Infinity;
    }
    return true;
  }

  #lose(): false {
    this.#lost += this.#next - this.#pending;
    return false;
  }

  #open(nowMs: number): void {
    this.#close();
    this.#removeOld(nowMs);
    const path = segmentPath(this.#directory, this.#pending);
    this.#file = Deno.openSync(path, { append: true, createNew: true, mode: 0o600 });
    this.#bytes = 0;
    this.#begunMs = nowMs;
  }

  /** A part of the batch may be in the file: what is incomplete is cut off, and the next event begins a segment. */
  #fail(nowMs: number, reason: string): void {
    if (this.#lost === 0) {
      this.#parts.log.error(`The event log in ${this.#directory} cannot be written, and misses events: ${reason}`);
    }
    this.#failedMs = nowMs;
    try {
      this.#file?.truncateSync(this.#bytes);
    } catch {
      // Readers ignore an incomplete record, and a segment ends where the next one begins.
    }
    const empty = this.#file !== undefined && this.#bytes === 0;
    this.#close();
    if (empty) removeIfExists(segmentPath(this.#directory, this.#pending));
    this.#removeOld(nowMs);
  }

  /** Removes segments that are too old, and the oldest of too many. The one that is written stays. */
  #removeOld(nowMs: number): void {
    this.#lookedMs = nowMs;
    const { keepS, maxBytes } = this.#limits;
    const segments = listSegments(this.#directory).map((segment) => ({ ...segment, stat: statIfExists(segment.path) }));
    let bytes = segments.reduce((sum, { stat }) => sum + (stat?.size ?? 0), 0) + this.#segmentBytes;
    const ended = this.#file === undefined ? segments : segments.slice(0, -1);
    for (const { path, stat } of ended) {
      // The time of its last event.
      const old = (stat?.mtime?.getTime() ?? 0) < nowMs - keepS * 1000;
      if (!old && bytes <= maxBytes) break;
      bytes -= stat?.size ?? 0;
      removeIfExists(path);
    }
  }

  #close(): void {
    this.#file?.close();
    this.#file = undefined;
    this.#bytes = 0;
  }

  /** Writes what waits, and closes the log. May be called twice. */
  close(): void {
    this.flush();
    this.#close();
  }
}

/** Memory for records. */
function bufferOf(size: number): { readonly bytes: Uint8Array; readonly view: DataView } {
  const bytes = new Uint8Array(size);
  return { bytes, view: new DataView(bytes.buffer) };
}

/** A log without an id: what is there belongs to no log. */
function begin(directory: string, first = 0): number {
  for (const { path } of listSegments(directory)) removeIfExists(path);
  makeLogId(directory);
  return first;
}

/**
 * Notes in which boot the log is written.
 * @param next The number of the next event, as the segments say.
 * @returns The number that it gets.
 */
function noteBoot(directory: string, next: number): number {
  const path = `${directory}/boot`, boot = readBootId();
  const [, known, first] = /^(\S*) (\d+)$/.exec(readTextFileIfExists(path)?.trim() ?? "") ?? [];
  if (known === boot) return Math.max(next, Number(first));
  const number = known === undefined ? next : numberAfterBoot(Math.max(next, Number(first)));
  writeFileAtomic(path, `${boot} ${number}\n`, { mode: 0o600, sync: true });
  return number;
}

/**
 * Cuts an incomplete record off the last segment.
 * @returns The number of the next event.
 */
function cutTail(directory: string, first = Date.now()): number {
  const last: Segment | undefined = listSegments(directory).at(-1);
  if (last === undefined) return first; // never a number that was given before: all segments were removed
  const bytes = Deno.readFileSync(last.path);
  let at = 0, next = last.first;
  for (let record = recordAt(bytes, at); record !== undefined; record = recordAt(bytes, at)) {
    at = record.next;
    next++;
  }
  if (at === 0) removeIfExists(last.path);
  else if (at < bytes.length) Deno.truncateSync(last.path, at);
  return next;
}
