/**
 * The roster `cache`: the master's own minions, with what it knows about them.
 * Source: Salt 3008.3 `salt/roster/cache.py`.
 * @module
 */

import { RosterError } from "#lib/errors.ts";
import type { DataCache } from "#lib/fleet/data_cache.ts";
import type { Mine } from "#lib/fleet/mine.ts";
import type { RosterEntries } from "./roster.ts";
import {
  hasIpProperty,
  type IpAddress,
  ipAddressText,
  isInNetwork,
  parseIpAddress,
  parseIpNetwork,
} from "#lib/text/ip_network.ts";
import { listOrEmpty } from "#lib/values/shape.ts";
import { isMap, str, truthy, type Value, type ValueMap } from "#lib/values/value.ts";
import { traverse } from "#lib/yaml/traverse.ts";

/** What the master knows. */
export interface MinionFacts {
  readonly data: Pick<DataCache, "get">;
  readonly mine: Pick<Mine, "get">;
}

/** The words for ranges of addresses. */
const RANGES: Readonly<Record<string, (address: IpAddress) => boolean>> = {
  global: (address) => hasIpProperty(address, "global"),
  public: (address) => !hasIpProperty(address, "private"),
  private: (address) =>
    hasIpProperty(address, "private") && !hasIpProperty(address, "loopback") && !hasIpProperty(address, "linkLocal"),
  local: (address) => hasIpProperty(address, "loopback"),
};

/**
 * The entries of minions.
 * @param order The option `roster_order`: for each key where its value is looked for.
 * @param warn Called for a minion of which no address is known.
 */
export function readMinionCache(
  ids: readonly string[],
  facts: MinionFacts,
  { order, warn }: { readonly order: ValueMap; readonly warn: (text: string) => void },
): RosterEntries {
  const entries = new Map<string, Value>();
  for (const id of ids) {
    const minion = minionOf(id, facts);
    const entry: ValueMap = new Map();
    for (const [key, ways] of order) {
      const value = (Array.isArray(ways) ? ways : [ways]).map((way) => lookUp(way, minion)).find(truthy);
      if (value !== undefined) entry.set(key, value);
    }
    if (entry.has("host")) entries.set(id, entry);
    else warn(`Could not determine host information for minion ${id}`);
  }
  return entries;
}

/** One minion, as the master knows it. */
interface KnownMinion {
  readonly id: string;
  /** What maps of `roster_order` look into, by their key. */
  readonly values: Readonly<Record<string, ValueMap>>;
  /** Sorted by version and value. */
  readonly addresses: readonly IpAddress[];
}

function minionOf(id: string, { data, mine }: MinionFacts): KnownMinion {
  const { grains, pillar } = data.get(id) ?? { grains: new Map(), pillar: new Map() };
  const addresses = ["ipv4", "ipv6"].flatMap((name) =>
    listOrEmpty(grains.get(name)).flatMap((text) => parseIpAddress(str(text)) ?? [])
      .sort((a, b) => a.value < b.value ? -1 : a.value > b.value ? 1 : 0)
  );
  return { id, values: { grain: grains, pillar, mine: mine.get(id) ?? new Map() }, addresses };
}

/** @throws {RosterError} For a way that `roster_order` does not have. */
function lookUp(way: Value, { id, values, addresses }: KnownMinion): Value {
  if (isMap(way)) {
    const [[place, paths] = [null, null]] = way;
    if (typeof place !== "string" || !Object.hasOwn(values, place)) {
      throw new RosterError(`roster_order: ${str(place)} is none of grain, pillar, mine`);
    }
    const value = (Array.isArray(paths) ? paths : [paths]).map((path) => traverse(values[place], path)).find(truthy);
    return Array.isArray(value) ? value[0] ?? null : value ?? null;
  }
  if (way === "id") return id;
  if (typeof way !== "string") throw new RosterError(`roster_order: ${str(way)} is no way to find a value`);
  const [, version, range] = /^(?:ipv([46])-)?([a-z]+)$/.exec(way) ?? [];
  if (range !== undefined && Object.hasOwn(RANGES, range)) {
    return textOf(
      addresses.find((one) => (version === undefined || one.version === Number(version)) && RANGES[range](one)),
    );
  }
  const network = parseIpNetwork(way, { strict: true });
  if (network === undefined) throw new RosterError(`roster_order: ${way} is neither a range nor a network`);
  return textOf(addresses.find((one) => isInNetwork(one, network)));
}

function textOf(address: IpAddress | undefined): Value {
  return address === undefined ? null : ipAddressText(address);
}
