/**
 * The events for `state.event`: from the master's event log where there is one that the user may read, so that none is
 * missed; else from the bus.
 * @module
 */

import { type BusEvent, readMatching } from "#lib/bus/event.ts";
import { LogFollower } from "#lib/bus/log_follower.ts";
import { watchBus } from "#lib/bus/watch.ts";
import { masterBus } from "#lib/bus/paths.ts";
import type { RunnerContext } from "#lib/client/runner_context.ts";
import { eventLogDirectory } from "#lib/config/master_paths.ts";
import { CommandError, NoMasterError } from "#lib/errors.ts";
import { offsetText } from "#lib/event_log/offset.ts";
import { seekSince } from "#lib/event_log/since.ts";
import { compileMatchExpression } from "#lib/text/expr_match.ts";

/** The wanted events. */
export interface EventQuery {
  /** A glob or a regular expression for tags. */
  readonly tags: string;
  /** Where to begin in the log; null: with what comes from now on. */
  readonly since: string | null;
  /** Whether the data have the event's offset. */
  readonly offsets: boolean;
  /** The publishing socket of the bus. */
  readonly bus: string;
  /** Whose bus. */
  readonly node: string;
}

/**
 * Begins to read.
 * @throws {CommandError} If the log is needed and cannot be read.
 * @throws {NoMasterError} If no bus is running there.
 */
export async function openEvents(query: EventQuery, context: RunnerContext): Promise<AsyncIterable<BusEvent>> {
  const needsLog = query.since !== null || query.offsets;
  const follower = await openLog(query, needsLog, context);
  if (follower !== undefined) return followed(follower, query, context);
  return watchBus(query.bus, {
    tags: query.tags,
    signal: context.signal,
    onMissed: (missed) => context.log("warning", `${missed} events were missed: they came faster than they are read`),
  });
}

async function openLog(
  { since, bus, node }: EventQuery,
  needsLog: boolean,
  { opts }: RunnerContext,
): Promise<LogFollower | undefined> {
  const paths = masterBus(opts.sock_dir);
  const isOwn = node === "master" && bus === paths.pub;
  if (!isOwn || opts.event_log === "none") {
    if (!needsLog) return undefined;
    throw new CommandError("since, offsets: the events of this bus are not kept (event_log: none)");
  }
  try {
    const where = { paths, directory: eventLogDirectory(opts.cachedir) };
    return await LogFollower.open(where, (reader) => seekSince(reader, since ?? "now"));
  } catch (error) {
    const isUnreadable = error instanceof Deno.errors.PermissionDenied || error instanceof NoMasterError;
    if (!isUnreadable || needsLog) throw error;
    return undefined;
  }
}

async function* followed(
  follower: LogFollower,
  { tags, offsets }: EventQuery,
  { signal, log }: RunnerContext,
): AsyncGenerator<BusEvent> {
  const wanted = compileMatchExpression(tags);
  const close = () => follower.close();
  signal.addEventListener("abort", close, { once: true });
  try {
    for (let batch = await follower.read(); batch !== undefined && !signal.aborted; batch = await follower.read()) {
      if (batch.missed > 0) log("warning", `${batch.missed} events are not in the event log any more`);
      const id = follower.id ?? "";
      for (const { number, frame } of batch.events) {
        const event = readMatching(frame, wanted);
        if (event === undefined) continue;
        yield offsets ? { ...event, data: new Map(event.data).set("_offset", offsetText({ log: id, number })) } : event;
      }
    }
  } finally {
    signal.removeEventListener("abort", close);
    follower.close();
  }
}
