/**
 * The stores of a master. A log line of a store fails the test, unless the test passes its own log.
 * @module
 */

import { DataCache } from "#lib/fleet/data_cache.ts";
import { fileJobStore, type FileJobStoreOptions } from "#lib/jobs/file_store.ts";
import type { JobEntry, SyncJobStore } from "#lib/jobs/store.ts";
import { compareStrings } from "#lib/values/value.ts";

/** @throws Always: no test expects a log line of a store. */
function refuse(message: string, cause?: unknown): never {
  throw new Error(message, { cause });
}

/** Jobs in files, read without waiting. */
export interface StoredJobs extends SyncJobStore {
  /** Every job with a load, the oldest first. */
  list(): JobEntry[];
}

/** The jobs below `cachedir`, with Salt's defaults. */
export function jobStore(cachedir: string, options: Partial<FileJobStoreOptions> = {}): StoredJobs {
  const defaults = { hashType: "sha256", uniqueJid: false, maxOutputBytes: 2 ** 20, log: refuse };
  const store = fileJobStore({ cachedir, ...defaults, ...options });
  return Object.assign(store, { list: () => [...store.walk()].sort((a, b) => compareStrings(a.jid, b.jid)) });
}

/** The minion data cache below `cachedir`. */
export function dataCache(cachedir: string, log: FileJobStoreOptions["log"] = refuse): DataCache {
  return new DataCache(cachedir, { log });
}
