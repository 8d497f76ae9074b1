/**
 * Changes of keys of a cluster by a process of its own.
 * @module
 */

import { openClusterDatabase } from "#lib/cluster/open_cluster.ts";
import type { MasterOpts } from "#lib/config/options.ts";
import type { KeyStep } from "#lib/keys/key_bank.ts";
import { warningLogger } from "#lib/runtime/log.ts";
import { clusterKeyBank, keyMirror } from "./shared_state.ts";

/**
 * Connects, makes the changes, waits until all live masters follow, and ends the connections.
 * @throws As {@linkcode KeyBank}.
 */
export async function changeByCommand(
  opts: MasterOpts,
  steps: readonly KeyStep[],
  { by, warn }: { readonly by: string; readonly warn: (text: string) => void },
): Promise<boolean[]> {
  await using cluster = openClusterDatabase(opts, warn);
  const { database: db, keys } = cluster;
  const mirror = keyMirror(opts, { db, keys, log: warningLogger(warn) });
  return await clusterKeyBank(opts, { db, keys, mirror, by, waits: true }).change(steps);
}
