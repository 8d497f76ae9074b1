/**
 * Beacon `salt_monitor`: results of execution functions.
 * Source: Salt 3008.3 `salt/beacons/salt_monitor.py`.
 * @module
 */

import { type BeaconModule, joinConfig, mapOr } from "#lib/plugins/beacon.ts";
import { isMap, map, repr, str, truthy, type Value, type ValueMap } from "#lib/values/value.ts";

interface MonitoredCall {
  readonly fun: string;
  readonly args: readonly Value[];
  readonly kwargs: ValueMap;
}

function argumentsText(fun: string, given: ValueMap): string | undefined {
  for (const [key, value] of given) {
    if (key !== "args" && key !== "kwargs") return `key ${str(key)} not allowed under fun ${fun}`;
    if (key === "args" && !Array.isArray(value)) return `args key for fun ${fun} must be list`;
    if (key !== "kwargs") continue;
    if (!Array.isArray(value)) return `kwargs key for fun ${fun} must be list of key value pairs`;
    const other = value.find((pair) => !isMap(pair));
    if (other !== undefined) return `${str(other)} is not a key / value pair`;
  }
  return undefined;
}

function callOf(entry: Value): MonitoredCall {
  const pair = mapOr(entry)?.entries().next().value;
  if (pair === undefined) return { fun: str(entry), args: [], kwargs: new Map() };
  const [fun, given] = pair, parts = mapOr(given) ?? new Map();
  const args = parts.get("args"), kwargs = parts.get("kwargs");
  return {
    fun: str(fun),
    args: Array.isArray(args) ? args : [],
    kwargs: Array.isArray(kwargs) ? joinConfig(kwargs.filter(isMap)) : new Map(),
  };
}

function entriesOf(all: ValueMap): readonly Value[] | undefined {
  const given = all.get("salt_fun") ?? null;
  if (typeof given === "string") return [given];
  return Array.isArray(given) ? given : undefined;
}

export const beacon: BeaconModule = {
  doc: "Results of execution functions: those that are true, or the one of a single function whatever it is.",
  keys: ["salt_fun"],
  async validate({ all }, hasFunction) {
    const entries = entriesOf(all);
    if (entries === undefined) return "Configuration for salt_monitor beacon requires salt_fun, a name or a list.";
    for (const entry of entries) {
      const pair = mapOr(entry)?.entries().next().value;
      if (pair !== undefined) {
        const given = mapOr(pair[1]);
        if (given === undefined) return `${repr(pair[1])} under fun ${str(pair[0])} must be a dictionary`;
        const text = argumentsText(str(pair[0]), given);
        if (text !== undefined) return text;
      }
      const { fun } = callOf(entry);
      if (hasFunction !== undefined && !await hasFunction(fun)) return `${fun} not in __salt__`;
    }
    return undefined;
  },
  open: ({ all }, host) => ({
    async look() {
      const isSingle = typeof all.get("salt_fun") === "string";
      const events: ValueMap[] = [];
      for (const { fun, args, kwargs } of (entriesOf(all) ?? []).map(callOf)) {
        const ret = await host.call(fun, args, kwargs);
        if (!isSingle && !truthy(ret)) continue;
        events.push(map({ salt_fun: fun, ret, ...args.length > 0 && { args }, ...kwargs.size > 0 && { kwargs } }));
      }
      return events;
    },
  }),
};
