/**
 * The job store that a master's options ask for: the files of Salt's `local_cache`, or a database.
 *
 * Threads of a master reach a database through the one thread that has it (store_thread.ts); a process of its own opens
 * it itself, when something is first asked for.
 * @module
 */

import { asyncJobStore } from "#lib/jobs/async_store.ts";
import { fileJobStore } from "#lib/jobs/file_store.ts";
import type { RecordTaker } from "#lib/os/journal.ts";
import type { JobStore } from "#lib/jobs/store.ts";
import type { StoreLog } from "#lib/os/store_files.ts";
import type { JobRows } from "./rows.ts";
import { rowJobStore } from "./row_store.ts";
import { jobStoreKind, type StoreOpts } from "./store_options.ts";
import { LateRows } from "./late_rows.ts";

/** The options that say where jobs are kept, and how. */
export type JobStoreOpts = StoreOpts;

/** What a store is opened with. */
export interface JobStoreParts {
  /** Logs what cannot be read or stored. */
  readonly log: StoreLog;
  /** Gets a record of everything that is stored in files; its errors are thrown to the caller. Default: none. */
  readonly journal?: RecordTaker;
  /** The rows of the database behind the thread that has it. Default: this process opens it. */
  readonly rows?: JobRows;
  /** Called before each wait for a database. */
  readonly onWait?: () => void;
}

/** The jobs of the master whose options are given. */
export function openJobStore(opts: JobStoreOpts, { log, journal, rows, onWait }: JobStoreParts): JobStore {
  if (jobStoreKind(opts) === "local_cache") {
    return asyncJobStore(fileJobStore({
      cachedir: opts.cachedir,
      hashType: opts.hash_type,
      uniqueJid: opts.unique_jid,
      maxOutputBytes: opts.live_output_max,
      log,
      ...journal !== undefined && { journal },
    }));
  }
  return rowJobStore(rows ?? new LateRows(async () => (await import("./open_rows.ts")).openRows(opts)), {
    uniqueJid: opts.unique_jid,
    maxOutputBytes: opts.live_output_max,
    log,
    ...onWait !== undefined && { onWait },
  });
}
