/**
 * The thread that keeps a master in order: old jobs out of the cache, the shared key rotated when it is due.
 *
 * It is started for each round and ends with it: at rest it costs no memory, and a large cache to clean holds up nobody.
 * Source: salt-protocol.md sections 4 and 8.
 * @module
 */

import { removeIfExists } from "./atomic_file.ts";
import { DROPFILE } from "./dropfile.ts";
import { StoreError } from "./errors.ts";
import { JobCache } from "./job_cache.ts";
import type { MasterOpts } from "./options.ts";
import { unpackOpts } from "./opts_transfer.ts";
import { serveThread, type ThreadHost } from "./thread.ts";

/** What a round of Maintenance starts with. */
export interface MaintenanceInit {
  /** The master's packed options. */
  readonly opts: Uint8Array;
  /** When the shared key was made, in milliseconds since the epoch. */
  readonly keyMadeMs: number;
}

/** What Maintenance asks its master to do. */
export interface RotateRequest {
  /** Why, for the log. */
  readonly rotate: string;
}

serveThread<MaintenanceInit>((init, host) => {
  const opts = unpackOpts<MasterOpts>(init.opts);
  const reason = rotationReason(opts, init.keyMadeMs, host);
  if (reason !== undefined) {
    const request: RotateRequest = { rotate: reason };
    host.post(request);
  }
  cleanJobs(new JobCache({ cachedir: opts.cachedir, hashType: opts.hash_type }), opts, host);
  return Promise.resolve({ describe: () => "done", close: () => Promise.resolve() });
});

function cleanJobs(jobs: JobCache, opts: MasterOpts, { log }: ThreadHost): void {
  const keepSeconds = opts.keep_jobs_seconds;
  if (keepSeconds === 0) return; // 0 keeps them for ever
  try {
    const removed = jobs.clean(Date.now(), keepSeconds);
    if (removed > 0) log.info(`Removed ${removed} old jobs from the cache`);
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
    log.error(`Could not clean the job cache: ${error.message}`);
  }
}

/** Why the shared key is to be rotated now, if it is: it is too old, or salt-key dropped a file that asks for it. */
function rotationReason(opts: MasterOpts, keyMadeMs: number, { log }: ThreadHost): string | undefined {
  const dropfile = `${opts.cachedir}/${DROPFILE}`;
  try {
    const { mode, isFile } = Deno.lstatSync(dropfile);
    // Only the owner can have made such a file: anything else is somebody's try to make all minions sign in again.
    if (isFile && mode !== null && (mode & 0o777) === 0o400) {
      const asker = Deno.readTextFileSync(dropfile).trim();
      removeIfExists(dropfile);
      if (asker === "" || asker === opts.id) return "a key was deleted or rejected";
      log.error(`Ignored ${dropfile}, which is meant for the master ${asker}`);
    } else {
      log.error(`Ignored ${dropfile}: it must be a file with mode 0400`);
    }
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
  }
  if (opts.publish_session > 0 && Date.now() - keyMadeMs > opts.publish_session * 1000) return "it is old enough";
  return undefined;
}
