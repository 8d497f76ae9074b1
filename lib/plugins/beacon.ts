/**
 * The form of a beacon module: what it may be told, and what it watches. A file `modules/beacons/ps.ts` exports one as
 * `beacon`. Knows nothing of timers, threads or events.
 * Source: Salt 3008.3 `salt/beacons/`.
 * @module
 */

import type { Logger } from "#lib/runtime/log.ts";
import { isMap, map, str, truthy, type Value, type ValueMap } from "#lib/values/value.ts";
import type { Permissions } from "./permissions.ts";

/** The configuration of one beacon: Salt's list of maps, without the keys that all beacons share. */
export interface BeaconConfig {
  /** The maps, in their order. */
  readonly list: readonly ValueMap[];
  /** All keys of the maps; the last map wins. */
  readonly all: ValueMap;
}

/** What a beacon may use of its minion. */
export interface BeaconHost {
  /** The name under which it is configured. */
  readonly name: string;
  readonly log: Logger;
  /** Calls an execution function, with the permissions that the function declares. */
  call(fun: string, args?: readonly Value[], kwargs?: ValueMap): Promise<Value>;
  /** Sends what the kernel or a program has told, outside of a look; `tag` of a map is appended to the event's tag. */
  fire(found: readonly ValueMap[]): void;
  /** Reports that it cannot watch any longer, or not everything; the text becomes an event. */
  fail(reason: string): void;
}

/** A beacon that runs. */
export interface RunningBeacon {
  /**
   * Looks at the host; called at the beacon's interval. Without it, the beacon is told of changes, and sends them by
   * {@linkcode BeaconHost.fire}.
   * @returns The data of the events to send; `tag` is appended to the event's tag.
   */
  look?(): ValueMap[] | Promise<ValueMap[]>;
  /** Ends its watches and programs. */
  close?(): void;
}

/** What a file of `modules/beacons` exports. */
export interface BeaconModule {
  /** What it watches. */
  readonly doc: string;
  /** Its permissions. Default: "none". */
  readonly permissions?: Permissions;
  /** Its own keys; any other is refused by `beacons.add`. Absent: any key has a meaning. */
  readonly keys?: readonly string[];
  /**
   * @param hasFunction Whether the minion has an execution function. Absent where that is not known: it is assumed.
   * @returns Why the configuration is not valid, in Salt's words; `undefined` if it is.
   */
  validate(
    config: BeaconConfig,
    hasFunction?: (fun: string) => Promise<boolean>,
  ): string | undefined | Promise<string | undefined>;
  /** Starts it with a valid configuration. What it throws becomes an event. */
  open(config: BeaconConfig, host: BeaconHost): RunningBeacon | Promise<RunningBeacon>;
  /** @returns Why the host has nothing to watch for this module; `undefined` if it has. */
  unavailable?(): string | undefined;
}

/** The beacon modules of this program, by name. */
export type BeaconTable = Readonly<Record<string, () => Promise<{ readonly beacon: BeaconModule }>>>;

/** The keys that every beacon has. */
export const COMMON_KEYS: readonly string[] = [
  "interval",
  "enabled",
  "beacon_module",
  "disable_during_state_run",
  "run_once",
];

/**
 * The maps of a configuration: Salt's list, or a map, which counts as a list of one.
 * @returns `undefined` if it is neither.
 */
export function configMaps(value: Value): ValueMap[] | undefined {
  if (isMap(value)) return value.size === 0 ? [] : [value];
  if (!Array.isArray(value)) return undefined;
  const maps = value.filter(isMap);
  return maps.length === value.length ? maps : undefined;
}

/** All keys of a configuration; the last map wins. */
export function joinConfig(maps: readonly ValueMap[]): ValueMap {
  return new Map(maps.flatMap((one) => [...one]));
}

/** What a module is given of a configuration: everything but {@linkcode COMMON_KEYS}. */
export function ownConfig(maps: readonly ValueMap[]): BeaconConfig {
  const list = maps.map((one) => new Map([...one].filter(([key]) => !COMMON_KEYS.includes(str(key)))))
    .filter((one) => one.size > 0);
  return { list, all: joinConfig(list) };
}

/** Whether a key of all beacons is set to a true value. */
export function isSet(all: ValueMap, key: string): boolean {
  return truthy(all.get(key));
}

/** A value that must be a map, and is refused in Salt's words otherwise. */
export function mapOr(value: Value | undefined): ValueMap | undefined {
  return isMap(value) ? value : undefined;
}

/** Whose event it is. */
interface Origin {
  readonly id: string;
  readonly name: string;
  readonly module: string;
}

/**
 * The event of a beacon's data. `tag` is taken off and appended to `salt/beacon/<id>/<name>/`, `id` is added. Control
 * characters, as in the name of a file, would make the master refuse the tag.
 */
export function eventOf({ id, name, module }: Origin, given: ValueMap): ValueMap {
  const data = new Map(given);
  const more = data.get("tag");
  data.delete("tag");
  if (!data.has("id")) data.set("id", id);
  const tag = `salt/beacon/${id}/${name}/${more === undefined ? "" : str(more)}`.replace(/\p{Cc}/gu, "?");
  return map({ tag, data, beacon_name: module });
}
