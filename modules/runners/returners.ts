/**
 * Runner `returners`: what returners of the master do. Not in Salt.
 * @module
 */

import { runner, runnerDoc, type RunnerFunction } from "#lib/client/runner_context.ts";
import { eventLogDirectory, returnersDirectory } from "#lib/config/master_paths.ts";
import type { MasterOpts } from "#lib/config/options.ts";
import { EventLogReader } from "#lib/event_log/reader.ts";
import { type EventOption, readPosition } from "#lib/returners/event_position.ts";
import { EVENT_OPTIONS, masterReturners } from "#lib/returners/master_returners.ts";
import { map, type Value, type ValueMap } from "#lib/values/value.ts";

export const status: RunnerFunction = runner({
  doc: runnerDoc(
    `Show the returners of the options event_return, master_return, master_job_cache and ext_job_cache: how many events of the log they still have to read, since
when the oldest of them waits, what was stored and lost, and the last error.`,
    "returners.status",
  ),
  params: {},
  run(_, { opts }) {
    return map(Object.fromEntries(EVENT_OPTIONS.map((option) => [
      option,
      map(Object.fromEntries(
        masterReturners(option, opts).names.map((name) => [name, statusOf(option, name, opts)]),
      )),
    ])));
  },
});

function statusOf(option: EventOption, name: string, { cachedir }: MasterOpts): ValueMap {
  const position = readPosition(returnersDirectory(cachedir), option, name);
  using reader = new EventLogReader(eventLogDirectory(cachedir));
  const known = position !== undefined && position.log === reader.id;
  reader.seekEnd();
  const end = reader.next;
  let oldest: Value = null;
  const next = known ? position.number + 1 : end;
  if (next < end) {
    reader.seek(next);
    const [first] = reader.read().events;
    if (first !== undefined) oldest = new Date(first.ms).toISOString();
  }
  return map({
    waiting: Math.max(0, end - next),
    oldest,
    stored: position?.stored ?? 0,
    dropped: position?.dropped ?? 0,
    error: position?.error ?? "",
  });
}
