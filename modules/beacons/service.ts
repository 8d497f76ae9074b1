/**
 * Beacon `service`: whether services run.
 * Source: Salt 3008.3 `salt/beacons/service.py`.
 * @module
 */

import { type BeaconHost, type BeaconModule, isSet, mapOr } from "#lib/plugins/beacon.ts";
import { map, str, toNumber, truthy, type Value, type ValueMap } from "#lib/values/value.ts";

/** What is known of a service since the last look. */
interface LastSeen {
  running: boolean;
  /** When a change was seen whose `delay` is not over, in milliseconds. */
  changedMs?: number;
}

async function uncleanShutdown(config: ValueMap, running: boolean, host: BeaconHost): Promise<Record<string, Value>> {
  if (running || !config.has("uncleanshutdown")) return {};
  return { uncleanshutdown: truthy(await host.call("file.file_exists", [config.get("uncleanshutdown") ?? null])) };
}

/** Whether this look sends an event; `last` is changed accordingly. */
function fires(config: ValueMap, running: boolean, last: Map<string, LastSeen>, name: string): boolean {
  const wanted = config.get("is_running_state");
  if (typeof wanted === "boolean" && wanted !== running) return false;
  if (config.get("onchangeonly") !== true) return true;
  const delayMs = (toNumber(config.get("delay")) ?? 0) * 1000, now = Date.now();
  const seen = last.get(name);
  if (seen === undefined) {
    last.set(name, { running });
    if (config.has("emitatstartup") && !isSet(config, "emitatstartup")) return false;
    if (delayMs <= 0) return true;
    last.set(name, { running, changedMs: now });
    return false;
  }
  if (seen.running !== running) {
    last.set(name, delayMs > 0 ? { running, changedMs: now } : { running });
    return delayMs <= 0;
  }
  if (seen.changedMs === undefined || now - seen.changedMs <= delayMs) return false;
  seen.changedMs = undefined;
  return true;
}

export const beacon: BeaconModule = {
  doc: "Services that run, or do not; `onchangeonly` sends only what changed, after `delay` seconds.",
  keys: ["services"],
  validate({ all }) {
    if (!all.has("services")) return "Configuration for service beacon requires services.";
    const services = mapOr(all.get("services"));
    if (services === undefined) return "Services configuration item for service beacon must be a dictionary.";
    // Salt takes an empty configuration of a service for all defaults, though its check of it refuses it.
    if ([...services.values()].every((one) => mapOr(one) !== undefined)) return undefined;
    return "Configuration for service beacon must be a list of dictionaries.";
  },
  open({ all }, host) {
    const last = new Map<string, LastSeen>();
    return {
      async look() {
        const events: ValueMap[] = [];
        for (const [key, given] of mapOr(all.get("services")) ?? []) {
          const name = str(key), config = mapOr(given) ?? new Map();
          const running = truthy(await host.call("service.status", [name]));
          if (!fires(config, running, last, name)) continue;
          const state = map({ running, ...await uncleanShutdown(config, running, host) });
          events.push(map({ [name]: state, service_name: name, tag: name }));
        }
        return events;
      },
    };
  },
};
