/**
 * Finds the reactions that a reactor had started before it was killed.
 * @module
 */

import { tagEnd } from "#lib/bus/event.ts";
import { eventLogDirectory } from "#lib/config/master_paths.ts";
import type { MasterOpts } from "#lib/config/options.ts";
import { EventLogReader } from "#lib/event_log/reader.ts";

/** Number of events that are searched for the beginnings of reactions that a predecessor took over. */
const SEARCHED = 100_000;

/**
 * Whether a reaction was started by a predecessor that was killed before it could note that: its job is in the job
 * cache, or its first event in the event log.
 */
export function findStarted(
  opts: MasterOpts,
  isStored: (jid: string) => Promise<boolean>,
): (taken: { jid: string }) => Promise<boolean> {
  let begun: Set<string> | undefined;
  return async ({ jid }) => await isStored(jid) || (begun ??= begunJobs(opts)).has(jid);
}

/** The ids of the jobs and functions whose `new` events are among the last events of the log. */
function begunJobs(opts: MasterOpts): Set<string> {
  const found = new Set<string>();
  const decoder = new TextDecoder();
  using reader = new EventLogReader(eventLogDirectory(opts.cachedir));
  reader.seekEnd();
  reader.seek(Math.max(0, reader.next - SEARCHED));
  for (let batch = reader.read(); batch.events.length > 0; batch = reader.read()) {
    for (const { frame } of batch.events) {
      const tag = decoder.decode(frame.subarray(0, Math.max(0, tagEnd(frame))));
      const jid = /^salt\/(?:job|run|wheel)\/(\d{20})\/new$/.exec(tag)?.[1];
      if (jid !== undefined) found.add(jid);
    }
  }
  return found;
}
