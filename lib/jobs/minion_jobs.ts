/**
 * `cache_jobs`: a minion's own copies of its returns, in `<cachedir>/minion_jobs/<jid>/return.p`, as Salt keeps them.
 * `saltutil.find_cached_job` reads them, and only `saltutil.clear_job_cache` removes them.
 * @module
 */

import { messageOf } from "#lib/errors.ts";
import { writeFileAtomic } from "#lib/os/atomic_file.ts";
import { isJid } from "#lib/protocol/jid.ts";
import type { Logger } from "#lib/runtime/log.ts";
import { encode } from "#lib/values/msgpack.ts";
import type { ValueMap } from "#lib/values/value.ts";

/** Fields of the request that brings a return to the master. Salt's copies do not have them. */
const OF_REQUEST: ReadonlySet<unknown> = new Set(["cmd", "id"]);

/**
 * Keeps a copy of a return, mode 0600. A failure is logged: the return itself is sent all the same.
 * @param returned Of a `no_log` job: as it is sent, so that its secret is not on the disk.
 */
export function cacheMinionJob(jid: string, returned: ValueMap, { cachedir, log }: {
  readonly cachedir: string;
  readonly log: Logger;
}): void {
  try {
    if (!isJid(jid)) throw new RangeError("its id is no job id");
    const copy = new Map([...returned].filter(([field]) => !OF_REQUEST.has(field))).set("jid", jid);
    const path = `${cachedir}/minion_jobs/${jid}/return.p`;
    writeFileAtomic(path, encode(copy, "disk"), { mode: 0o600, makeDirectory: true });
  } catch (error) {
    log.error(`The return of job ${jid} is not in the job cache of this minion (cache_jobs): ${messageOf(error)}`);
  }
}
