/**
 * What differs between two containers or two networks, by what the engine says about them.
 * Source: Salt 3006.28 `salt/modules/dockermod.py` (`compare_containers`, `compare_container_networks`,
 * `compare_networks`).
 * @module
 */

import { parseIpAddress, parseIpNetwork } from "#lib/text/ip_network.ts";
import { listOrEmpty, mapOrEmpty, mapUnder } from "#lib/values/shape.ts";
import {
  compare,
  compareStrings,
  equals,
  isMap,
  map,
  repr,
  str,
  truthy,
  type Value,
  type ValueMap,
} from "#lib/values/value.ts";

/** A difference. */
function differs(old: Value, now: Value): ValueMap {
  return map({ old, new: now });
}

/** What is compared of a container. */
export interface ComparedContainer {
  readonly inspected: ValueMap;
  /** The name by which it was asked for. */
  readonly name: string;
}

/** Links without the container's own name, in order. */
function ownLinks(links: Value, name: string): Value[] {
  return listOrEmpty(links).map((link) => str(link).replace(`/${name}/`, () => "/")).sort(compareStrings);
}

function sortedLimits(limits: Value): Value[] {
  const key = (limit: Value) => ["Name", "Hard", "Soft"].map((name) => mapOrEmpty(limit).get(name) ?? 0);
  return [...listOrEmpty(limits)].sort((a, b) => compare(key(a), key(b)));
}

/** A value in the form in which it is compared. */
function comparable(item: string, value: Value, name: string): Value {
  if (item === "Links") return ownLinks(value, name);
  if (item === "Ulimits") return sortedLimits(value);
  return item === "Env" ? [...listOrEmpty(value)].sort(compare) : value;
}

/** The differences of `Config` and `HostConfig`; an image is compared by its id. */
export async function containerDifferences(
  first: ComparedContainer,
  second: ComparedContainer,
  ignored: readonly string[],
  imageId: (name: string) => Promise<Value>,
): Promise<ValueMap> {
  const result: ValueMap = new Map();
  for (const part of ["Config", "HostConfig"]) {
    const [a, b] = [mapOrEmpty(first.inspected.get(part)), mapOrEmpty(second.inspected.get(part))];
    for (const key of new Set([...a.keys(), ...b.keys()])) {
      const item = str(key);
      if (ignored.includes(item)) continue;
      const [old, now] = [a.get(key) ?? null, b.get(key) ?? null];
      let pair: readonly [Value, Value] = [old, now];
      if (item === "OomKillDisable" || old === null || now === null) {
        if (truthy(old) === truthy(now)) continue;
      } else {
        pair = item === "Image"
          ? [await imageId(str(old)), await imageId(str(now))]
          : [comparable(item, old, first.name), comparable(item, now, second.name)];
        if (equals(pair[0], pair[1])) continue;
      }
      mapUnder(result, part).set(key, differs(...pair));
    }
  }
  return result;
}

/** Which keys of a container's place in a network are compared. */
export interface NetworkKeys {
  readonly automatic: readonly string[];
  readonly static: readonly string[];
}

/** A container's place in a network; absent: it is not in it. */
type Place = ValueMap | undefined;

/** How a place has its address: by its own configuration, or by itself. */
function addressKind(place: Place): "static" | "automatic" | "not connected" {
  if (place === undefined) return "not connected";
  return truthy(place.get("IPAMConfig")) ? "static" : "automatic";
}

/** The differences of addresses. */
function addressDifferences(old: Place, now: Place, { automatic }: NetworkKeys): ValueMap {
  const result: ValueMap = new Map();
  const [before, after] = [addressKind(old), addressKind(now)];
  const config = (place: Place): Value => place?.get("IPAMConfig") ?? null;
  const isPair = (before === "automatic") !== (after === "automatic");
  if (!isPair) {
    if (!equals(config(old), config(now))) result.set("IPAMConfig", differs(config(old), config(now)));
    return result;
  }
  for (const key of automatic) {
    const place = before === "automatic" ? old : now;
    const value = place?.get(key) ?? null;
    if (truthy(value)) result.set(key, before === "automatic" ? differs(value, null) : differs(null, value));
  }
  const hasAddress = automatic.some((key) => result.has(key));
  if (before === "static" || after === "static") result.set("IPAMConfig", differs(config(old), config(now)));
  if (!hasAddress) result.set("IPConfiguration", differs(before, after));
  return result;
}

/** Aliases without the names that the engine adds: the host name and the short id. */
function ownAliases(place: Place, inspected: ValueMap): Value {
  const added = [
    mapOrEmpty(inspected.get("Config")).get("Hostname") ?? null,
    str(inspected.get("Id") ?? "").slice(0, 12),
  ];
  const own = listOrEmpty(place?.get("Aliases")).filter((alias) => !added.includes(alias)).sort(compare);
  return own.length === 0 ? null : own;
}

/** The differences of two containers in a network. */
export function placeDifferences(
  [old, first]: readonly [Place, ValueMap],
  [now, second]: readonly [Place, ValueMap],
  keys: NetworkKeys,
): ValueMap {
  let result: ValueMap = new Map();
  for (const key of keys.static) {
    if (key === "IPAMConfig") {
      result = new Map([...result, ...addressDifferences(old, now, keys)]);
      continue;
    }
    const value = (place: Place, inspected: ValueMap) => {
      if (key === "Aliases") return ownAliases(place, inspected);
      const given = place?.get(key) ?? null;
      return Array.isArray(given) ? [...given].sort(compare) : given;
    };
    const [a, b] = [value(old, first), value(now, second)];
    if ((truthy(a) || truthy(b)) && !equals(a, b)) result.set(key, differs(a, b));
  }
  return result;
}

/** Whether a gateway is the one that the engine gives to a subnet by itself: its first address. */
function isOwnGateway(subnet: Value, gateway: Value): boolean {
  const network = parseIpNetwork(str(subnet), { strict: false });
  const address = parseIpAddress(str(gateway));
  return network !== undefined && address !== undefined && network.version === address.version &&
    address.value === network.value + 1n;
}

/** Pools without what is empty, in one order. */
function pools(config: Value): ValueMap[] {
  const plain = listOrEmpty(config).filter(isMap).map((pool) =>
    new Map([...pool].filter(([, value]) => value !== "" && value !== null))
  );
  return plain.sort((a, b) => compare([[...a.keys()], [...a.values()]], [[...b.keys()], [...b.values()]]));
}

function arePoolsAlike(old: readonly ValueMap[], now: readonly ValueMap[]): boolean {
  const bySubnet = (all: readonly ValueMap[]) => new Map(all.map((pool) => [repr(pool.get("Subnet") ?? null), pool]));
  const [a, b] = [bySubnet(old), bySubnet(now)];
  if (a.size !== b.size) return false;
  return [...a].every(([subnet, pool]) => {
    const other = b.get(subnet);
    if (other === undefined) return false;
    const without = (one: ValueMap, beside: ValueMap) =>
      one.has("Gateway") && !beside.has("Gateway") &&
        isOwnGateway(one.get("Subnet") ?? null, one.get("Gateway") ?? null)
        ? new Map([...one].filter(([key]) => key !== "Gateway"))
        : one;
    return equals(without(pool, other), without(other, pool));
  });
}

function ipamDifferences(old: ValueMap, now: ValueMap): ValueMap {
  const result: ValueMap = new Map();
  for (const [key, before] of old) {
    const after = now.get(key) ?? null;
    if (!truthy(before) && !truthy(after)) continue;
    if (key !== "Config") {
      if (!equals(before, after)) result.set(key, differs(before, after));
      continue;
    }
    const [a, b] = [pools(before), pools(after)];
    if (!arePoolsAlike(a, b)) result.set(key, differs(a, b));
  }
  return result;
}

/** The name of the bridge, which two networks cannot share. */
const BRIDGE_NAME = "com.docker.network.bridge.name";

/** The differences of two networks. */
export function networkDifferences(first: ValueMap, second: ValueMap, ignored: readonly string[]): ValueMap {
  const result: ValueMap = new Map();
  for (const key of new Set([...first.keys(), ...second.keys()])) {
    if (ignored.includes(str(key))) continue;
    const [old, now] = [first.get(key) ?? null, second.get(key) ?? null];
    if (!truthy(old) && !truthy(now)) continue;
    if (key === "IPAM" && isMap(old)) {
      const found = ipamDifferences(old, mapOrEmpty(now));
      if (found.size > 0) result.set(key, found);
    } else if (key === "Options" && (isMap(old) || isMap(now))) {
      const [a, b] = [mapOrEmpty(old), mapOrEmpty(now)];
      for (const option of new Set([...a.keys(), ...b.keys()])) {
        const [before, after] = [a.get(option) ?? null, b.get(option) ?? null];
        if (option !== BRIDGE_NAME && !equals(before, after)) mapUnder(result, key).set(option, differs(before, after));
      }
    } else if (!equals(old, now)) result.set(key, differs(old, now));
  }
  return result;
}
