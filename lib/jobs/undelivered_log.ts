/**
 * Records of jobs that are pending for a short time, as nearly all are: files `<minute>-<writer>.log` with a record per
 * job, and `<minute>-<writer>.done` with the ids of finished jobs. A file's age is in its name; it is removed when all
 * its jobs are over. One file per job, removed after delivery, would take most of a busy master's time: for each new
 * file ext4 searches through the files removed in the last minutes. Each writer has its own files, because not every
 * file system keeps concurrent appends apart. A record is encrypted except for the fields that tell whether it must be
 * decrypted.
 * Source: measured (docs/performance.md).
 * @module
 */

import { readFileIfExists, removeIfExists } from "../os/atomic_file.ts";
import { frameRecord, readRecords, type RecordForm } from "../os/record_file.ts";
import { isJid } from "../protocol/jid.ts";
import { decodeIfWhole, encode } from "../values/msgpack.ts";
import { asBytes } from "../protocol/payload.ts";
import { toNumber } from "../values/value.ts";

/** Jobs with more time are not written to the log, in milliseconds: their records would stay as long as the others. */
export const LONGEST_MS = 60_000;

const MINUTE_MS = 60_000;
/** After so many minutes a file contains only jobs whose time is over: one minute to write it, one to deliver. */
const MAX_AGE_MINUTES = 2;
const NAME = /^(\d+)-[0-9a-f]{8}\.(log|done)$/;
const FORM: RecordForm = { checked: false };

/** A pending job. */
export interface UndeliveredJob {
  readonly jid: string;
  /** The data given to {@linkcode UndeliveredLog.add}. */
  readonly sealed: Uint8Array;
}

/** The log, as one thread writes it and any thread reads it. Times are milliseconds since the epoch. */
export class UndeliveredLog {
  readonly #directory: string;
  #writer = newWriter();

  /** @param directory It must exist. */
  constructor(directory: string) {
    this.#directory = directory;
  }

  /** Adds the record of a job that may be delivered until `untilMs`. @throws {Error} If it cannot be written. */
  add({ jid, sealed }: UndeliveredJob, untilMs: number, nowMs: number): void {
    this.#append("log", frameRecord(encode([jid, untilMs, sealed], "disk"), FORM), nowMs);
  }

  /** Marks job `jid` as finished, before or after its record is written. @throws {Error} If that cannot be written. */
  done(jid: string, nowMs: number): void {
    this.#append("done", new TextEncoder().encode(`${jid}\n`), nowMs);
  }

  #append(kind: "log" | "done", bytes: Uint8Array, nowMs: number): void {
    const path = `${this.#directory}/${minuteOf(nowMs)}-${this.#writer}.${kind}`;
    try {
      Deno.writeFileSync(path, bytes, { append: true, mode: 0o600 });
    } catch (error) {
      // The last record may be incomplete, so nothing may follow it.
      this.#writer = newWriter();
      throw error;
    }
  }

  /** The records of unfinished jobs, of all writers. */
  left(nowMs: number): UndeliveredJob[] {
    const files = this.#files().map(({ name }) => name).sort();
    const done = this.over();
    return files.filter((name) => name.endsWith(".log")).flatMap((name) => this.#recordsIn(name))
      .filter(({ jid, untilMs }) => untilMs > nowMs && !done.has(jid));
  }

  /** Jobs that have finished. */
  over(): Set<string> {
    const files = this.#files().map(({ name }) => name);
    return new Set(files.filter((name) => name.endsWith(".done")).flatMap((name) => this.#doneIn(name)));
  }

  #doneIn(name: string): string[] {
    return new TextDecoder().decode(readFileIfExists(`${this.#directory}/${name}`)).split("\n");
  }

  /** All readable records; the last one may be incomplete. */
  #recordsIn(name: string): (UndeliveredJob & { readonly untilMs: number })[] {
    return readRecords(readFileIfExists(`${this.#directory}/${name}`) ?? new Uint8Array(), FORM, read).records;
  }

  /** Removes files that are too old. @returns Whether some are left for later. */
  sweep(nowMs: number): boolean {
    const files = this.#files();
    const old = files.filter(({ minute }) => minute + MAX_AGE_MINUTES < minuteOf(nowMs));
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
      if (error instanceof Deno.errors.NotFound) return []; // another process has removed it
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

function read(bytes: Uint8Array): (UndeliveredJob & { readonly untilMs: number }) | undefined {
  const value = decodeIfWhole(bytes);
  const [jid, until, packed] = Array.isArray(value) ? value : [];
  const sealed = asBytes(packed);
  if (typeof jid !== "string" || !isJid(jid) || sealed === undefined) return undefined;
  return { jid, sealed, untilMs: toNumber(until) ?? 0 };
}
