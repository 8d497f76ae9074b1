/**
 * The job ids that a minion has accepted, in memory and in files, so that a repeated publish is not run again, even
 * after a restart. They are kept in two generations, `path` and `path.old`. When the newer one is a day old and large
 * enough, the older one is dropped; so each id is known for at least a day. With each id its publish number is stored,
 * so that a recorded older publish is recognised by a later process, no matter how many jobs have come since. Knows
 * nothing of jobs.
 * @module
 */

import { messageOf } from "#lib/errors.ts";
import { readTextFileIfExists, writeFileAtomic } from "#lib/os/atomic_file.ts";
import { isJid } from "#lib/protocol/jid.ts";
import type { RecordTaker } from "#lib/os/journal.ts";
import type { Logger } from "#lib/runtime/log.ts";
import { map } from "#lib/values/value.ts";

/** Minimum time that an id is known, in milliseconds. */
const KEEP_MS = 24 * 3_600_000;
/** Maximum number of ids in a generation, independent of its age: 10 MB of memory. */
const MAX_JIDS = 100_000;

/** Shared keys whose marks are kept: those of several masters, and of some rotations. */
const MAX_KEYS = 64;

/** A publish mark in a file. */
const MARK = /^\d{1,15} [0-9a-f]{16}$/;

/** The position of a publish in its master's count. */
export interface PublishMark {
  /** Identifies the shared key of the publish, in 16 hex digits; each key has its own count. */
  readonly key: string;
  /** The publish's number. */
  readonly serial: number;
}

/** A mark, and the job of its publish. */
interface Marked extends PublishMark {
  readonly jid: string;
}

/** Options of a {@linkcode JidMemory}. */
export interface JidMemoryOptions {
  /** Minimum number of ids in a generation. */
  readonly min: number;
  /** The file; without it, ids are only in memory. */
  readonly path?: string;
  /** Logs failed writes. */
  readonly log: Logger;
  /** Gets a record of each id. */
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
  /** The start of the newer generation. */
  #sinceMs: number;
  /** The last publish with a job under each key, and its job id; the key that was used last is the last one. */
  readonly #marks = new Map<string, Marked>();
  /** Whether the file must be written again: it does not exist, or is truncated. */
  #broken: boolean;
  /** Ids that are in the journal but may not be on the disk yet. */
  readonly #unsure = new Set<string>();

  /** Reads the ids of an earlier process. */
  constructor(options: JidMemoryOptions) {
    this.#options = options;
    this.#now = options.now ?? (() => Date.now());
    const { path } = options;
    const old = read(path === undefined ? undefined : `${path}.old`);
    const young = read(path);
    this.#old = old.jids;
    this.#young = young.jids;
    this.#sinceMs = young.sinceMs ?? this.#now();
    for (const mark of [...old.marks, ...young.marks]) this.#setMark(mark);
    this.#broken = young.sinceMs === undefined || !young.whole;
    if (young.cut) {
      options.log.warning(`${path} is empty or cut: a job of the last day that is published again may run again`);
    }
  }

  /** The number of the last publish with a job under the shared key that `key` identifies; 0 if there was none. */
  lastSerial(key: string): number {
    return this.#marks.get(key)?.serial ?? 0;
  }

  #setMark(mark: Marked): void {
    this.#marks.delete(mark.key);
    this.#marks.set(mark.key, mark);
    const [oldest] = this.#marks.keys();
    if (this.#marks.size > MAX_KEYS) this.#marks.delete(oldest);
  }

  /** Whether `jid` is known. */
  has(jid: string): boolean {
    return this.#young.has(jid) || this.#old.has(jid);
  }

  /** Adds `jid`, if it is new, and the mark of its publish. */
  add(jid: string, mark?: PublishMark): void {
    if (this.has(jid)) return;
    const turned = this.#turn();
    this.#young.add(jid);
    if (mark !== undefined) this.#setMark({ ...mark, jid });
    const { path, journal } = this.#options;
    if (path === undefined) return;
    if (journal === undefined) return this.#write(path, { jid, mark, turned });
    // Written to the file only after the journal, which has the job, is on the disk: a job whose id is known but which
    // is in no journal would never be run.
    this.#unsure.add(jid);
    const write = () => {
      this.#unsure.delete(jid);
      this.#write(path, { jid, mark, turned });
    };
    try {
      journal.append(map({ kind: "taken", jid, ...mark }));
    } catch (error) {
      this.#warn(jid, error);
    }
    journal.commit().then(write, write);
  }

  #write(
    path: string,
    { jid, mark, turned }: { readonly jid: string; readonly mark: PublishMark | undefined; readonly turned: boolean },
  ): void {
    try {
      if (turned) Deno.renameSync(path, `${path}.old`);
      if (this.#broken || turned) this.#writeAll(path, jid);
      else Deno.writeTextFileSync(path, line(jid, mark), { append: true, mode: 0o600 });
      this.#broken = false;
    } catch (error) {
      // On a full disk, a job that runs twice after a restart is better than no job.
      this.#broken = true;
      this.#warn(jid, error);
    }
  }

  #warn(jid: string, error: unknown): void {
    this.#options.log.error(
      `Job id ${jid} is remembered until this minion ends: ${messageOf(error)}`,
    );
  }

  /**
   * Begins a new generation if it is due.
   * @returns Whether it did.
   */
  #turn(): boolean {
    const { size } = this.#young;
    const aged = this.#now() - this.#sinceMs >= KEEP_MS && size >= this.#options.min;
    if (!aged && size < Math.max(MAX_JIDS, this.#options.min)) return false;
    this.#old = this.#young;
    this.#young = new Set();
    this.#sinceMs = this.#now();
    return true;
  }

  #writeAll(path: string, last: string): void {
    const marks = [...this.#marks.values()].filter(({ jid }) => !this.#unsure.has(jid));
    const marked = new Set([...marks.map(({ jid }) => jid), last]);
    const jids = [...this.#young].filter((jid) => !marked.has(jid) && !this.#unsure.has(jid));
    // The marks of masters that have published nothing for long are kept, with their job ids.
    const lines = [
      `${this.#sinceMs}\n`,
      ...jids.map((jid) => line(jid)),
      ...marks.map((mark) => line(mark.jid, mark)),
      ...marks.some(({ jid }) => jid === last) ? [] : [line(last)],
    ];
    // It takes the place of a file whose ids are in no journal any more.
    writeFileAtomic(path, lines.join(""), { mode: 0o600, sync: this.#options.journal !== undefined });
  }
}

function line(jid: string, mark?: PublishMark): string {
  return mark === undefined ? `${jid}\n` : `${jid} ${mark.serial} ${mark.key}\n`;
}

/** The readable contents of a file. */
interface Generation {
  readonly sinceMs?: number;
  readonly jids: Set<string>;
  readonly marks: readonly Marked[];
  /** Whether the file ends at a line end. */
  readonly whole: boolean;
  /** Whether the file exists and lacks its first line. */
  readonly cut: boolean;
}

function read(path: string | undefined): Generation {
  const content = path === undefined ? undefined : readTextFileIfExists(path);
  const text = content ?? "";
  const jids = new Set<string>();
  const marks = new Map<string, Marked>();
  for (const line of text.split("\n")) {
    const [jid, serial, key] = line.split(" ");
    if (!isJid(jid)) continue;
    jids.add(jid);
    if (!MARK.test(`${serial} ${key}`)) continue;
    marks.delete(key);
    marks.set(key, { serial: Number(serial), key, jid });
  }
  const since = /^\d{1,15}(?=\n)/.exec(text)?.[0];
  return {
    sinceMs: since === undefined ? undefined : Number(since),
    jids,
    marks: [...marks.values()],
    whole: text.endsWith("\n"),
    cut: content !== undefined && since === undefined,
  };
}
