/**
 * The stores of a master. A log line of a store fails the test, unless the test passes its own log.
 * @module
 */

import { DataCache } from "#lib/fleet/data_cache.ts";
import { fileJobStore, type FileJobStoreOptions } from "#lib/jobs/file_store.ts";
import type { JobStore } from "#lib/jobs/store.ts";

/** @throws Always: no test expects a log line of a store. */
function refuse(message: string, cause?: unknown): never {
  throw new Error(message, { cause });
}

/** The jobs below `cachedir`, with Salt's defaults. */
export function jobStore(cachedir: string, options: Partial<FileJobStoreOptions> = {}): JobStore {
  const defaults = { hashType: "sha256", uniqueJid: false, maxOutputBytes: 2 ** 20, log: refuse };
  return fileJobStore({ cachedir, ...defaults, ...options });
}

/** The minion data cache below `cachedir`. */
export function dataCache(cachedir: string, log: FileJobStoreOptions["log"] = refuse): DataCache {
  return new DataCache(cachedir, { log });
}
