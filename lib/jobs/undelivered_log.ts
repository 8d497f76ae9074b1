/**
 * Records of the jobs that are under way for a moment, as nearly all are: files `<minute>-<writer>.log` with a record for each, and
 * `<minute>-<writer>.done` with the ids of those that are over. A file is as old as its name, and goes when all in it is over.
 *
 * A file a job, removed when that was delivered, was what most of a busy master's time went into: ext4 looks through what was
 * removed in the last minutes for each file that is made.
 *
 * Each writer has files of its own: not every file system keeps the writes of two apart. What a record holds is sealed, but
 * for what says whether it is to be opened. Source: measured (docs/performance.md).
 * @module
 */

import { readFileIfExists, removeIfExists } from "../os/atomic_file.ts";
import { frameRecord, readRecords, type RecordForm } from "../os/record_file.ts";
import { MsgpackError } from "../errors.ts";
import { isJid } from "../protocol/jid.ts";
import { decode, encode } from "../values/msgpack.ts";
import { asBytes } from "../protocol/payload.ts";
import { toNumber } from "../values/value.ts";

/** A job whose time is longer is none for the log, in milliseconds: its record would be kept for as long as others'. */
export const LONGEST_MS = 60_000;

const MINUTE_MS = 60_000;
/** So many minutes after its own, a file holds nothing any more whose time is not over: one to write it, one to deliver. */
const KEPT_MINUTES = 2;
const NAME = /^(\d+)-[0-9a-f]{8}\.(log|done)$/;
const FORM: RecordForm = { checked: false };

/** A record that is still of interest. */
export interface LogRecord {
  /** The job. */
  readonly jid: string;
  /** What {@linkcode UndeliveredLog.add} was given. */
  readonly sealed: Uint8Array;
}

/** The log, as one thread writes it, and anybody reads it. Times are milliseconds since the epoch. */
export class UndeliveredLog {
  readonly #directory: string;
  #writer = newWriter();

  /** Writes into `directory`, which is there. */
  constructor(directory: string) {
    this.#directory = directory;
  }

  /** Adds the record of a job that may be delivered until `untilMs`. @throws {Error} If it cannot be written. */
  add({ jid, sealed }: LogRecord, untilMs: number, nowMs: number): void {
    this.#append("log", frameRecord(encode([jid, untilMs, sealed], "disk"), FORM), nowMs);
  }

  /** Says that job `jid` is over, before or after its record is written. @throws {Error} If that cannot be written. */
  done(jid: string, nowMs: number): void {
    this.#append("done", new TextEncoder().encode(`${jid}\n`), nowMs);
  }

  #append(kind: "log" | "done", bytes: Uint8Array, nowMs: number): void {
    const path = `${this.#directory}/${minuteOf(nowMs)}-${this.#writer}.${kind}`;
    try {
      Deno.writeFileSync(path, bytes, { append: true, mode: 0o600 });
    } catch (error) {
      // A part of it may be there, which nothing must be put behind.
      this.#writer = newWriter();
      throw error;
    }
  }

  /** The records of jobs that are not over, of whichever writers. */
  left(nowMs: number): LogRecord[] {
    const files = this.#files().map(({ name }) => name).sort();
    const done = this.over();
    return files.filter((name) => name.endsWith(".log")).flatMap((name) => this.#recordsIn(name))
      .filter(({ jid, untilMs }) => untilMs > nowMs && !done.has(jid));
  }

  /** The jobs that are said to be over. */
  over(): Set<string> {
    const files = this.#files().map(({ name }) => name);
    return new Set(files.filter((name) => name.endsWith(".done")).flatMap((name) => this.#doneIn(name)));
  }

  #doneIn(name: string): string[] {
    return new TextDecoder().decode(readFileIfExists(`${this.#directory}/${name}`)).split("\n");
  }

  /** As far as they can be read: the last one may be cut off. */
  #recordsIn(name: string): (LogRecord & { readonly untilMs: number })[] {
    return readRecords(readFileIfExists(`${this.#directory}/${name}`) ?? new Uint8Array(), FORM, read).records;
  }

  /** Removes what is too old to hold anything. @returns Whether there is something left for a later time. */
  sweep(nowMs: number): boolean {
    const files = this.#files();
    const old = files.filter(({ minute }) => minute + KEPT_MINUTES < minuteOf(nowMs));
    for (const { name } of old) removeIfExists(`${this.#directory}/${name}`);
    return old.length < files.length;
  }

  #files(): { readonly name: string; readonly minute: number }[] {
    try {
      return [...Deno.readDirSync(this.#directory)].flatMap(({ name }) => {
        const match = NAME.exec(name);
        return match === null ? [] : [{ name, minute: Number(match[1]) }];
      });
    } catch (error) {
      if (error instanceof Deno.errors.NotFound) return []; // removed under our hands
      throw error;
    }
  }
}

function newWriter(): string {
  return crypto.randomUUID().slice(0, 8);
}

function minuteOf(ms: number): number {
  return Math.floor(ms / MINUTE_MS);
}

function read(bytes: Uint8Array): (LogRecord & { readonly untilMs: number }) | undefined {
  try {
    const value = decode(bytes, "disk");
    const [jid, until, packed] = Array.isArray(value) ? value : [];
    const sealed = asBytes(packed);
    if (typeof jid !== "string" || !isJid(jid) || sealed === undefined) return undefined;
    return { jid, sealed, untilMs: toNumber(until) ?? 0 };
  } catch (error) {
    if (error instanceof MsgpackError) return undefined;
    throw error;
  }
}
