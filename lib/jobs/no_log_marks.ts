/**
 * Which jobs are `no_log`: a file `.no_log` in the job's directory, which Salt's tools ignore. It holds the public key
 * that returns are sealed for, or nothing. For every return, from any minion in any MWorker, the master uses this mark.
 * @module
 */

import type { JobDirectories } from "./directory.ts";
import type { RecordTaker } from "#lib/os/journal.ts";
import { masterRecord } from "./journal_record.ts";
import { BoundedMap } from "#lib/values/bounded_map.ts";
import { storing } from "#lib/os/store_files.ts";
import type { NoLogStore } from "./store.ts";

const FILE = ".no_log";
/** Number of jobs for which the result is cached. */
const MAX_CACHED = 1_000;

/** The marks of one master, in files. */
export class NoLogMarks implements NoLogStore {
  readonly #directories: JobDirectories;
  readonly #journal: RecordTaker | undefined;
  /** Read once per job: the mark exists before the job is published. */
  readonly #known = new BoundedMap<string, { readonly reader: string | undefined }>(MAX_CACHED);

  /**
   * Reads and writes in the directories of jobs.
   * @param journal Gets a record of each mark.
   */
  constructor(directories: JobDirectories, journal?: RecordTaker) {
    this.#directories = directories;
    this.#journal = journal;
  }

  /** As {@linkcode NoLogStore} says. */
  save(jid: string, reader: string): void {
    const directory = this.#directories.of(jid);
    storing(`mark job ${jid} as no_log`, `${directory.path}/${FILE}`, () => {
      directory.write(FILE, reader);
      this.#journal?.append(masterRecord("hidden", { jid, reader }));
    });
    this.#known.set(jid, { reader });
  }

  /** As {@linkcode NoLogStore} says. */
  reader(jid: string): string | undefined {
    const mark = this.#known.get(jid);
    if (mark !== undefined) return mark.reader;
    const directory = this.#directories.find(jid);
    if (directory === undefined) return undefined;
    const reader = directory.readText(FILE);
    this.#known.set(jid, { reader });
    return reader;
  }
}
