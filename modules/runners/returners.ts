/**
 * Runner `returners`: what returners of the master do. Not in Salt.
 * @module
 */

import { runner, runnerDoc, type RunnerFunction } from "#lib/client/runner_context.ts";
import { eventLogDirectory, returnersDirectory } from "#lib/config/master_paths.ts";
import type { MasterOpts } from "#lib/config/options.ts";
import { EventLogReader } from "#lib/event_log/reader.ts";
import { type EventOption, readPosition } from "#lib/returners/event_position.ts";
import { returnerNames } from "#lib/returners/names.ts";
import { map, type Value, type ValueMap } from "#lib/values/value.ts";

const OPTIONS: readonly EventOption[] = ["event_return", "master_return"];

export const status: RunnerFunction = runner({
  doc: runnerDoc(
    `Show the returners of the options event_return and master_return: how many events of the log they still have to read, since
when the oldest of them waits, what was stored and lost, and the last error.`,
    "returners.status",
  ),
  params: {},
  run(_, { opts }) {
    return map(Object.fromEntries(OPTIONS.map((option) => [
      option,
      map(Object.fromEntries(returnerNames(opts[option]).names.map((name) => [name, statusOf(option, name, opts)]))),
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
