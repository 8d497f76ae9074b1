/**
 * Finds how far a reactor came with its reactions before it was killed.
 * @module
 */

import { tagEnd } from "#lib/bus/event.ts";
import { eventLogDirectory } from "#lib/config/master_paths.ts";
import type { MasterOpts } from "#lib/config/options.ts";
import { EventLogReader } from "#lib/event_log/reader.ts";
import type { Taken } from "#lib/reactor/journal.ts";

/** Number of events that are searched for the beginnings of reactions that a predecessor took over. */
const SEARCHED = 100_000;

/**
 * How far a predecessor came with a reaction before it was killed. `announced`: the first event of its job was fired,
 * but the job may not have been sent. Sent again under its id it is not run twice by minions that have it.
 */
export type Progress = "none" | "announced" | "started";

/**
 * Finds how far reactions are: a job that is in the job cache was sent, and a function whose first event is in the
 * event log was started.
 */
export function findProgress(
  opts: MasterOpts,
  isStored: (jid: string) => Promise<boolean>,
): (taken: Pick<Taken, "jid" | "reaction">) => Promise<Progress> {
  let begun: ReadonlySet<string> | undefined;
  return async ({ jid, reaction: { kind } }) => {
    if (await isStored(jid)) return "started";
    begun ??= begunJobs(opts);
    if (!begun.has(jid)) return "none";
    return kind === "local" ? "announced" : "started";
  };
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
