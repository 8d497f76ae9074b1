/**
 * Rules of nftables from keywords, as states give them.
 * Source: Salt 3008.3, `salt/modules/nftables.py` build_rule; nft(8).
 * @module
 */

import { str, truthy, type Value, type ValueMap } from "#lib/values/value.ts";

/** nft's names of the address families. */
const FAMILIES: ReadonlyMap<string, string> = new Map([
  ["ipv4", "ip"],
  ["ip4", "ip"],
  ["ip", "ip"],
  ["ipv6", "ip6"],
  ["ip6", "ip6"],
  ["inet", "inet"],
  ["arp", "arp"],
  ["bridge", "bridge"],
  ["netdev", "netdev"],
]);

/** The families, in the order in which Salt saves them. */
export const FAMILY_NAMES: readonly string[] = [...new Set(FAMILIES.values())];

/** nft's name of a family; `undefined` if there is none. */
export function familyName(family: string): string | undefined {
  return FAMILIES.get(family);
}

/** Ports with `-` for `:`. */
function ports(value: Value): string {
  return str(value).replaceAll(":", "-");
}

/** Numbers with commas, the largest first. */
function sortedPorts(value: Value): string {
  const numbers = str(value).split(",").map(Number).sort((a, b) => b - a);
  return numbers.join(", ");
}

/** The match of each keyword, in the order of a rule. */
const MATCHES: readonly (readonly [keys: readonly string[], make: (value: Value, family: string) => string])[] = [
  [["if"], (value) => `meta iifname ${str(value)}`],
  [["of"], (value) => `meta oifname ${str(value)}`],
  [["connstate"], (value) => `ct state { ${str(value)} }`],
  [["icmp-type"], (value) => `icmp type { ${str(value)} }`],
  [["icmpv6-type"], (value) => `icmpv6 type { ${str(value)} }`],
  [["pkttype"], (value) => `meta pkttype { ${str(value)} }`],
  [["counter"], () => "counter"],
  [["saddr", "source"], (value, family) => `${family} saddr ${str(value)}`],
  [["daddr", "destination"], (value, family) => `${family} daddr ${str(value)}`],
  [["dport"], (value) => `dport { ${ports(value)} }`],
  [["sport"], (value) => `sport { ${ports(value)} }`],
  [["dports"], (value) => `dport { ${sortedPorts(value)} }`],
  [["sports"], (value) => `sport { ${sortedPorts(value)} }`],
];

const VERDICTS: readonly (readonly [keys: readonly string[], make: (value: Value) => string])[] = [
  [["jump", "target"], str],
  [["j"], str],
  [["redirect-to", "to-port"], (value) => `redirect to ${str(value)}`],
  [["to-ports"], (value) => `--to-ports ${str(value)}`],
  [["to-source"], str],
  [["to-destination"], str],
  [["reject-with"], (value) => `reject with ${str(value)}`],
];

/**
 * The rule of these keywords; unknown ones are ignored.
 * @param family nft's name of it.
 */
export function buildNftRule(kwargs: ValueMap, family: string): string {
  const parts = [...MATCHES, ...VERDICTS].flatMap(([keys, make]) => {
    const given = keys.map((key) => kwargs.get(key)).filter((value) => value !== undefined);
    if (given.length === 0) return [];
    return [make(given.find(truthy) ?? given[0], family)];
  });
  const protocol = str(kwargs.get("proto") ?? "");
  return parts.join(" ").trim().replaceAll(/[ds]port/g, (side) => `${protocol} ${side}`);
}
