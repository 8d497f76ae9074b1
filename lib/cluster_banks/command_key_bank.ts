/**
 * Changes of keys of a cluster by a process of its own.
 * @module
 */

import type { RootKeys } from "#lib/cluster/cluster_secrets.ts";
import { openClusterDatabase } from "#lib/cluster/open_cluster.ts";
import type { MasterOpts } from "#lib/config/options.ts";
import type { KeyBank } from "#lib/keys/key_bank.ts";
import { warningLogger } from "#lib/runtime/log.ts";
import { clusterKeyBank, keyMirror } from "./shared_state.ts";

/** The bank of a process that has no connection: each call makes one, and ends it. */
export function commandKeyBank(
  opts: MasterOpts,
  { by, warn }: { readonly by: string; readonly warn: (text: string) => void },
): KeyBank {
  let known: RootKeys | undefined;
  const connected = async <T>(run: (bank: KeyBank) => Promise<T>): Promise<T> => {
    // As long as a job waits: a restart of the database is no failure.
    await using cluster = openClusterDatabase(opts, warn, opts.job_store_wait * 1000);
    const { database: db } = cluster, keys = known ??= cluster.keys;
    const mirror = keyMirror(opts, { db, keys, log: warningLogger(warn) });
    return await run(clusterKeyBank(opts, { db, keys, mirror, by, waits: true }));
  };
  return {
    refresh: () => connected((bank) => bank.refresh()),
    change: (steps) => connected((bank) => bank.change(steps)),
  };
}
