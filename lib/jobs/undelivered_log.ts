/**
 * Records of jobs that are pending for a short time, as nearly all are: files `<minute>-<writer>.log` with a record per
 * job, and `<minute>-<writer>.done` with the ids of finished jobs. Each has the jobs of one minute, and is removed when
 * all of them are over: a fixed time after a master has seen it first, by a clock that does not jump. The minute in a
 * name is that of the wall clock, and only orders the files.
 *
 * One file per job, removed after delivery, would take most of a busy master's time: for each new file ext4 searches
 * through the files removed in the last minutes. Each writer has its own files, because not every file system keeps
 * concurrent appends apart. A record is encrypted except for the id of the job.
 * Source: measured (docs/performance.md).
 * @module
 */

import { readFileIfExists, removeIfExists } from "#lib/os/atomic_file.ts";
import { type Moment, msBetween } from "#lib/os/moment.ts";
import { frameRecord, readRecords, type RecordForm } from "#lib/os/record_file.ts";
import { isJid } from "#lib/protocol/jid.ts";
import { decodeIfWhole, encode } from "#lib/values/msgpack.ts";
import { asBytes } from "#lib/protocol/payload.ts";
import { listOrEmpty } from "#lib/values/shape.ts";

/** Jobs with more time are not written to the log, in milliseconds: their records would stay as long as the others. */
export const LONGEST_MS = 60_000;

const MINUTE_MS = 60_000;
/** After so much time a file contains only jobs whose time is over: one minute to write it, one to deliver. */
const MAX_AGE_MS = 2 * MINUTE_MS;
const NAME = /^\d+-[0-9a-f]{8}\.(log|done)$/;
const FORM: RecordForm = { checked: false };

/** A pending job. */
export interface UndeliveredJob {
  readonly jid: string;
  /** The data given to {@linkcode UndeliveredLog.add}. */
  readonly sealed: Uint8Array;
}

/** A file that this thread appends to. */
interface OpenFile {
  /** Its name without its suffix. */
  readonly name: string;
  readonly since: Moment;
}

/** The log, as one thread writes it and any thread reads it. */
export class UndeliveredLog {
  readonly #directory: string;
  #open: OpenFile | undefined;
  /** When {@linkcode sweep} has seen each file first. */
  readonly #seen = new Map<string, Moment>();

  /** @param directory It must exist. */
  constructor(directory: string) {
    this.#directory = directory;
  }

  /**
   * Adds the record of a job.
   * @throws {Error} If it cannot be written.
   */
  add({ jid, sealed }: UndeliveredJob, now: Moment): void {
    this.#append("log", frameRecord(encode([jid, sealed], "disk"), FORM), now);
  }

  /**
   * Marks job `jid` as finished, before or after its record is written.
   * @throws {Error} If that cannot be written.
   */
  done(jid: string, now: Moment): void {
    this.#append("done", new TextEncoder().encode(`${jid}\n`), now);
  }

  #append(kind: "log" | "done", bytes: Uint8Array, now: Moment): void {
    if (this.#open === undefined || msBetween(this.#open.since, now) >= MINUTE_MS) {
      const writer = crypto.randomUUID().slice(0, 8);
      this.#open = { name: `${Math.floor(now.wallMs / MINUTE_MS)}-${writer}`, since: now };
    }
    const path = `${this.#directory}/${this.#open.name}.${kind}`;
    try {
      Deno.writeFileSync(path, bytes, { append: true, mode: 0o600 });
    } catch (error) {
      // The last record may be incomplete, so nothing may follow it.
      this.#open = undefined;
      throw error;
    }
  }

  /** The records of unfinished jobs, of all writers. */
  left(): UndeliveredJob[] {
    const done = this.over();
    return this.#files().sort().filter((name) => name.endsWith(".log")).flatMap((name) => this.#recordsIn(name))
      .filter(({ jid }) => !done.has(jid));
  }

  /** Jobs that have finished. */
  over(): Set<string> {
    return new Set(this.#files().filter((name) => name.endsWith(".done")).flatMap((name) => this.#doneIn(name)));
  }

  #doneIn(name: string): string[] {
    return new TextDecoder().decode(readFileIfExists(`${this.#directory}/${name}`)).split("\n");
  }

  /** All readable records; the last one may be incomplete. */
  #recordsIn(name: string): UndeliveredJob[] {
    return readRecords(readFileIfExists(`${this.#directory}/${name}`) ?? new Uint8Array(), FORM, read).records;
  }

  /**
   * Removes files that were seen long enough ago.
   * @returns Whether some are left for later.
   */
  sweep(now: Moment): boolean {
    const files = this.#files();
    for (const name of this.#seen.keys()) if (!files.includes(name)) this.#seen.delete(name);
    for (const name of files) if (!this.#seen.has(name)) this.#seen.set(name, now);
    const old = files.filter((name) => msBetween(this.#seen.get(name) ?? now, now) > MAX_AGE_MS);
    for (const name of old) removeIfExists(`${this.#directory}/${name}`);
    return old.length < files.length;
  }

  #files(): string[] {
    try {
      return [...Deno.readDirSync(this.#directory)].map(({ name }) => name).filter((name) => NAME.test(name));
    } catch (error) {
      if (error instanceof Deno.errors.NotFound) return []; // another process has removed it
      throw error;
    }
  }
}

function read(bytes: Uint8Array): UndeliveredJob | undefined {
  const value = decodeIfWhole(bytes);
  const [jid, packed] = listOrEmpty(value);
  const sealed = asBytes(packed);
  if (typeof jid !== "string" || !isJid(jid) || sealed === undefined) return undefined;
  return { jid, sealed };
}
