/**
 * What a master keeps on its own disk while the database of its jobs is away: records of the master's journal, in files
 * of a directory, synced before anybody is told that they are stored. One sync serves all that came before it.
 * @module
 */

import { makeDirectorySynced, readFileIfExists, removeIfExists, syncDirectory } from "#lib/os/atomic_file.ts";
import { messageOf, MsgpackError, StoreError } from "#lib/errors.ts";
import { appendFrame, frameRecord, readRecords, type RecordForm } from "#lib/os/record_file.ts";
import { joinBytes } from "#lib/values/join_bytes.ts";
import { decode, encode, type Packable } from "#lib/values/msgpack.ts";
import type { Value } from "#lib/values/value.ts";

const FORM: RecordForm = { checked: true };
const NAME = /^\d{20}\.log$/;
/** Size at which a file is followed by another, in bytes. */
const FILE_BYTES = 4 << 20;

interface Waiting {
  readonly framed: Uint8Array;
  /** Number of records in it. */
  readonly count: number;
  resolve(): void;
  reject(error: StoreError): void;
}

/** The directory of the outbox of a master. */
export function outboxDirectory({ cachedir }: { readonly cachedir: string }): string {
  return `${cachedir}/outbox`;
}

/** The number of records that wait in an outbox. */
export function outboxRecords(directory: string): number {
  return outboxFiles(directory).reduce((sum, name) => sum + readFile(directory, name).records.length, 0);
}

function outboxFiles(directory: string): string[] {
  try {
    return [...Deno.readDirSync(directory)].map(({ name }) => name).filter((name) => NAME.test(name)).sort();
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return [];
    throw error;
  }
}

function readFile(directory: string, name: string) {
  return readRecords(readFileIfExists(`${directory}/${name}`) ?? new Uint8Array(), FORM, (record) => record);
}

/** The outbox of one master. One thread uses it. */
export class RecordOutbox {
  readonly #directory: string;
  readonly #maxBytes: number;
  readonly #log: (text: string) => void;
  #file: Deno.FsFile | undefined;
  /** The name of the file that is being written; empty: none. */
  #name = "";
  /** Whether somebody waits for that file. */
  #isWanted = false;
  #fileBytes = 0;
  #bytes = 0;
  /** Number of records. */
  readonly #counter: Int32Array;
  #waiting: Waiting[] = [];
  #writing: Promise<void> | undefined;
  #last = 0;

  /**
   * Looks what is in it.
   * @param options.log Called with what is wrong with a file.
   * @param options.counter Memory of an Int32 in which other threads see the number of records.
   */
  constructor({ directory, maxBytes, log, counter = new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT) }: {
    readonly directory: string;
    readonly maxBytes: number;
    readonly log: (text: string) => void;
    readonly counter?: SharedArrayBuffer;
  }) {
    this.#counter = new Int32Array(counter).fill(0);
    this.#directory = directory;
    this.#maxBytes = maxBytes;
    this.#log = log;
    for (const name of outboxFiles(this.#directory)) {
      const file = readFile(this.#directory, name);
      this.#bytes += file.bytes;
      Atomics.add(this.#counter, 0, file.records.length);
      this.#last = Math.max(this.#last, Number(name.slice(0, 20)));
    }
  }

  /** Number of records in it. */
  get count(): number {
    return Atomics.load(this.#counter, 0);
  }

  /**
   * Appends records; resolves when they are on the disk.
   * @throws {StoreError} If it is full, or they cannot be written.
   */
  async append(records: readonly Packable[]): Promise<void> {
    if (records.length === 0) return;
    const framed = joinBytes(records.map((record) => frameRecord(encode(record, "disk"), FORM)));
    if (this.#bytes + framed.length > this.#maxBytes) {
      throw new StoreError("The outbox is full (outbox_max_bytes)", this.#directory);
    }
    this.#bytes += framed.length;
    Atomics.add(this.#counter, 0, records.length);
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    this.#waiting.push({ framed, count: records.length, resolve, reject });
    this.#writing ??= this.#write();
    await promise;
  }

  /** Writes what waits; never rejects: each caller gets the error. */
  async #write(): Promise<void> {
    await Promise.resolve(); // what comes in this turn is one write
    const waiting = this.#waiting;
    this.#waiting = [];
    try {
      const file = this.#file ?? this.#open();
      const bytes = joinBytes(waiting.map(({ framed }) => framed));
      appendFrame(file, bytes);
      await file.syncData();
      this.#fileBytes += bytes.length;
      if (this.#fileBytes >= FILE_BYTES || this.#isWanted) this.#close();
      for (const { resolve } of waiting) resolve();
    } catch (error) {
      this.#takeBack(waiting);
      const failure = new StoreError(
        `The outbox ${this.#directory} cannot be written: ${messageOf(error)}`,
        this.#directory,
        { cause: error },
      );
      for (const { reject } of waiting) reject(failure);
    }
    this.#writing = this.#waiting.length > 0 ? this.#write() : undefined;
  }

  /** None of these is stored: the room for them is free again. */
  #takeBack(waiting: readonly Waiting[]): void {
    const path = `${this.#directory}/${this.#name}`;
    try {
      // On a disk that is full each attempt would leave a file.
      if (this.#fileBytes === 0) removeIfExists(path);
      else this.#file?.truncateSync(this.#fileBytes);
    } catch (error) {
      // Whole ones of them are stored later, which does no harm.
      this.#log(`${path} cannot be made shorter: ${messageOf(error)}`);
    }
    // The last record may be incomplete, so nothing may follow it.
    this.#close();
    for (const { framed, count } of waiting) this.#free(framed.length, count);
  }

  #free(bytes: number, count: number): void {
    this.#bytes = Math.max(0, this.#bytes - bytes);
    Atomics.store(this.#counter, 0, Math.max(0, this.count - count));
  }

  #open(): Deno.FsFile {
    makeDirectorySynced(this.#directory);
    this.#last = Math.max(this.#last + 1, Date.now());
    this.#isWanted = false;
    const name = this.#name = `${String(this.#last).padStart(20, "0")}.log`;
    const file = this.#file = Deno.openSync(`${this.#directory}/${name}`, {
      append: true,
      createNew: true,
      mode: 0o600,
    });
    syncDirectory(this.#directory);
    return file;
  }

  #close(): void {
    this.#file?.close();
    this.#file = undefined;
    this.#name = "";
    this.#fileBytes = 0;
  }

  /**
   * Gives the records that are in it, the oldest first, and removes them when they are stored. Those that come
   * meanwhile may stay.
   * @param store Stores some; what it throws ends this, and they stay.
   */
  async empty(store: (records: readonly Value[]) => Promise<void>): Promise<void> {
    if (this.#writing === undefined) this.#close();
    else this.#isWanted = true;
    for (const name of outboxFiles(this.#directory).filter((name) => name !== this.#name)) {
      const { records, bytes } = readFile(this.#directory, name);
      await store(records.flatMap((record) => this.#decoded(record, name) ?? []));
      removeIfExists(`${this.#directory}/${name}`);
      this.#free(bytes, records.length);
    }
  }

  #decoded(record: Uint8Array, name: string): Value | undefined {
    try {
      return decode(record, "disk");
    } catch (error) {
      if (!(error instanceof MsgpackError)) throw error;
      this.#log(`A record of ${this.#directory}/${name} cannot be read: ${error.message}`);
      return undefined;
    }
  }

  /** Resolves when nothing is being written. */
  async idle(): Promise<void> {
    while (this.#writing !== undefined) await this.#writing;
  }

  /** Writes what waits, and closes the file. */
  async close(): Promise<void> {
    await this.idle();
    this.#close();
  }
}
