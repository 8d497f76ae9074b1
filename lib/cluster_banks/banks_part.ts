/**
 * What the Cluster thread does about keys of minions, their data, and tokens.
 * @module
 */

import type { ClusterContext, ClusterPart } from "#lib/cluster/cluster_part.ts";
import { messageOf } from "#lib/errors.ts";
import { SharedState } from "./shared_state.ts";

/** Follows what other masters change, gives what changes here, and changes keys for the other threads. */
export function banksPart({ opts, database, keys, log, flags }: ClusterContext): ClusterPart {
  const state = new SharedState(opts, { db: database, keys, log, maintains: () => flags.holds("maintenance") });
  state.start();
  void import("./bring_jobs.ts").then(({ bringJobs }) => bringJobs(opts, log)).catch((error) =>
    log.error(`Jobs of this master's files are not brought into the database: ${messageOf(error)}`)
  );
  return {
    handlers: { changeKeys: (steps) => state.bank.change(steps) },
    close: () => state.close(),
  };
}
