/**
 * The rows of jobs in the database that a master's options name, opened by this thread.
 * @module
 */

import type { Logger } from "#lib/runtime/log.ts";
import { OutboxRows } from "./outbox_rows.ts";
import { DatabaseAwayError } from "./postgres_connection.ts";
import { postgresOptions } from "./postgres_options.ts";
import { PostgresRows } from "./postgres_rows.ts";
import { outboxDirectory, RecordOutbox } from "./record_outbox.ts";
import type { JobRows } from "./rows.ts";
import { SqliteRows } from "./sqlite_rows.ts";
import { jobStoreKind, sqlitePath, type StoreOpts } from "./store_options.ts";

/** How long a process of its own waits for a database that is away, in milliseconds. */
const COMMAND_WAIT_MS = 1_000;

/** The rows, for a process of its own; nothing is opened yet. */
export function openRows(opts: StoreOpts): JobRows {
  return jobStoreKind(opts) === "sqlite" ? sqliteRows(opts) : postgresRows(opts, COMMAND_WAIT_MS);
}

function sqliteRows(opts: StoreOpts): SqliteRows {
  return new SqliteRows({
    path: sqlitePath(opts),
    synced: opts.durability === "machine",
    waitMs: opts.job_store_wait * 1000,
  });
}

function postgresRows(opts: StoreOpts, waitMs: number): PostgresRows {
  return new PostgresRows({ connection: postgresOptions(opts), waitMs, keepSeconds: opts.keep_jobs_seconds });
}

/** What the thread that has the database of a master needs. */
export interface MasterRowsParts {
  readonly log: Logger;
  /** Memory in which other threads see the number of records in the outbox. */
  readonly outboxCounter?: SharedArrayBuffer;
  /** Tells that the database went away or is back. */
  readonly onChange: (change: "away" | "back", outbox: number) => void;
}

/**
 * The rows for a master's thread: opened, and with the outbox of this master.
 * @throws {StoreError} If the database refuses; one that is away does not.
 */
export async function openMasterRows(
  opts: StoreOpts,
  { log, outboxCounter, onChange }: MasterRowsParts,
): Promise<JobRows> {
  if (jobStoreKind(opts) === "sqlite") {
    const rows = sqliteRows(opts);
    rows.open();
    return rows;
  }
  const rows = postgresRows(opts, opts.job_store_wait * 1000);
  const outbox = new RecordOutbox({
    directory: outboxDirectory(opts),
    maxBytes: opts.outbox_max_bytes,
    log: log.error,
    ...outboxCounter !== undefined && { counter: outboxCounter },
  });
  const withOutbox = new OutboxRows({ rows, probe: () => rows.open(), outbox, log, onChange });
  try {
    await rows.open();
    withOutbox.start();
  } catch (error) {
    if (!(error instanceof DatabaseAwayError)) {
      await rows.close();
      throw error;
    }
    withOutbox.start(error.message);
  }
  return withOutbox;
}
