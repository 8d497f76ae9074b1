/**
 * Beacon `status`: what functions of the execution module `status` return.
 * Source: Salt 3008.3 `salt/beacons/status.py`.
 * @module
 */

import { stampNow } from "#lib/bus/event.ts";
import type { BeaconHost, BeaconModule } from "#lib/plugins/beacon.ts";
import { isMap, map, repr, str, toNumber, type Value, type ValueMap } from "#lib/values/value.ts";

const DEFAULT: ReadonlyMap<Value, Value> = map(
  Object.fromEntries(["loadavg", "cpustats", "meminfo", "vmstats", "time"].map((fun) => [fun, ["all"]])),
);

/** One field of a result, or one item of a list by its number. */
function part(data: Value, item: Value): Value | undefined {
  if (isMap(data)) return data.get(item);
  const index = toNumber(typeof item === "string" && /^-?\d+$/.test(item) ? Number(item) : item);
  if (!Array.isArray(data) || index === undefined) return undefined;
  return data.at(index);
}

function pickItems(data: Value, items: readonly Value[]): Value {
  const found: ValueMap = new Map();
  for (const item of items.filter((one) => one !== "all")) {
    const value = part(data, item);
    if (value === undefined) return `Status beacon is incorrectly configured: ${repr(item)}`;
    found.set(item, value);
  }
  return items.includes("all") ? data : found;
}

async function statusOf(fun: string, items: Value, host: BeaconHost): Promise<Value> {
  try {
    return pickItems(await host.call(`status.${fun}`), Array.isArray(items) ? items : [items]);
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    host.log.debug(`status.${fun} failed: ${error.message}`);
    return new Map();
  }
}

export const beacon: BeaconModule = {
  doc: "What functions of the module status return: all of it, or the named fields.",
  validate: () => undefined,
  open: ({ list }, host) => ({
    async look() {
      const data: ValueMap = new Map();
      for (const [fun, items] of (list.length === 0 ? [DEFAULT] : list).flatMap((one) => [...one])) {
        data.set(fun, await statusOf(str(fun), items, host));
      }
      return [map({ tag: stampNow(), data })];
    },
  }),
};
