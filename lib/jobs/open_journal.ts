/**
 * The journals of a master's threads, with records of jobs, returns and undelivered jobs. They are appended by the code
 * that writes the files, and replayed when the next master starts.
 * @module
 */

import type { MasterOpts } from "#lib/config/options.ts";
import { Journal, type JournalOptions } from "#lib/os/journal.ts";
import type { Logger } from "#lib/runtime/log.ts";

/** Where the journals are, and what they are about. */
export function journalOptions({ cachedir }: MasterOpts, log: Logger): JournalOptions {
  return {
    directory: `${cachedir}/journal`,
    files: [cachedir, `${cachedir}/jobs`, `${cachedir}/undelivered`],
    log: log.error,
  };
}

/** The journal of one thread; `undefined` with `durability: process`. */
export function masterJournal(opts: MasterOpts, log: Logger): Journal | undefined {
  return opts.durability === "machine" ? new Journal(journalOptions(opts, log)) : undefined;
}
