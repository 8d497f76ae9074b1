/**
 * The job store of commands and runners: with `master_job_cache: postgresql` the master that runs is asked.
 * @module
 */

import type { MasterOpts } from "#lib/config/options.ts";
import type { JobStore } from "#lib/jobs/store.ts";
import type { StoreLog } from "#lib/os/store_files.ts";
import { LateRows } from "#lib/stores/late_rows.ts";
import { openJobStore } from "#lib/stores/open_store.ts";
import { jobStoreKind } from "#lib/stores/store_options.ts";

/** The jobs of the master with these options, for a process of its own on the same host. */
export function commandStore(opts: MasterOpts, { log }: { readonly log: StoreLog }): JobStore {
  if (jobStoreKind(opts) !== "postgresql") return openJobStore(opts, { log });
  const rows = new LateRows(async () => new (await import("./asked_rows.ts")).AskedRows(opts));
  return openJobStore(opts, { log, rows });
}
