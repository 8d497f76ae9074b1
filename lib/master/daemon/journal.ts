/**
 * Replays the journals of the last master: jobs, returns, and undelivered jobs.
 * @module
 */

import { messageOf } from "#lib/errors.ts";
import { readMoment } from "#lib/os/moment.ts";
import { journalOptions } from "#lib/jobs/open_journal.ts";
import { checkDurability, replayJournal } from "#lib/os/journal.ts";
import { openJobStore } from "#lib/stores/open_store.ts";
import type { Logger } from "#lib/runtime/log.ts";
import type { MasterOpts } from "#lib/config/options.ts";
import { UndeliveredJobs } from "#lib/jobs/undelivered.ts";

/**
 * Restores what a power failure took from the files of the last master, also with `process` if that master ran with
 * `machine`. Call it before any thread reads the files.
 * @throws {PreflightError} If this system cannot provide `durability`.
 */
export async function restoreFromJournal(opts: MasterOpts, masterPem: string, log: Logger): Promise<void> {
  checkDurability(opts);
  const jobs = openJobStore(opts, { log: log.error });
  let undelivered: UndeliveredJobs | undefined;
  try {
    const count = await replayJournal(journalOptions(opts, log), async (record) => {
      if (await jobs.restore(record)) return;
      undelivered ??= new UndeliveredJobs(opts.cachedir, masterPem);
      if (!undelivered.restore(record, readMoment())) {
        log.error("A record of the journal has a kind that this version does not know");
      }
    });
    if (count > 0) log.info(`Read ${count} records of the journal that the last master left`);
  } catch (error) {
    log.error(`The journal stays for the next start: ${messageOf(error)}`);
  }
}
