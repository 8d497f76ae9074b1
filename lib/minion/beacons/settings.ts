/**
 * The configuration of a minion's beacons: pure functions over values. It is Salt's: a map of names, each with a list
 * of maps.
 * Source: Salt 3008.3 `salt/beacons/__init__.py`.
 * @module
 */

import { configMaps, isSet, joinConfig } from "#lib/plugins/beacon.ts";
import { isMap, str, toNumber, truthy, type Value, type ValueMap } from "#lib/values/value.ts";

/** One beacon that is to run. */
export interface BeaconSettings {
  /** The name under which it is configured. */
  readonly name: string;
  /** The name of what runs: of a file in `modules/beacons`. */
  readonly module: string;
  /** What is configured, with the keys that all beacons have. */
  readonly maps: readonly ValueMap[];
  /**
   * Milliseconds between two looks; `undefined`: every look of the loop. A beacon that is told of changes sends what it
   * was told so often, or at once if it has no interval.
   */
  readonly everyMs: number | undefined;
  readonly disableDuringStateRun: boolean;
  readonly runOnce: boolean;
}

/** The key of the whole configuration, which is no beacon. */
const WHOLE = "enabled";

/** The shortest interval with a unit, in milliseconds. */
const MIN_MS = 100;
/** The longest interval, in milliseconds: of a timer of the runtime. */
const MAX_MS = 2 ** 31 - 1;

const UNITS: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/**
 * Reads an interval. A number counts looks as in Salt: with 5 a beacon looks at the sixth look of the loop first, then
 * at every fifth. A text with a unit (`90s`, `5m`, `1h`, `500ms`) is a time.
 * @param loopMs Time between two looks of the loop, in milliseconds.
 * @returns Milliseconds; a text that says what is wrong with it; `undefined`: every look.
 */
export function readInterval(given: Value | undefined, loopMs: number): number | string | undefined {
  if (given === undefined || given === null || given === false) return undefined;
  if (typeof given === "string") {
    const [, amount, unit] = /^\s*(\d+(?:\.\d+)?)\s*(ms|s|m|h|d)\s*$/.exec(given) ?? [];
    const ms = amount === undefined ? NaN : Number(amount) * UNITS[unit];
    if (!(ms >= MIN_MS && ms <= MAX_MS)) return `interval ${given} is no time such as 500ms, 90s, 5m, 1h or 1d`;
    return ms;
  }
  const looks = toNumber(given);
  if (looks === undefined) return `interval ${str(given)} is no number`;
  const everyMs = Math.max(1, Math.ceil(looks * 1000 / loopMs)) * loopMs;
  if (!(everyMs <= MAX_MS)) return `interval ${str(given)} is ${Number.isNaN(everyMs) ? "no number" : "too long"}`;
  return looks <= 0 ? undefined : everyMs;
}

/** @returns A warning about an interval that Salt takes, and that means nothing. */
export function intervalWarning(given: Value | undefined): string | undefined {
  const looks = given === undefined || typeof given === "boolean" ? undefined : toNumber(given);
  if (looks === undefined || looks > 0) return undefined;
  return `interval ${str(given ?? null)} is not above 0: it looks at every look of the loop`;
}

/**
 * The configuration that is in force: the minion's own, and pillar's for the names that it does not have.
 * Source: Salt 3008.3 `Beacon._get_beacons`.
 */
export function mergeBeacons(own: ValueMap, pillar: Value | undefined): ValueMap {
  return new Map([...isMap(pillar) ? pillar : [], ...own]);
}

/** What {@linkcode readBeacons} finds. */
export interface ReadBeacons {
  /** Those that are to run. */
  readonly running: readonly BeaconSettings[];
  /** Those that cannot run, by name, with the reason. */
  readonly invalid: ReadonlyMap<string, string>;
}

/** Reads a whole configuration; one entry that is wrong stops no other. */
export function readBeacons(beacons: ValueMap, loopMs: number): ReadBeacons {
  const running: BeaconSettings[] = [], invalid = new Map<string, string>();
  if (beacons.has(WHOLE) && !truthy(beacons.get(WHOLE))) return { running, invalid };
  for (const [key, given] of beacons) {
    if (key === WHOLE) continue;
    const name = str(key), maps = configMaps(given);
    if (maps === undefined) {
      invalid.set(name, `Configuration for ${name} beacon must be a list.`);
      continue;
    }
    const all = joinConfig(maps);
    if (all.has("enabled") && !isSet(all, "enabled")) continue;
    const everyMs = readInterval(all.get("interval"), loopMs);
    if (typeof everyMs === "string") {
      invalid.set(name, everyMs);
      continue;
    }
    running.push({
      name,
      module: isSet(all, "beacon_module") ? str(all.get("beacon_module") ?? null) : name,
      maps,
      everyMs,
      disableDuringStateRun: isSet(all, "disable_during_state_run"),
      runOnce: isSet(all, "run_once"),
    });
  }
  return { running, invalid };
}

/** A configuration in which `enabled` of a beacon is `enabled`, in Salt's place for it. */
export function withEnabled(given: Value | undefined, enabled: boolean): Value {
  if (isMap(given)) return new Map(given).set("enabled", enabled);
  const list = Array.isArray(given) ? [...given] : [];
  const at = list.findIndex((one) => isMap(one) && one.has("enabled"));
  if (at < 0) return [...list, new Map<Value, Value>([["enabled", enabled]])];
  const one = list[at];
  list[at] = new Map(isMap(one) ? one : []).set("enabled", enabled);
  return list;
}

/** A configuration without `enabled: true`, which a look of Salt's loop takes out. */
export function withoutEnabled(given: Value): Value {
  const isEnabled = (one: Value) => isMap(one) && one.size === 1 && one.get("enabled") === true;
  if (Array.isArray(given)) return given.filter((one) => !isEnabled(one));
  if (!isMap(given) || given.get("enabled") !== true) return given;
  return new Map([...given].filter(([key]) => key !== "enabled"));
}
