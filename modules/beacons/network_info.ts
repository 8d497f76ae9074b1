/**
 * Beacon `network_info`: the counters of network interfaces.
 * Source: Salt 3008.3 `salt/beacons/network_info.py`.
 * @module
 */

import { type BeaconModule, mapOr } from "#lib/plugins/beacon.ts";
import { counters, NETWORK_FIELDS, parseNetworkCounters } from "#lib/procfs/system_usage.ts";
import { map, str, type ValueMap } from "#lib/values/value.ts";

/** Whether one of the counters is equal to its number, or greater. */
function isReached(config: ValueMap, now: ReadonlyMap<string, number>): boolean {
  const isGreater = config.get("type") === "greater";
  return NETWORK_FIELDS.some((name) => {
    const limit = Math.trunc(Number(str(config.get(name) ?? null))), value = now.get(name) ?? 0;
    return config.has(name) && (isGreater ? value > limit : value === limit);
  });
}

function interfaceText(given: ValueMap): string | undefined {
  if (![...given.keys()].some((key) => key === "type" || NETWORK_FIELDS.includes(str(key)))) {
    return "Invalid configuration item in Beacon configuration.";
  }
  const bad = NETWORK_FIELDS.find((name) => given.has(name) && Number.isNaN(Number(str(given.get(name) ?? null))));
  return bad === undefined ? undefined : `${bad} for network_info beacon must be a number.`;
}

/** Made of the text of `/proc/net/dev`, so that tests can say what it is. */
export function networkInfoBeacon(read: () => string): BeaconModule {
  return {
    doc: "Counters of network interfaces, when one of them is equal to a number, or greater.",
    permissions: "all",
    keys: ["interfaces"],
    validate({ all }) {
      for (const given of mapOr(all.get("interfaces"))?.values() ?? []) {
        const config = mapOr(given);
        if (config === undefined) return "Configuration for network_info beacon must be a list of dictionaries.";
        const text = interfaceText(config);
        if (text !== undefined) return text;
      }
      return undefined;
    },
    open: ({ all }) => ({
      look() {
        const rows = parseNetworkCounters(read());
        return [...mapOr(all.get("interfaces")) ?? []].flatMap(([name, config]) => {
          const row = rows.get(str(name));
          if (row === undefined) return [];
          const now = counters("network", [row]);
          if (!isReached(mapOr(config) ?? new Map(), now)) return [];
          return [map({ interface: name, network_info: new Map(now) })];
        });
      },
    }),
  };
}

export const beacon: BeaconModule = networkInfoBeacon(() => Deno.readTextFileSync("/proc/net/dev"));
