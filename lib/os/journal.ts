/**
 * The journal for `durability: machine`: a synced copy of what was written to files in the last minute. The files
 * themselves are written without a sync; after a power failure the journal is read and the files are written again. One
 * sync serves all records appended before it (group commit). Each thread has its own journal file, so that no thread
 * waits for another: five files allow twice as many syncs a second as one.
 *
 * A journal file is closed when it has {@linkcode MAX_BYTES} or is {@linkcode OLDEST_MS} old: then its file systems
 * are synced as a whole, and the journal file is removed. Therefore callers must write their files before they append
 * the record, or in the same turn of the event loop. Records may be replayed more than once; replaying must be
 * idempotent. Knows nothing of jobs.
 * Source: measured (docs/performance.md "Durability").
 * @module
 */

import { makeDirectorySynced, readFileIfExists, removeIfExists, syncDirectory } from "./atomic_file.ts";
import { messageOf, MsgpackError, PreflightError, type StoreError } from "#lib/errors.ts";
import { appendFrame, frameRecord, readRecords, type RecordForm } from "./record_file.ts";
import { storeError } from "./store_files.ts";
import { syncFileSystems, SYNCS_FILE_SYSTEMS } from "#lib/libc/sync.ts";
import { decode, encode, type Packable } from "#lib/values/msgpack.ts";
import { TimeBudget } from "./time_budget.ts";
import type { Value } from "#lib/values/value.ts";
import { clearTimeout, setTimeout, type Timer } from "./timers.ts";

/** Size in bytes at which a file is closed; the record that exceeds it is its last. */
const MAX_BYTES = 4 << 20;
/** Maximum age of a file since its first record, in milliseconds. */
const OLDEST_MS = 60_000;

/** Default time that close() waits for its file systems to be synced, in milliseconds. */
const SWEEP_MS = 2_000;

const FORM: RecordForm = { checked: true };

const NAME = /^\d{20}-[0-9a-f]{8}\.log$/;

/** Accepts records of stored data. */
export interface RecordTaker {
  /**
   * Appends a record.
   * @throws {StoreError} If it cannot be written.
   */
  append(record: Packable): void;
}

export interface JournalOptions {
  /** The directory of the journal files; made if it does not exist. */
  readonly directory: string;
  /** The directories that hold the journaled files; their file systems are synced. */
  readonly files: readonly string[];
  /** Called with the reason when closed journal files cannot be removed. */
  readonly log: (message: string) => void;
}

/** @throws {PreflightError} If this system cannot provide the `durability` asked for. */
export function checkDurability({ durability }: { readonly durability: string }): void {
  if (durability === "machine" && !SYNCS_FILE_SYSTEMS) throw new PreflightError("durability: machine needs Linux");
}

/** The journal of one thread. */
export class Journal {
  readonly #options: JournalOptions;
  #file: Deno.FsFile | undefined;
  #path = "";
  #bytes = 0;
  /** Records that are not synced yet; a new file begins with them. */
  readonly #unsynced: Uint8Array[] = [];
  /** Closed files, kept until their file systems are synced. */
  readonly #over: string[] = [];
  #sync: Promise<void> | undefined;
  #nextSync: Promise<void> | undefined;
  #sweeping: Promise<void> | undefined;
  #ageing: Timer | undefined;
  #last = 0;

  /** Creates no file before the first {@linkcode append}. */
  constructor(options: JournalOptions) {
    this.#options = options;
  }

  /**
   * Appends a record; it is durable after the next {@linkcode commit}.
   * @throws {StoreError} If it cannot be written.
   */
  append(record: Packable): void {
    const framed = frameRecord(encode(record, "disk"), FORM);
    if (this.#bytes >= MAX_BYTES) this.#giveUp();
    this.#writing(() => {
      const file = this.#file ?? this.#open();
      this.#write(file, framed);
    });
    this.#unsynced.push(framed);
  }

  /**
   * Resolves when everything appended is on the disk.
   * @throws {StoreError} If syncing fails. The next commit tries the same records again.
   */
  commit(): Promise<void> {
    // The sync that is running may have begun before the last record was written; the next one includes it.
    return this.#nextSync ??= (async () => {
      await this.#sync?.catch(() => {}); // the callers that wait for that sync get its error
      this.#sync = this.#nextSync;
      this.#nextSync = undefined;
      await this.#syncFile();
    })();
  }

  async #syncFile(): Promise<void> {
    const { length } = this.#unsynced;
    if (length === 0) return;
    const file = this.#file ?? this.#writing(() => this.#open());
    try {
      await file.syncData();
      this.#unsynced.splice(0, length);
    } catch (error) {
      // The system may have dropped what it could not write: another sync of this file would falsely succeed.
      if (this.#file === file) this.#giveUp();
      throw this.#failure(error);
    }
  }

  #writing<T>(write: () => T): T {
    try {
      return write();
    } catch (error) {
      this.#giveUp(); // the last record may be incomplete, so nothing may follow it
      throw this.#failure(error);
    }
  }

  /** Opens a new file and writes the unsynced records to it. */
  #open(): Deno.FsFile {
    const { directory } = this.#options;
    makeDirectorySynced(directory);
    this.#last = Math.max(this.#last + 1, Date.now());
    const name = `${String(this.#last).padStart(20, "0")}-${crypto.randomUUID().slice(0, 8)}.log`;
    this.#path = `${directory}/${name}`;
    const file = this.#file = Deno.openSync(this.#path, { append: true, createNew: true, mode: 0o600 });
    syncDirectory(directory);
    this.#ageing = setTimeout(() => this.#giveUp(), OLDEST_MS);
    for (const framed of this.#unsynced) this.#write(file, framed);
    return file;
  }

  #write(file: Deno.FsFile, bytes: Uint8Array): void {
    appendFrame(file, bytes);
    this.#bytes += bytes.length;
  }

  #giveUp(): void {
    clearTimeout(this.#ageing);
    this.#bytes = 0;
    const file = this.#file;
    if (file === undefined) return;
    this.#file = undefined;
    this.#over.push(this.#path);
    // A sync of it may still be running.
    void (this.#sync ?? Promise.resolve()).catch(() => {}).then(() => file.close());
    void this.#sweep();
  }

  /** Removes closed files when their data is on the disk. Never rejects. */
  #sweep(): Promise<void> {
    return this.#sweeping ??= (async () => {
      // After this turn of the event loop, all callers have written their own files.
      await Promise.resolve();
      try {
        for (let paths = [...this.#over]; paths.length > 0; paths = [...this.#over]) {
          // A caller may write its file only when its record is on the disk: as long as the sync of that record runs,
          // no other file has it.
          await this.#sync?.catch(() => {});
          await syncFileSystems(this.#options.files);
          for (const path of paths) {
            removeIfExists(path);
            this.#over.splice(this.#over.indexOf(path), 1);
          }
        }
      } catch (error) {
        // They are tried again with the next file, and replayed at the next start.
        const reason = messageOf(error);
        this.#options.log(
          `Files of the journal stay, because the files of their records could not be synced: ${reason}`,
        );
      } finally {
        this.#sweeping = undefined;
      }
    })();
  }

  #failure(error: unknown): StoreError {
    const { directory } = this.#options;
    return storeError(`write the journal in ${directory}`, directory, error);
  }

  /**
   * Syncs all files of its records, and removes its own files. If the disk takes longer than `budget` for the second,
   * they stay, which is logged, and the next start reads them. May be called more than once.
   */
  async close(budget = new TimeBudget(SWEEP_MS)): Promise<void> {
    await this.commit().catch((error) => this.#options.log(error.message));
    this.#giveUp();
    if (this.#sweeping !== undefined && !await budget.allows(this.#sweeping)) {
      this.#options.log(
        "Files of the journal stay, because the disk is too busy to sync the files of their records; the next start reads them",
      );
    }
  }
}

/**
 * Replays the journals that an earlier process left in `options.directory`, and removes them. No other process may use
 * the directory meanwhile.
 * @param redo Called with each record, after the promise of the one before; records of one thread are in order.
 * @returns The number of records.
 * @throws What `redo` throws, and if a file cannot be read. Then the journals are kept.
 */
export async function replayJournal(options: JournalOptions, redo: (record: Value) => unknown): Promise<number> {
  const { directory, files, log } = options;
  const names = journalNames(directory);
  if (names.length === 0) return 0;
  let count = 0;
  for (const name of names) {
    const file = readFileIfExists(`${directory}/${name}`) ?? new Uint8Array();
    for (const bytes of readRecords(file, FORM, (record) => record).records) {
      const record = read(bytes, (reason) => log(`A record of ${directory}/${name} cannot be read: ${reason}`));
      if (record === undefined) continue;
      await redo(record);
      count++;
    }
  }
  await syncFileSystems(files);
  for (const name of names) removeIfExists(`${directory}/${name}`);
  return count;
}

function journalNames(directory: string): string[] {
  try {
    return [...Deno.readDirSync(directory)].map(({ name }) => name).filter((name) => NAME.test(name)).sort();
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return [];
    throw error;
  }
}

function read(bytes: Uint8Array, warn: (reason: string) => void): Value | undefined {
  try {
    return decode(bytes, "disk");
  } catch (error) {
    if (!(error instanceof MsgpackError)) throw error;
    warn(error.message);
    return undefined;
  }
}
