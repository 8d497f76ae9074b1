/**
 * The bus of a master or minion, as the process of an engine uses it.
 * @module
 */

import type { BusEvent } from "#lib/bus/event.ts";
import { fireEvent } from "#lib/bus/fire.ts";
import { FollowedLog } from "#lib/bus/followed_log.ts";
import { masterBus, minionBus } from "#lib/bus/paths.ts";
import { EventSubscriber } from "#lib/bus/subscriber.ts";
import { eventLogDirectory } from "#lib/config/master_paths.ts";
import type { MasterOpts, MinionOpts } from "#lib/config/options.ts";
import type { Logger } from "#lib/runtime/log.ts";
import { map, type ValueMap } from "#lib/values/value.ts";

/** The tag at which a minion sends an event of its bus to its master. */
const TO_MASTER = "fire_master";

/** Events, one after the other. */
export interface EventStream {
  /** The next event; `undefined` when the stream was closed. */
  next(): Promise<BusEvent | undefined>;
  close(): void;
}

/** What an engine may do with a bus. */
export interface EngineBus {
  /** Fires an event: on a master's bus, or to the master of a minion. */
  fire(tag: string, data: ValueMap): Promise<boolean>;
  /** Fires an event on the bus itself, of a minion too. */
  fireHere(tag: string, data: ValueMap): Promise<boolean>;
  /**
   * Opens a stream of the events from now on whose tags begin with one of `prefixes`.
   * @throws {NoMasterError} If the bus does not answer.
   */
  open(prefixes: readonly string[]): Promise<EventStream>;
}

/**
 * A master's events are read in its event log, where they wait for an engine that is busy.
 * @param log Told of events that an engine was too slow for: they were removed from the log.
 */
export function busOfMaster(opts: MasterOpts, log: Pick<Logger, "warning">): EngineBus {
  const paths = masterBus(opts.sock_dir);
  const fire: EngineBus["fire"] = (tag, data) => fireEvent(paths, tag, data);
  return {
    fire,
    fireHere: fire,
    open: async (prefixes) =>
      opts.event_log === "none" ? await EventSubscriber.connect(paths.pub, prefixes) : await FollowedLog.open(
        { paths, directory: eventLogDirectory(opts.cachedir) },
        prefixes,
        (reader) => reader.seekEnd(),
        (count) => log.warning(`${count} events were not in the event log any more when they were to be read`),
      ),
  };
}

/** A minion has no event log: an engine that does not keep up misses events. */
export function busOfMinion(opts: MinionOpts): EngineBus {
  const paths = minionBus(opts);
  return {
    fire: (tag, data) => fireEvent(paths, TO_MASTER, map({ tag, data })),
    fireHere: (tag, data) => fireEvent(paths, tag, data),
    open: (prefixes) => EventSubscriber.connect(paths.pub, prefixes),
  };
}
