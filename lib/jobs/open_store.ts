/**
 * The job store that a master's options ask for. There is one kind: the files of Salt's `local_cache`.
 * @module
 */

import { fileJobStore } from "./file_store.ts";
import type { MasterOpts } from "#lib/config/options.ts";
import type { RecordTaker } from "#lib/os/journal.ts";
import type { JobStore } from "./store.ts";
import type { StoreLog } from "#lib/os/store_files.ts";

/** The options that say where jobs are kept, and how. */
export type JobStoreOpts = Pick<MasterOpts, "cachedir" | "hash_type" | "unique_jid" | "live_output_max">;

/**
 * The jobs of the master whose options are given.
 * @param parts.log Logs what cannot be read or stored.
 * @param parts.journal Gets a record of everything that is stored; its errors are thrown to the caller. Default: none.
 */
export function openJobStore(
  opts: JobStoreOpts,
  parts: { readonly log: StoreLog; readonly journal?: RecordTaker },
): JobStore {
  return fileJobStore({
    cachedir: opts.cachedir,
    hashType: opts.hash_type,
    uniqueJid: opts.unique_jid,
    maxOutputBytes: opts.live_output_max,
    ...parts,
  });
}
