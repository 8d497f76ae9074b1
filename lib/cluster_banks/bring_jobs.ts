/**
 * Brings the jobs of a master that stood alone into the database of its cluster, in the background of its first start.
 * @module
 */

import { clusterDirectory } from "#lib/config/master_paths.ts";
import type { MasterOpts } from "#lib/config/options.ts";
import { StoreError } from "#lib/errors.ts";
import { readTextFileIfExists, writeFileAtomic } from "#lib/os/atomic_file.ts";
import { isDirectory } from "#lib/os/file_kind.ts";
import type { Logger } from "#lib/runtime/log.ts";
import { copyJobs } from "#lib/stores/move_jobs.ts";
import { openJobStore } from "#lib/stores/open_store.ts";

/**
 * Brings those that are not older than `keep_jobs_seconds`, once. What fails is logged, and tried again by the next
 * start. Never rejects.
 */
export async function bringJobs(opts: MasterOpts, log: Logger): Promise<void> {
  const done = `${clusterDirectory(opts.cachedir)}/jobs_brought`;
  if (!isDirectory(`${opts.cachedir}/jobs`) || readTextFileIfExists(done) !== undefined) return;
  const from = openJobStore({ ...opts, master_job_cache: "local_cache" }, { log: log.warning });
  const to = openJobStore(opts, { log: log.warning });
  try {
    const sinceMs = opts.keep_jobs_seconds > 0 ? Date.now() - opts.keep_jobs_seconds * 1000 : 0;
    const { jobs, returns } = await copyJobs(from, to, sinceMs);
    writeFileAtomic(done, "", { makeDirectory: true });
    log.warning(`The database has the jobs of this master's files: ${jobs} jobs and ${returns} returns are new there`);
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
    log.error(`Not all jobs of this master's files are in the database, which the next start tries: ${error.message}`);
  } finally {
    await Promise.all([from.close(), to.close()]);
  }
}
