/**
 * What the commands of a watched job have written so far, beside its returns in the job cache: a file for each minion in
 * `.live`, which Salt's tools pass over. It goes when the job goes.
 *
 * A file is a row of records: four bytes with the length, then a batch (lib/protocol/live_batch.ts) in msgpack. Several threads may
 * append to it: each locks it, and a batch whose number is not above the last one is a duplicate.
 * @module
 */

import { readFileIfExists } from "../os/atomic_file.ts";
import { appendFrame, frameRecord, readRecords, type RecordForm } from "../os/record_file.ts";
import { MsgpackError, StoreError } from "../errors.ts";
import { isJid, jidDirectory } from "../protocol/jid.ts";
import { batchFromMap, batchToMap, type LiveBatch } from "../protocol/live_batch.ts";
import { isValidId } from "../protocol/minion_id.ts";
import { decode, encode } from "../values/msgpack.ts";
import { BoundedMap } from "../values/bounded_map.ts";

/** What became of a batch: `refused` where nobody watches the job, or where as much is kept as may be. */
export type Appended = "stored" | "duplicate" | "refused";

/** The state of a file, as far as appending needs it. */
interface Written {
  /** Its length; another one than the file has means that another thread wrote. */
  readonly size: number;
  /** The number of its last batch. */
  readonly seq: number;
}

const FORM: RecordForm = { checked: false };
/** Files whose state is remembered. */
const REMEMBERED = 1_000;

/** The outputs of one master's jobs. */
export class JobOutputs {
  readonly #root: string;
  readonly #hashType: string;
  readonly #maxBytes: number;
  readonly #known = new BoundedMap<string, Written>(REMEMBERED);

  /** Reads and writes beside the job cache in `cachedir`. @param options.maxBytes How long a file may grow. */
  constructor(cachedir: string, options: { readonly hashType: string; readonly maxBytes: number }) {
    this.#root = `${cachedir}/jobs`;
    this.#hashType = options.hashType;
    this.#maxBytes = options.maxBytes;
  }

  /** Says that job `jid`, whose directory is there, is watched. @throws {StoreError} If that cannot be written. */
  open(jid: string): void {
    const directory = this.#directory(jid);
    try {
      Deno.mkdirSync(directory, { mode: 0o700 });
    } catch (error) {
      if (!(error instanceof Deno.errors.AlreadyExists)) throw storeError(error, directory);
    }
  }

  /** Whether something of minion `id` is kept. */
  has(jid: string, id: string): boolean {
    return isJid(jid) && isValidId(id) &&
      readable(() => Deno.statSync(`${this.#directory(jid)}/${id}`).isFile) === true;
  }

  /**
   * Keeps a batch.
   * @throws {StoreError} If it cannot be written.
   */
  append(jid: string, id: string, batch: LiveBatch): Appended {
    if (!isJid(jid) || !isValidId(id)) return "refused";
    const path = `${this.#directory(jid)}/${id}`;
    let file: Deno.FsFile;
    try {
      file = Deno.openSync(path, { read: true, append: true, create: true, mode: 0o600 });
    } catch (error) {
      if (error instanceof Deno.errors.NotFound) return "refused"; // nobody watches
      throw storeError(error, path);
    }
    try {
      file.lockSync(true);
      return this.#appendTo(file, path, batch);
    } catch (error) {
      this.#known.delete(path);
      throw storeError(error, path);
    } finally {
      file.close();
    }
  }

  #appendTo(file: Deno.FsFile, path: string, batch: LiveBatch): Appended {
    const { size } = file.statSync();
    const { size: whole, seq } = this.#state(path, size);
    // A record that was cut off, by a full disk or a killed master, ends what can be read: it goes.
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
    const known = this.#known.get(path);
    if (known?.size === size) return known;
    const { records, bytes } = readRecords(Deno.readFileSync(path), FORM, readBatch);
    return { size: bytes, seq: records.at(-1)?.seq ?? 0 };
  }

  /** What is kept of minion `id`, in the order in which it was written. */
  read(jid: string, id: string): LiveBatch[] {
    if (!isJid(jid) || !isValidId(id)) return [];
    const bytes = readFileIfExists(`${this.#directory(jid)}/${id}`);
    return bytes === undefined ? [] : readRecords(bytes, FORM, readBatch).records;
  }

  /** The minions of which something is kept. */
  ids(jid: string): string[] {
    if (!isJid(jid)) return [];
    return readable(() => [...Deno.readDirSync(this.#directory(jid))].map(({ name }) => name).filter(isValidId)) ?? [];
  }

  #directory(jid: string): string {
    return `${this.#root}/${jidDirectory(jid, this.#hashType)}/.live`;
  }
}

function readBatch(bytes: Uint8Array): LiveBatch | undefined {
  try {
    return batchFromMap(decode(bytes, "disk"));
  } catch (error) {
    if (error instanceof MsgpackError) return undefined;
    throw error;
  }
}

/** What `read` gives; `undefined` where there is no such file. */
function readable<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return undefined;
    throw error;
  }
}

function storeError(cause: unknown, path: string): StoreError {
  const reason = cause instanceof Error ? cause.message : cause;
  return new StoreError(`Cannot keep what a command wrote: ${reason}`, path, { cause });
}
