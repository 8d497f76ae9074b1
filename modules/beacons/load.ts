/**
 * Beacon `load`: the load averages of the host.
 * Source: Salt 3008.3 `salt/beacons/load.py`.
 * @module
 */

import { type BeaconConfig, type BeaconModule, isSet, mapOr } from "#lib/plugins/beacon.ts";
import { float, map, toNumber, type Value, type ValueMap } from "#lib/values/value.ts";

const NAMES = ["1m", "5m", "15m"] as const;

function flagText(all: ValueMap, key: string): string | undefined {
  if (!all.has(key) || typeof all.get(key) === "boolean") return undefined;
  return `Configuration for load beacon option ${key} must be a boolean.`;
}

function validate({ all }: BeaconConfig): string | undefined {
  const flag = flagText(all, "emitatstartup") ?? flagText(all, "onchangeonly");
  if (flag !== undefined) return flag;
  if (!all.has("averages")) return "Averages configuration is required for load beacon.";
  const averages = mapOr(all.get("averages"));
  if (averages === undefined || !NAMES.some((name) => averages.has(name))) {
    return "Averages configuration for load beacon must contain 1m, 5m or 15m items.";
  }
  for (const name of NAMES) {
    const limits = averages.get(name);
    if (limits === undefined) continue; // Salt raises here, and every later beacon stops
    if (!Array.isArray(limits)) {
      return "Averages configuration for load beacon: 1m, 5m and 15m items must be a list of two items.";
    }
    if (limits.length !== 2) return "Configuration for load beacon: 1m, 5m and 15m items must be a list of two items.";
    if (limits.some((limit) => toNumber(limit) === undefined)) {
      return `Averages configuration for load beacon: ${name} must be two numbers.`;
    }
  }
  return undefined;
}

interface Limit {
  readonly at: number;
  readonly low: number;
  readonly high: number;
}

function limitsOf(averages: ValueMap): Limit[] {
  return NAMES.flatMap((name, at) => {
    const given = averages.get(name);
    if (!Array.isArray(given)) return [];
    const [low, high] = given.map((limit: Value) => toNumber(limit) ?? 0);
    return [{ at, low, high }];
  });
}

/** Whether an average has left its range since the last look. */
function crosses({ at, low, high }: Limit, now: readonly number[], last: readonly number[]): boolean {
  return (now[at] > high && last[at] < high) || (now[at] < low && last[at] > low);
}

/** Made of the averages, so that tests can say what they are. */
export function loadBeacon(averages: () => number[]): BeaconModule {
  return {
    doc: "Load averages of 1, 5 and 15 minutes that are outside of a range.",
    permissions: { sys: ["loadavg"] },
    keys: ["averages", "emitatstartup", "onchangeonly"],
    validate,
    open({ all }) {
      const limits = limitsOf(mapOr(all.get("averages")) ?? new Map());
      const onChange = isSet(all, "onchangeonly"), atStart = all.get("emitatstartup") !== false;
      let last: number[] | undefined;
      return {
        look() {
          const now = averages();
          const before = last ?? now, isFirst = last === undefined;
          last = now;
          const outside = limits.some(({ at, low, high }) => now[at] < low || now[at] > high);
          const fires = onChange
            ? isFirst ? atStart && outside : limits.some((limit) => crosses(limit, now, before))
            : outside;
          return fires ? [map(Object.fromEntries(NAMES.map((name, at) => [name, float(now[at])])))] : [];
        },
      };
    },
  };
}

export const beacon: BeaconModule = loadBeacon(() => Deno.loadavg());
