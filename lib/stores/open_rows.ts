/**
 * The rows of jobs in the database that a master's options name, opened by this thread.
 * @module
 */

import type { JobRows } from "./rows.ts";
import { SqliteRows } from "./sqlite_rows.ts";
import { sqlitePath, type StoreOpts } from "./store_options.ts";

/** The rows; nothing is opened yet. */
export function openRows(opts: StoreOpts): JobRows {
  return new SqliteRows({
    path: sqlitePath(opts),
    synced: opts.durability === "machine",
    waitMs: opts.job_store_wait * 1000,
  });
}
