/**
 * The options of a master of a cluster, checked together.
 * @module
 */

import type { MasterOpts } from "#lib/config/options.ts";
import { PreflightError } from "#lib/errors.ts";
import { readTextFileIfExists } from "#lib/os/atomic_file.ts";
import { postgresOptions, type PostgresPlace } from "#lib/stores/postgres_options.ts";
import { jobStoreKind } from "#lib/stores/store_options.ts";

/** What a master of a cluster is told. */
export interface ClusterOpts {
  /** The name of the cluster. */
  readonly id: string;
  readonly secret: string;
  /** The name of this master. */
  readonly name: string;
  readonly leaseMs: number;
  readonly place: PostgresPlace;
  /** How long a write waits for the database, in milliseconds. */
  readonly waitMs: number;
  readonly keepSeconds: number;
  readonly cachedir: string;
}

/**
 * The options of a cluster.
 * @throws {PreflightError} In one sentence, if they make none.
 */
export function clusterOpts(opts: MasterOpts): ClusterOpts {
  const id = opts.cluster_id ?? "";
  if (id === "") throw new PreflightError("This master belongs to no cluster: cluster_id is not set");
  if (opts.postgresql.size === 0) {
    throw new PreflightError(`cluster_id: the cluster ${id} needs a database that all its masters use: set postgresql`);
  }
  if (jobStoreKind(opts) !== "postgresql") {
    throw new PreflightError(
      `master_job_cache: a cluster keeps its jobs in the database: remove the option, or set it to postgresql instead of ${opts.master_job_cache}`,
    );
  }
  if (opts.event_log === "none") {
    throw new PreflightError("event_log: a cluster needs the event log: remove the option, or set it to postgresql");
  }
  return {
    id,
    secret: secretOf(opts, id),
    name: opts.id,
    leaseMs: opts.cluster_lease * 1000,
    place: postgresOptions(opts),
    waitMs: opts.job_store_wait * 1000,
    keepSeconds: opts.keep_jobs_seconds,
    cachedir: opts.cachedir,
  };
}

function secretOf({ cluster_secret: secret, cluster_secret_file: file }: MasterOpts, id: string): string {
  if (secret !== null && secret !== "") return secret;
  if (file === null) {
    throw new PreflightError(
      `cluster_secret: the cluster ${id} needs a secret: set cluster_secret or cluster_secret_file, the same on each master`,
    );
  }
  const text = readTextFileIfExists(file)?.replace(/\r?\n$/, "");
  if (text === undefined || text === "") {
    throw new PreflightError(`cluster_secret_file: there is no secret in ${file}`);
  }
  return text;
}
