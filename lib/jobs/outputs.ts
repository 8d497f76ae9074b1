/**
 * Live output of a watched job, in its directory: a file for each minion in `.live`, which Salt's tools ignore.
 *
 * A file is a sequence of records (lib/os/record_file.ts), each a batch (lib/protocol/live_batch.ts) in msgpack.
 * Several threads may append to it: each locks it, and a batch whose number is not above the last one is a duplicate.
 * @module
 */

import type { JobDirectories } from "./directory.ts";
import { readFileIfExists } from "#lib/os/atomic_file.ts";
import { appendFrame, frameRecord, readRecords, type RecordForm } from "#lib/os/record_file.ts";
import { batchFromMap, batchToMap, type LiveBatch } from "#lib/protocol/live_batch.ts";
import { isValidId } from "#lib/protocol/minion_id.ts";
import { decodeIfWhole, encode } from "#lib/values/msgpack.ts";
import { BoundedMap } from "#lib/values/bounded_map.ts";
import { isFile } from "#lib/os/file_kind.ts";
import { storeError, storing } from "#lib/os/store_files.ts";
import type { Appended, OutputStore } from "./store.ts";

/** The state of a file, for appending. */
interface Written {
  /** Its length; if the file's length differs, another thread has written. */
  readonly size: number;
  /** The number of its last batch. */
  readonly seq: number;
}

const FOLDER = ".live";
const FORM: RecordForm = { checked: false };
/** Number of files whose state is cached. */
const MAX_CACHED = 1_000;

/** The failed action, for the text of an error. */
const KEEP = "keep what a command wrote";

/** The outputs of one master's jobs, in files. */
export class JobOutputs implements OutputStore {
  readonly #directories: JobDirectories;
  readonly #maxBytes: number;
  readonly #known = new BoundedMap<string, Written>(MAX_CACHED);

  /**
   * Reads and writes in the directories of jobs.
   * @param maxBytes How long a file may grow.
   */
  constructor(directories: JobDirectories, maxBytes: number) {
    this.#directories = directories;
    this.#maxBytes = maxBytes;
  }

  /** As {@linkcode OutputStore} says. */
  open(jid: string): void {
    const directory = this.#directories.of(jid);
    storing(KEEP, `${directory.path}/${FOLDER}`, () => directory.makeFolder(FOLDER));
  }

  /** As {@linkcode OutputStore} says. */
  has(jid: string, id: string): boolean {
    const path = this.#path(jid, id);
    return path !== undefined && isFile(path);
  }

  /** As {@linkcode OutputStore} says. */
  append(jid: string, id: string, batch: LiveBatch): Appended {
    const path = this.#path(jid, id);
    if (path === undefined) return "refused";
    let file: Deno.FsFile;
    try {
      file = Deno.openSync(path, { read: true, append: true, create: true, mode: 0o600 });
    } catch (error) {
      if (error instanceof Deno.errors.NotFound) return "refused"; // nobody watches
      throw storeError(KEEP, path, error);
    }
    try {
      file.lockSync(true);
      return this.#appendTo(file, path, batch);
    } catch (error) {
      this.#known.delete(path);
      throw storeError(KEEP, path, error);
    } finally {
      file.close();
    }
  }

  #appendTo(file: Deno.FsFile, path: string, batch: LiveBatch): Appended {
    const { size } = file.statSync();
    const { size: whole, seq } = this.#state(path, size);
    // An incomplete record, left by a full disk or a killed master, would end reading: it is removed.
    if (whole < size) file.truncateSync(whole);
    if (batch.seq <= seq) return "duplicate";
    if (whole >= this.#maxBytes) return "refused";
    const record = frameRecord(encode(batchToMap(batch), "disk"), FORM);
    appendFrame(file, record);
    this.#known.set(path, { size: whole + record.length, seq: batch.seq });
    return "stored";
  }

  #state(path: string, size: number): Written {
    if (size === 0) return { size: 0, seq: 0 };
    const state = this.#known.get(path);
    if (state?.size === size) return state;
    const { records, bytes } = readRecords(Deno.readFileSync(path), FORM, readBatch);
    return { size: bytes, seq: records.at(-1)?.seq ?? 0 };
  }

  /**
   * As {@linkcode OutputStore} says.
   * @throws What a read throws.
   */
  read(jid: string, id: string): LiveBatch[] {
    const path = this.#path(jid, id);
    const bytes = path === undefined ? undefined : readFileIfExists(path);
    return bytes === undefined ? [] : readRecords(bytes, FORM, readBatch).records;
  }

  /**
   * As {@linkcode OutputStore} says.
   * @throws {Deno.errors.PermissionDenied} If the user may not read the directory.
   */
  ids(jid: string): string[] {
    return (this.#directories.find(jid)?.namesIn(FOLDER) ?? []).filter(isValidId);
  }

  #path(jid: string, id: string): string | undefined {
    const directory = isValidId(id) ? this.#directories.find(jid) : undefined;
    return directory && `${directory.path}/${FOLDER}/${id}`;
  }
}

function readBatch(bytes: Uint8Array): LiveBatch | undefined {
  return batchFromMap(decodeIfWhole(bytes));
}
