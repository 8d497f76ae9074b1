/**
 * Members of sets of ipset, and whether one is contained in another.
 * Source: Salt 3008.3 `salt/modules/ipset.py` _parse_member, _member_contains; ipset(8).
 * @module
 */

import { type IpAddress, type IpInterface, isInNetwork, parseIpAddress, parseIpNetwork } from "#lib/text/ip_network.ts";

/** One part of a member. */
type Part =
  | { readonly kind: "address"; readonly address: IpAddress }
  | { readonly kind: "network"; readonly network: IpInterface }
  | { readonly kind: "range"; readonly networks: readonly IpInterface[] }
  | { readonly kind: "text"; readonly text: string };

/** A member of a set: its parts, and its options (`timeout 30`). */
export type SetMember = readonly Part[];

/** The smallest list of networks with exactly the addresses from `first` to `last`; `undefined`: there is none. */
function networksBetween(first: IpAddress, last: IpAddress): IpInterface[] | undefined {
  const { version } = first;
  if (version !== last.version || first.value > last.value) return undefined;
  const bits = version === 4 ? 32 : 128;
  const networks: IpInterface[] = [];
  for (let at = first.value; at <= last.value;) {
    let free = 0;
    // The network begins at `at`, and does not go beyond the last address.
    while (free < bits && (at >> BigInt(free) & 1n) === 0n && at + (2n << BigInt(free)) - 1n <= last.value) free++;
    networks.push({ version, value: at, prefix: bits - free });
    at += 1n << BigInt(free);
  }
  return networks;
}

function ipPart(text: string): Part | undefined {
  if (text.includes("/")) {
    const network = parseIpNetwork(text, { strict: false });
    return network && { kind: "network", network };
  }
  if (text.includes("-")) {
    const [first, last, ...more] = text.split("-").map(parseIpAddress);
    if (first === undefined || last === undefined || more.length > 0) return undefined;
    const networks = networksBetween(first, last);
    return networks && { kind: "range", networks };
  }
  const address = parseIpAddress(text);
  return address && { kind: "address", address };
}

/**
 * A member of a set.
 * @param type The set's: `hash:ip,port`.
 */
export function parseMember(type: string, text: string): SetMember {
  const [, kinds = ""] = type.split(":");
  const end = text.indexOf(" ");
  const words = (end < 0 ? text : text.slice(0, end)).split(",");
  const parts = kinds.split(",").map((kind, n): Part => {
    const word = words[n] ?? "";
    return (kind === "ip" || kind === "net" ? ipPart(word) : undefined) ?? { kind: "text", text: word };
  });
  return end < 0 ? parts : [...parts, { kind: "text", text: text.slice(end + 1) }];
}

function keyOf(part: Part): string {
  const network = ({ version, value, prefix }: IpInterface) => `${version} ${value}/${prefix}`;
  switch (part.kind) {
    case "address":
      return `address ${part.address.version} ${part.address.value}`;
    case "network":
      return `network ${network(part.network)}`;
    case "range":
      return `range ${part.networks.map(network).join()}`;
    case "text":
      return `text ${part.text}`;
  }
}

function matches(member: Part, entry: Part): boolean {
  if (keyOf(member) === keyOf(entry)) return true;
  if (entry.kind === "range") {
    return entry.networks.every((network) => matches(member, { kind: "network", network }));
  }
  if (member.kind === "address" && entry.kind === "network") return isInNetwork(member.address, entry.network);
  return member.kind === "network" && entry.kind === "address" && isInNetwork(entry.address, member.network);
}

/** Whether each part of an entry equals, is in or contains that of a member. */
export function containsMember(member: SetMember, entry: SetMember): boolean {
  return entry.every((part, n) => n < member.length && matches(member[n], part));
}
