/**
 * The cluster for a process of its own on a master's host (`salt-run`, `salt-key`, hosts of runners): it connects by
 * itself, as this master, whether the master runs or not.
 * @module
 */

import type { MasterOpts } from "#lib/config/options.ts";
import { PreflightError } from "#lib/errors.ts";
import { warningLogger } from "#lib/runtime/log.ts";
import { readCluster } from "./cluster_cache.ts";
import type { ClusterDatabase } from "./cluster_database.ts";
import { clusterOpts } from "./cluster_opts.ts";
import type { RootKeys } from "./cluster_secrets.ts";
import { PostgresCluster } from "./postgres_cluster.ts";
import { openedRoot } from "./secret_rows.ts";

/** How long a command waits for a database that is away, in milliseconds. */
const COMMAND_WAIT_MS = 1_000;

/** What a process has of its cluster until it disposes of it. */
export interface OpenCluster extends AsyncDisposable {
  readonly database: ClusterDatabase;
  /** Computed when first asked for, which takes 0.2 s. */
  readonly keys: RootKeys;
}

/**
 * Opens the cluster that the options name; nothing is connected yet.
 * @param warn Logs what goes wrong besides.
 * @param waitMs How long it waits for a database that is away, in milliseconds.
 * @throws {PreflightError} If the options make no cluster, or this master has never joined it.
 */
export function openClusterDatabase(
  opts: MasterOpts,
  warn: (text: string) => void,
  waitMs = COMMAND_WAIT_MS,
): OpenCluster {
  const cluster = clusterOpts(opts);
  const remembered = readCluster(cluster.cachedir);
  if (remembered === undefined || remembered.id !== cluster.id) {
    throw new PreflightError(`This master has not joined the cluster ${cluster.id}: start it first`);
  }
  const database = new PostgresCluster({
    ...cluster,
    waitMs,
    identity: remembered,
    log: warningLogger(warn),
  });
  let keys: RootKeys | undefined;
  return {
    database,
    get keys() {
      return keys ??= openedRoot(cluster, remembered.root);
    },
    [Symbol.asyncDispose]: () => database.close(),
  };
}
