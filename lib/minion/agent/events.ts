/**
 * How a minion handles the events on its own bus: a table by prefix of the tag.
 * Source: docs/protocol.md "Events on a minion's own bus".
 * @module
 */

import type { BusEvent } from "#lib/bus/event.ts";
import { map, truthy, type ValueMap } from "#lib/values/value.ts";

/** Actions that events can trigger. */
export interface EventActions {
  /** Loads modules again. */
  refreshModules(): Promise<void>;
  /** Computes the grains again. */
  refreshGrains(): Promise<void>;
  /**
   * Requests the pillar again.
   * @param cleanCache Whether the master's `pillar_cache` is bypassed.
   */
  refreshPillar(cleanCache: boolean): Promise<void>;
  /** Loads beacons again. */
  refreshBeacons(): Promise<void>;
  /** Sends an event to the master. */
  fireMaster(event: ValueMap): Promise<boolean>;
}

type Action = (event: BusEvent, actions: EventActions) => Promise<unknown>;

/** Salt matches these by prefix. */
const ACTIONS: readonly (readonly [prefix: string, action: Action])[] = [
  ["module_refresh", (_event, minion) => minion.refreshModules()],
  ["grains_refresh", (_event, minion) => minion.refreshGrains()],
  ["pillar_refresh", ({ data }, minion) => minion.refreshPillar(truthy(data.get("clean_cache")))],
  ["beacons_refresh", (_event, minion) => minion.refreshBeacons()],
  ["fire_master", ({ data }, minion) => minion.fireMaster(forMaster(data))],
];

/** Handles `event`; most events trigger nothing. */
export async function handleLocalEvent(event: BusEvent, actions: EventActions): Promise<void> {
  for (const [prefix, action] of ACTIONS) if (event.tag.startsWith(prefix)) await action(event, actions);
}

/** The fields of a `fire_master` event that are sent to the master. */
function forMaster(data: ValueMap): ValueMap {
  const wanted = map({ pretag: data.get("pretag") ?? null });
  for (const key of ["data", "tag", "events"]) {
    const field = data.get(key);
    if (field !== undefined && field !== null) wanted.set(key, field);
  }
  return wanted;
}
