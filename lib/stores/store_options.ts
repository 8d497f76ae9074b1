/**
 * The options of the stores of jobs.
 * @module
 */

import type { MasterOpts } from "#lib/config/options.ts";
import { PreflightError } from "#lib/errors.ts";
import { str, type ValueMap } from "#lib/values/value.ts";

/** The stores of a master's jobs. */
export const JOB_STORES = ["local_cache", "sqlite", "postgresql"] as const;

/** A store of a master's jobs. */
export type JobStoreKind = typeof JOB_STORES[number];

/** The options that say where jobs are kept. */
export type StoreOpts = Pick<
  MasterOpts,
  | "cachedir"
  | "hash_type"
  | "unique_jid"
  | "live_output_max"
  | "master_job_cache"
  | "durability"
  | "job_store_wait"
  | "outbox_max_bytes"
  | "sqlite"
  | "postgresql"
  | "keep_jobs_seconds"
>;

/**
 * The store that `master_job_cache` names. Names of returners, which store besides the files, mean `local_cache`.
 * @throws {PreflightError} If it names a database and something else.
 */
export function jobStoreKind({ master_job_cache }: Pick<MasterOpts, "master_job_cache">): JobStoreKind {
  const names = master_job_cache.split(",").map((name) => name.trim());
  const database = JOB_STORES.find((kind) => kind !== "local_cache" && names.includes(kind));
  if (database !== undefined && names.length > 1) {
    throw new PreflightError(
      `master_job_cache: ${database} is the store of all jobs, and stands alone; other returners can be named by event_return or ext_job_cache`,
    );
  }
  return database ?? "local_cache";
}

/** The file of `sqlite`. */
export function sqlitePath({ sqlite, cachedir }: Pick<StoreOpts, "sqlite" | "cachedir">): string {
  checkFields("sqlite", sqlite, ["path"]);
  const path = sqlite.get("path") ?? null;
  if (path === null) return `${cachedir}/jobs.sqlite`;
  if (typeof path !== "string" || !path.startsWith("/")) {
    throw new PreflightError("sqlite.path must be an absolute path, or null");
  }
  return path;
}

/** @throws {PreflightError} If an option of `option` is none. */
export function checkFields(option: string, given: ValueMap, names: readonly string[]): void {
  const unknown = [...given.keys()].map(str).find((name) => !names.includes(name));
  if (unknown === undefined) return;
  throw new PreflightError(`${option} has no option ${unknown}; it has ${names.join(", ")}`);
}
