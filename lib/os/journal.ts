/**
 * The journal, for `durability: machine`: what the last minute's files hold, once more, in a file that is synced before anybody is
 * told. The files themselves are written as ever, without a sync; after a power failure the journal is read and writes them again.
 *
 * One sync serves all that was appended before it (group commit). Each thread has a file of its own, so that none waits for
 * another: five files take twice as many syncs a second as one. A file is given up when it is {@linkcode MOST_BYTES} large or
 * {@linkcode OLDEST_MS} old: its file systems are synced as a whole, and then it is removed. So what is in a journal is written to the files it
 * tells of before, or in the same turn of the event loop as, it is appended. Records may be read more than once: whoever replays
 * them does nothing the second time.
 *
 * Knows nothing of jobs. Source: measured (docs/performance.md, "Durability").
 * @module
 */

import { makeDirectorySynced, readFileIfExists, removeIfExists, syncDirectory } from "./atomic_file.ts";
import { MsgpackError, PreflightError, type StoreError } from "../errors.ts";
import { appendFrame, frameRecord, readRecords, type RecordForm } from "./record_file.ts";
import { storeError } from "./store_files.ts";
import { syncFileSystems, SYNCS_FILE_SYSTEMS } from "./libc_sync.ts";
import { decode, encode, type Packable } from "../values/msgpack.ts";
import { TimeBudget } from "./time_budget.ts";
import type { Value } from "../values/value.ts";

/** How large a file grows, in bytes; the record that takes it above this is its last. */
const MOST_BYTES = 4 << 20;
/** How old a file gets, from its first record on, in milliseconds. */
const OLDEST_MS = 60_000;

/** How long whoever ends waits until its file systems are synced, if nobody says how long. In milliseconds. */
const SWEEP_MS = 2_000;

const FORM: RecordForm = { checked: true };

const NAME = /^\d{20}-[0-9a-f]{8}\.log$/;

/** Who is told of what is stored, when it is. */
export interface RecordTaker {
  /** Takes a record. @throws {StoreError} If it cannot be written. */
  append(record: Packable): void;
}

/** What a journal is made of. */
export interface JournalOptions {
  /** The directory of its files; made if it is not there. */
  readonly directory: string;
  /** The directories that hold the files it tells of, whatever file systems they are on. */
  readonly files: readonly string[];
  /** Hears why what is over stays in it. */
  readonly log: (message: string) => void;
}

/** Refuses what cannot be kept here. @throws {PreflightError} If this system cannot keep what the option asks for. */
export function checkDurability({ durability }: { readonly durability: string }): void {
  if (durability === "machine" && !SYNCS_FILE_SYSTEMS) throw new PreflightError("durability: machine needs Linux");
}

/** One thread's journal. */
export class Journal {
  readonly #options: JournalOptions;
  #file: Deno.FsFile | undefined;
  #path = "";
  #bytes = 0;
  /** Records that no sync has brought to the disk yet; a new file begins with them. */
  readonly #unsynced: Uint8Array[] = [];
  /** Files that are given up, and stay until their file systems are synced. */
  readonly #over: string[] = [];
  #sync: Promise<void> | undefined;
  #nextSync: Promise<void> | undefined;
  #sweeping: Promise<void> | undefined;
  #ageing: ReturnType<typeof setTimeout> | undefined;
  #last = 0;

  /** Writes nothing before the first {@linkcode append}. */
  constructor(options: JournalOptions) {
    this.#options = options;
  }

  /** Adds a record; it is durable after the next {@linkcode commit}. @throws {StoreError} If it cannot be written. */
  append(record: Packable): void {
    const framed = frameRecord(encode(record, "disk"), FORM);
    if (this.#bytes >= MOST_BYTES) this.#giveUp();
    this.#writing(() => {
      const file = this.#file ?? this.#open();
      this.#write(file, framed);
    });
    this.#unsynced.push(framed);
  }

  /**
   * Resolves when all that was appended is on the disk.
   * @throws {StoreError} If it cannot be brought there. What was appended is tried again with the next commit.
   */
  commit(): Promise<void> {
    // The one that runs may have begun before the last record was there; the next one has not.
    return this.#nextSync ??= (async () => {
      await this.#sync?.catch(() => {}); // whoever waits for that one hears of it
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
      // What the system could not write it may have dropped: another sync of this file would say that all is well.
      if (this.#file === file) this.#giveUp();
      throw this.#failure(error);
    }
  }

  #writing<T>(write: () => T): T {
    try {
      return write();
    } catch (error) {
      this.#giveUp(); // a part of it may be there, which nothing must be put behind
      throw this.#failure(error);
    }
  }

  /** Begins a file, with what is not on the disk yet. */
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
    // A sync of it may be under way.
    void (this.#sync ?? Promise.resolve()).catch(() => {}).then(() => file.close());
    void this.#sweep();
  }

  /** Removes the files that are given up, once what they tell of is on the disk by itself. Never rejects. */
  #sweep(): Promise<void> {
    return this.#sweeping ??= (async () => {
      // Whoever appended is done with the files themselves by then.
      await Promise.resolve();
      try {
        for (let paths = [...this.#over]; paths.length > 0; paths = [...this.#over]) {
          await syncFileSystems(this.#options.files);
          for (const path of paths) {
            removeIfExists(path);
            this.#over.splice(this.#over.indexOf(path), 1);
          }
        }
      } catch (error) {
        // They are tried again with the next file, and read by the next start.
        const reason = error instanceof Error ? error.message : error;
        this.#options.log(`Files of the journal stay, as what they tell of could not be synced: ${reason}`);
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
   * Brings all that it tells of to the disk, and removes its files. If the disk takes longer than `budget` for the second, they stay, which
   * is logged, and the next start reads them. Twice is fine.
   */
  async close(budget = new TimeBudget(SWEEP_MS)): Promise<void> {
    await this.commit().catch((error) => this.#options.log(error.message));
    this.#giveUp();
    if (this.#sweeping !== undefined && !await budget.allows(this.#sweeping)) {
      this.#options.log(
        "Files of the journal stay, as the disk is too busy to write what they tell of; the next start reads them",
      );
    }
  }
}

/**
 * Does again what the journals of `options.directory` tell of, as an earlier process left them, and removes them. Nobody else may use the directory
 * meanwhile.
 * @param redo Called with each record, those of one thread in their order.
 * @returns How many records there were.
 * @throws What `redo` throws, and what a file that cannot be read throws: the journals stay, then.
 */
export async function replayJournal(options: JournalOptions, redo: (record: Value) => void): Promise<number> {
  const { directory, files, log } = options;
  const names = journalNames(directory);
  if (names.length === 0) return 0;
  let count = 0;
  for (const name of names) {
    const file = readFileIfExists(`${directory}/${name}`) ?? new Uint8Array();
    for (const bytes of readRecords(file, FORM, (record) => record).records) {
      const record = read(bytes, (reason) => log(`A record of ${directory}/${name} cannot be read: ${reason}`));
      if (record === undefined) continue;
      redo(record);
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
