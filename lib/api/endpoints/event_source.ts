/**
 * Where the API reads the master's events: the event log, where each has an offset; or the bus, if events are not kept.
 * @module
 */

import { type BusEvent, readMatching } from "#lib/bus/event.ts";
import { EventSubscriber } from "#lib/bus/subscriber.ts";
import { eventLogDirectory } from "#lib/config/master_paths.ts";
import { LogFollower } from "#lib/bus/log_follower.ts";
import { masterBus } from "#lib/bus/paths.ts";
import type { MasterOpts } from "#lib/config/options.ts";
import { NoMasterError } from "#lib/errors.ts";
import { offsetText } from "#lib/event_log/offset.ts";
import { seekSince } from "#lib/event_log/since.ts";

/** An event, and its place in the event log if it has one. */
export interface FedEvent extends BusEvent {
  /** `3f2a9c01.12345` */
  readonly offset?: string;
}

/** Some events, and what is lost before them. */
export interface FedEvents {
  readonly events: readonly FedEvent[];
  /** The number of events that are lost; `Infinity`: some may be, nobody knows how many. */
  readonly missed: number;
}

/** Where a master's events are. */
export type EventPlace = Pick<MasterOpts, "event_log" | "sock_dir" | "cachedir">;

/** An open source. */
export interface EventSource {
  /**
   * Waits for events.
   * @returns `undefined` after `timeoutMs`, or when closed.
   * @throws {NoMasterError} If the event log has been lost, and there is another one.
   */
  read(timeoutMs: number): Promise<FedEvents | undefined>;
  close(): void;
}

/**
 * Opens the source: no event that is published from now on is missed.
 * @param since What comes after this offset; default: now.
 * @throws {NoMasterError} If no master is running.
 * @throws {CommandError} If `since` is no offset of today's log.
 */
export async function openEventSource(opts: EventPlace, since = "now"): Promise<EventSource> {
  if (opts.event_log === "none") return await openBus(opts);
  const where = { paths: masterBus(opts.sock_dir), directory: eventLogDirectory(opts.cachedir) };
  const follower = await LogFollower.open(where, (reader) => seekSince(reader, since));
  const log = follower.id;
  return {
    async read(timeoutMs) {
      const batch = await follower.read(timeoutMs);
      // Its numbers begin again: the follower would wait until they are where they were.
      if (follower.id !== log) throw new NoMasterError("The event log is another one than before");
      if (batch === undefined) return undefined;
      const events = batch.events.flatMap(({ number, frame }) => {
        const event = readMatching(frame, () => true);
        return event === undefined ? [] : [{ ...event, offset: offsetText({ log: log ?? "", number }) }];
      });
      return { events, missed: batch.missed };
    },
    close: () => follower.close(),
  };
}

async function openBus({ sock_dir }: EventPlace): Promise<EventSource> {
  const subscriber = await EventSubscriber.connect(masterBus(sock_dir).pub, [""]);
  let known = 0, restarts = 0;
  return {
    async read(timeoutMs) {
      const event = await subscriber.next(timeoutMs);
      const missed = subscriber.restarts > restarts ? Infinity : subscriber.missed - known;
      [known, restarts] = [subscriber.missed, subscriber.restarts];
      return event === undefined && missed === 0 ? undefined : { events: event === undefined ? [] : [event], missed };
    },
    close: () => subscriber.close(),
  };
}
