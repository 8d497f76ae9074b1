/**
 * IP addresses, interfaces and networks as numbers, with the properties that Python's `ipaddress` gives them. Source:
 * docs.python.org, "ipaddress" (Python 3.11, whose lists of private and reserved networks these are); IANA's
 * special-purpose registries.
 * @module
 */

import { addressText, expandIpv6, isIpv4 } from "./ip_address.ts";

/** One address. */
export interface IpAddress {
  readonly version: 4 | 6;
  readonly value: bigint;
  /** The zone of an IPv6 address: `eth0` of `fe80::1%eth0`. */
  readonly zone?: string;
}

/**
 * An address with the length of its network's prefix: an interface, or a network if all bits after the prefix are 0.
 */
export interface IpInterface extends IpAddress {
  readonly prefix: number;
}

/** The most addresses that {@linkcode hostsOf} lists. */
const MAX_HOSTS = 2 ** 20;

function bitsOf(version: 4 | 6): number {
  return version === 4 ? 32 : 128;
}

/** Parses an address; `undefined` if `text` is none. */
export function parseIpAddress(text: string): IpAddress | undefined {
  if (isIpv4(text)) {
    return { version: 4, value: text.split(".").reduce((value, octet) => value * 256n + BigInt(octet), 0n) };
  }
  const parts = /^([^%/]*)(?:%([^%/]+))?$/.exec(text);
  const digits = parts === null ? undefined : expandIpv6(parts[1]);
  if (parts === null || digits === undefined) return undefined;
  return { version: 6, value: BigInt(`0x${digits}`), ...parts[2] === undefined ? {} : { zone: parts[2] } };
}

/**
 * Parses an interface: an address, or `/` and a prefix, a mask or (IPv4) a mask of hosts; `undefined` if it is none.
 */
export function parseIpInterface(text: string): IpInterface | undefined {
  const [address, mask, ...more] = text.split("/");
  const parsed = parseIpAddress(address);
  if (parsed === undefined || more.length > 0) return undefined;
  const prefix = mask === undefined ? bitsOf(parsed.version) : prefixOf(mask, parsed.version);
  return prefix === undefined ? undefined : { ...parsed, prefix };
}

/**
 * Parses a network; `undefined` if `text` is none.
 * @param options.strict Whether an address with bits after its prefix is none. Otherwise these bits are cleared.
 */
export function parseIpNetwork(text: string, options: { readonly strict: boolean }): IpInterface | undefined {
  const parsed = parseIpInterface(text);
  if (parsed === undefined) return undefined;
  const { version, prefix, value } = networkOf(parsed);
  return options.strict && value !== parsed.value ? undefined : { version, prefix, value };
}

function prefixOf(mask: string, version: 4 | 6): number | undefined {
  const bits = bitsOf(version);
  if (/^\d+$/.test(mask)) return Number(mask) <= bits ? Number(mask) : undefined;
  const parsed = version === 4 && isIpv4(mask) ? parseIpAddress(mask) : undefined;
  if (parsed === undefined) return undefined;
  const text = parsed.value.toString(2).padStart(bits, "0");
  const match = /^(1*)0*$/.exec(text) ?? /^(0*)1*$/.exec(text);
  return match?.[1].length;
}

/** The network of an interface. */
export function networkOf({ version, value, prefix }: IpInterface): IpInterface {
  const hostBits = BigInt(bitsOf(version) - prefix);
  return { version, prefix, value: value >> hostBits << hostBits };
}

/** The shortest text of an address. */
export function ipAddressText({ version, value, zone }: IpAddress): string {
  const text = addressText(value.toString(16).padStart(bitsOf(version) / 4, "0"));
  return zone === undefined ? text : `${text}%${zone}`;
}

/** An interface or network as `ADDRESS/PREFIX`. */
export function ipInterfaceText(one: IpInterface): string {
  return `${ipAddressText(one)}/${one.prefix}`;
}

/** The number of addresses in a network, those that hosts cannot have included. */
export function networkSize({ version, prefix }: IpInterface): bigint {
  return 1n << BigInt(bitsOf(version) - prefix);
}

/** Whether an address is in a network. */
export function isInNetwork(address: IpAddress, network: IpInterface): boolean {
  const hostBits = BigInt(bitsOf(network.version) - network.prefix);
  return address.version === network.version && address.value >> hostBits === network.value >> hostBits;
}

/**
 * The addresses of a network that hosts may have, in order.
 * @throws {RangeError} If there are more than 2 ** 20.
 */
export function hostsOf(network: IpInterface): IpAddress[] {
  const { version, value } = networkOf(network);
  const size = networkSize(network);
  if (size > MAX_HOSTS) throw new RangeError(`${ipInterfaceText(network)} has more than ${MAX_HOSTS} hosts`);
  // A network of one or two addresses has neither a network address nor a broadcast address.
  const [first, count] = size <= 2n ? [value, size] : [value + 1n, version === 4 ? size - 2n : size - 1n];
  return Array.from({ length: Number(count) }, (_, i) => ({ version, value: first + BigInt(i) }));
}

/** A property that addresses have or not. */
export type IpProperty =
  | "global"
  | "linkLocal"
  | "loopback"
  | "multicast"
  | "private"
  | "reserved"
  | "siteLocal"
  | "unspecified";

/** The networks whose addresses have a property. `global` is what is not `private`, here as in Salt. */
const NETWORKS: Readonly<Record<Exclude<IpProperty, "global">, readonly string[]>> = {
  linkLocal: ["169.254.0.0/16", "fe80::/10"],
  loopback: ["127.0.0.0/8", "::1/128"],
  multicast: ["224.0.0.0/4", "ff00::/8"],
  private: [
    ...["0.0.0.0/8", "10.0.0.0/8", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12", "192.0.0.0/29", "192.0.0.170/31"],
    ...["192.0.2.0/24", "192.168.0.0/16", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24", "240.0.0.0/4"],
    ...["::1/128", "::/128", "100::/64", "2001::/23", "2001:db8::/32", "fc00::/7", "fe80::/10"],
  ],
  reserved: [
    ...["240.0.0.0/4", "::/8", "100::/8", "200::/7", "400::/6", "800::/5", "1000::/4", "4000::/3", "6000::/3"],
    ...["8000::/3", "a000::/3", "c000::/3", "e000::/4", "f000::/5", "f800::/6", "fe00::/9"],
  ],
  siteLocal: ["fec0::/10"],
  unspecified: ["0.0.0.0/32", "::/128"],
};

const parsedNetworks = new Map<string, readonly IpInterface[]>();

function networksWith(property: Exclude<IpProperty, "global">): readonly IpInterface[] {
  const networks = parsedNetworks.get(property) ??
    NETWORKS[property].flatMap((text) => parseIpNetwork(text, { strict: true }) ?? []);
  parsedNetworks.set(property, networks);
  return networks;
}

const MAPPED: IpInterface = { version: 6, value: 0xffffn << 32n, prefix: 96 };

/** Whether the address has the property. An IPv4 address within an IPv6 one is as private as the IPv4 address. */
export function hasIpProperty(address: IpAddress, property: IpProperty): boolean {
  if (property === "global") return !hasIpProperty(address, "private");
  if (property === "private" && isInNetwork(address, MAPPED)) {
    return hasIpProperty({ version: 4, value: address.value & 0xffffffffn }, "private");
  }
  return networksWith(property).some((network) => isInNetwork(address, network));
}
