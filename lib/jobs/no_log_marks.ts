/**
 * Which jobs are `no_log`, beside the job cache: a file `.no_log` in the job's directory, which Salt's tools pass over. It holds
 * the public key that returns are sealed for, or nothing. Of a return that comes, by whatever minion and to whatever MWorker,
 * the master goes by this.
 * @module
 */

import { readTextFileIfExists, writeFileAtomic } from "../os/atomic_file.ts";
import { StoreError } from "../errors.ts";
import { isJid, jidDirectory } from "../protocol/jid.ts";
import type { RecordTaker } from "../os/journal.ts";
import { masterRecord } from "./journal_record.ts";
import { BoundedMap } from "../values/bounded_map.ts";

/** Jobs whose mark, or lack of one, is known. */
const REMEMBERED = 1_000;

/** The marks of one master. */
export class NoLogMarks {
  readonly #root: string;
  readonly #hashType: string;
  readonly #journal: RecordTaker | undefined;
  /** Read once a job: the mark is there before the job is published. */
  readonly #known = new BoundedMap<string, { readonly reader: string | undefined }>(REMEMBERED);

  /** Reads and writes beside the job cache in `cachedir`. @param journal Told of each mark. */
  constructor(cachedir: string, hashType: string, journal?: RecordTaker) {
    this.#journal = journal;
    this.#root = `${cachedir}/jobs`;
    this.#hashType = hashType;
  }

  /**
   * Marks job `jid`, which is in the cache. @param reader The key that returns are sealed for; empty: nobody waits.
   * @throws {StoreError} If it cannot be written: then the job must not be published.
   */
  save(jid: string, reader: string): void {
    const path = this.#path(jid);
    try {
      writeFileAtomic(path, reader, { mode: 0o600, makeDirectory: true });
      this.#journal?.append(masterRecord("hidden", { jid, reader }));
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      throw new StoreError(`Cannot mark job ${jid} as no_log: ${reason}`, path, { cause: error });
    }
    this.#known.set(jid, { reader });
  }

  /** For whom the returns of job `jid` are sealed, as {@linkcode save} was told; `undefined` for a job that is not hidden. */
  reader(jid: string): string | undefined {
    if (!isJid(jid)) return undefined;
    const known = this.#known.get(jid);
    if (known !== undefined) return known.reader;
    const reader = readTextFileIfExists(this.#path(jid));
    this.#known.set(jid, { reader });
    return reader;
  }

  #path(jid: string): string {
    return `${this.#root}/${jidDirectory(jid, this.#hashType)}/.no_log`;
  }
}
