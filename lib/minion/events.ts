/**
 * What a minion does about the events on its own bus: a table by the beginning of the tag.
 * Source: salt-protocol.md section 6, "Local tags handled".
 * @module
 */

import type { BusEvent } from "../bus/event.ts";
import { map, type ValueMap } from "../values/value.ts";

/** What the events can have a minion do. */
export interface EventActions {
  /** Loads modules anew. */
  refreshModules(): Promise<void>;
  /** Computes the grains again. */
  refreshGrains(): Promise<void>;
  /** Asks for the pillar again. */
  refreshPillar(): Promise<void>;
  /** Sends an event to the master. */
  fireMaster(event: ValueMap): Promise<boolean>;
}

type Action = (event: BusEvent, actions: EventActions) => Promise<unknown>;

/** Salt matches these by prefix. */
const ACTIONS: readonly (readonly [prefix: string, action: Action])[] = [
  ["module_refresh", (_event, minion) => minion.refreshModules()],
  ["grains_refresh", (_event, minion) => minion.refreshGrains()],
  ["pillar_refresh", (_event, minion) => minion.refreshPillar()],
  ["fire_master", ({ data }, minion) => minion.fireMaster(forMaster(data))],
];

/** Does what `event` asks for; most events ask for nothing. */
export async function handleLocalEvent(event: BusEvent, actions: EventActions): Promise<void> {
  for (const [prefix, action] of ACTIONS) if (event.tag.startsWith(prefix)) await action(event, actions);
}

/** The fields of a `fire_master` event that go on to the master. */
function forMaster(data: ValueMap): ValueMap {
  const wanted = map({});
  for (const key of ["data", "tag", "events", "pretag"]) {
    const field = data.get(key);
    if (field !== undefined && field !== null) wanted.set(key, field);
  }
  return wanted;
}
