/**
 * The stores of a master, as tests open them: what they log is an error, unless the test takes the log.
 * @module
 */

import { DataCache } from "../../../lib/fleet/data_cache.ts";
import { fileJobStore, type FileJobStoreOptions } from "../../../lib/jobs/file_store.ts";
import type { JobStore } from "../../../lib/jobs/store.ts";

/** @throws Always: what a store logs is what no test has foreseen. */
function refuse(message: string, cause?: unknown): never {
  throw new Error(message, { cause });
}

/** The jobs below `cachedir`, with Salt's defaults. */
export function jobStore(cachedir: string, options: Partial<FileJobStoreOptions> = {}): JobStore {
  const defaults = { hashType: "sha256", uniqueJid: false, maxOutputBytes: 2 ** 20, log: refuse };
  return fileJobStore({ cachedir, ...defaults, ...options });
}

/** What is known of the minions below `cachedir`. */
export function dataCache(cachedir: string, log: FileJobStoreOptions["log"] = refuse): DataCache {
  return new DataCache(cachedir, { log });
}
