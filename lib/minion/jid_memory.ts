/**
 * The job ids that a minion took, in files as well: a publish that comes again, also to a minion that was started anew, is
 * not run again.
 *
 * They are kept in two generations, `path` and `path.old`. When the younger one is a day old and large enough, the older
 * one is forgotten: so each id is known for a day at least. Beside the id stands where in the master's count of publishes
 * the job came, so that an older publish, recorded and played to a later process, is known as such however many jobs ago
 * it was. Knows nothing of what a job is.
 * @module
 */

import { readTextFileIfExists, writeFileAtomic } from "../os/atomic_file.ts";
import { isJid } from "../protocol/jid.ts";
import type { RecordTaker } from "../os/journal.ts";
import type { Logger } from "../process/log.ts";
import { map } from "../values/value.ts";

/** How long an id is known at the least, in milliseconds. */
const KEEP_MS = 24 * 3_600_000;
/** How many ids a generation has at the most, whatever its age: 10 MB of memory. */
const MOST = 100_000;

/** A mark in a file. */
const MARK = /^\d{1,15} [0-9a-f]{16}$/;

/** Where a publish stands in its master's count. */
export interface PublishMark {
  /** Names the shared key that it came under, in 16 hex digits; each has a count of its own. */
  readonly key: string;
  /** Its number. */
  readonly serial: number;
}

/** What a memory is made of. */
export interface JidMemoryOptions {
  /** How many ids a generation has at the least. */
  readonly least: number;
  /** Where they are kept; without it, only in memory. */
  readonly path?: string;
  /** Where it says what it could not write. */
  readonly log: Logger;
  /** Told of each id. */
  readonly journal?: RecordTaker & { commit(): Promise<void> };
  /** Milliseconds since the epoch. */
  now?(): number;
}

/** The job ids that a minion has seen, in memory and on disk. */
export class JidMemory {
  readonly #options: JidMemoryOptions;
  readonly #now: () => number;
  #old: Set<string>;
  #young: Set<string>;
  /** When the young generation began. */
  #sinceMs: number;
  #mark: PublishMark | undefined;
  /** Whether the file is to be written anew: it is not there yet, or was cut off. */
  #broken: boolean;
  /** Ids that are in the journal, which may not be on the disk yet. */
  readonly #unsure = new Set<string>();

  /** Reads what an earlier process remembered. */
  constructor(options: JidMemoryOptions) {
    this.#options = options;
    this.#now = options.now ?? (() => Date.now());
    const { path } = options;
    const old = read(path === undefined ? undefined : `${path}.old`);
    const young = read(path);
    this.#old = old.jids;
    this.#young = young.jids;
    this.#sinceMs = young.sinceMs ?? this.#now();
    this.#mark = young.mark ?? old.mark;
    this.#broken = young.sinceMs === undefined || !young.whole;
    if (young.cut) {
      options.log.warning(`${path} is empty or cut: a job of the last day that is published again may run again`);
    }
  }

  /** The last publish that a job came with. */
  get mark(): PublishMark | undefined {
    return this.#mark;
  }

  /** Whether `jid` is one of them. */
  has(jid: string): boolean {
    return this.#young.has(jid) || this.#old.has(jid);
  }

  /** Remembers `jid`, if it is new, and where its publish stood. */
  add(jid: string, mark?: PublishMark): void {
    if (this.has(jid)) return;
    const turned = this.#turn();
    this.#young.add(jid);
    this.#mark = mark ?? this.#mark;
    const { path, journal } = this.#options;
    if (path === undefined) return;
    if (journal === undefined) return this.#write(jid, mark, turned);
    // Not before the journal is on the disk, where the job is noted: one that is remembered and noted nowhere would never be run.
    this.#unsure.add(jid);
    const write = () => {
      this.#unsure.delete(jid);
      this.#write(jid, mark, turned);
    };
    try {
      journal.append(map({ kind: "taken", jid, ...mark }));
    } catch (error) {
      this.#warn(jid, error);
    }
    journal.commit().then(write, write);
  }

  #write(jid: string, mark: PublishMark | undefined, turned: boolean): void {
    const { path } = this.#options;
    if (path === undefined) return;
    try {
      if (turned) Deno.renameSync(path, `${path}.old`);
      if (this.#broken || turned) this.#writeAll(path, jid);
      else Deno.writeTextFileSync(path, line(jid, mark), { append: true, mode: 0o600 });
      this.#broken = false;
    } catch (error) {
      // Better a job twice after a restart than none on a full disk.
      this.#broken = true;
      this.#warn(jid, error);
    }
  }

  #warn(jid: string, error: unknown): void {
    this.#options.log.error(
      `Job id ${jid} is remembered until this minion ends: ${error instanceof Error ? error.message : error}`,
    );
  }

  /** Begins a generation if it is time. @returns Whether it was. */
  #turn(): boolean {
    const { size } = this.#young;
    const aged = this.#now() - this.#sinceMs >= KEEP_MS && size >= this.#options.least;
    if (!aged && size < Math.max(MOST, this.#options.least)) return false;
    this.#old = this.#young;
    this.#young = new Set();
    this.#sinceMs = this.#now();
    return true;
  }

  #writeAll(path: string, last: string): void {
    const jids = [...this.#young].filter((jid) => jid !== last && !this.#unsure.has(jid));
    const lines = [`${this.#sinceMs}\n`, ...jids.map((jid) => line(jid)), line(last, this.#mark)];
    writeFileAtomic(path, lines.join(""), { mode: 0o600 });
  }
}

function line(jid: string, mark?: PublishMark): string {
  return mark === undefined ? `${jid}\n` : `${jid} ${mark.serial} ${mark.key}\n`;
}

/** What a file says, as far as it can be read. */
interface Generation {
  readonly sinceMs?: number;
  readonly jids: Set<string>;
  readonly mark?: PublishMark;
  /** Whether it ends where a line does. */
  readonly whole: boolean;
  /** Whether it is there, and does not begin as it was written. */
  readonly cut: boolean;
}

function read(path: string | undefined): Generation {
  const written = path === undefined ? undefined : readTextFileIfExists(path);
  const text = written ?? "";
  const jids = new Set<string>();
  let mark: PublishMark | undefined;
  for (const written of text.split("\n")) {
    const [jid, serial, key] = written.split(" ");
    if (!isJid(jid)) continue;
    jids.add(jid);
    if (MARK.test(`${serial} ${key}`)) mark = { serial: Number(serial), key };
  }
  const since = /^\d{1,15}(?=\n)/.exec(text)?.[0];
  return {
    sinceMs: since === undefined ? undefined : Number(since),
    jids,
    mark,
    whole: text.endsWith("\n"),
    cut: written !== undefined && since === undefined,
  };
}
