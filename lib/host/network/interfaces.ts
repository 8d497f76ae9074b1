/**
 * The host's network interfaces from the output of `ip` or `ifconfig`, in the form of Salt's `network.interfaces`.
 * Source: Salt 3008.3, `salt/utils/network.py`; ip-address(8).
 * @module
 */

import { CommandError } from "#lib/errors.ts";
import { matchesGlob } from "#lib/text/glob.ts";
import {
  hasIpProperty,
  type IpAddress,
  ipAddressText,
  type IpInterface,
  ipInterfaceText,
  isInNetwork,
  networkOf,
  networkSize,
  parseIpAddress,
  parseIpInterface,
  parseIpNetwork,
} from "#lib/text/ip_network.ts";
import { splitInput } from "#lib/values/split_input.ts";
import type { Value } from "#lib/values/value.ts";

/** One address of an interface. */
export interface InterfaceAddress {
  /** Of a secondary address: its family. */
  readonly type?: IpFamily;
  readonly address: string;
  /** IPv4: 255.255.255.0 */
  readonly netmask?: string;
  readonly broadcast?: string | null;
  readonly label?: string;
  /** IPv6: the length of the prefix, as text. */
  readonly prefixlen?: string;
  readonly scope?: string | null;
}

/** The address families, by Salt's names. */
export type IpFamily = "inet" | "inet6";

/** One interface. */
export interface NetworkInterface {
  up: boolean;
  /** The interface that this one is made of: of a VLAN, `eth0`. */
  parent?: string;
  hwaddr?: string;
  inet?: InterfaceAddress[];
  inet6?: InterfaceAddress[];
  secondary?: InterfaceAddress[];
}

/** Interfaces by name, in the kernel's order. */
export type Interfaces = Map<string, NetworkInterface>;

/** 255.255.255.0 for 24; empty text for 0. */
function netmaskOf(prefix: number): string {
  if (!(prefix >= 1 && prefix <= 32)) return "";
  return ipAddressText({ version: 4, value: 0xffffffffn >> BigInt(32 - prefix) << BigInt(32 - prefix) });
}

/** Parses the output of `ip link show`, followed by that of `ip addr show`. */
export function parseIpOutput(text: string): Interfaces {
  const interfaces: Interfaces = new Map();
  for (const group of text.split(/\r?\n\d/)) {
    let name: string | undefined;
    const data: NetworkInterface = { up: false };
    for (const line of group.split(/\r?\n/)) {
      const head = /^\d*:\s+([\w.-]+)@?([\w.-]+)?:\s+<(.+)>/.exec(line);
      if (head !== null) {
        name = head[1];
        data.up = head[3].split(",").includes("UP");
        if (head[2] !== undefined) data.parent = head[2];
      } else addDetail(data, line.trim().split(/\s+/));
    }
    if (name !== undefined) interfaces.set(name, data);
  }
  return interfaces;
}

function after(words: readonly string[], key: string): string | null {
  const at = words.indexOf(key);
  return at < 0 ? null : words[at + 1] ?? null;
}

function addDetail(data: NetworkInterface, words: readonly string[]): void {
  const [type, value] = words;
  if (value === undefined) return;
  if (type.startsWith("link")) data.hwaddr = value;
  if (type !== "inet" && type !== "inet6") return;
  const [address, prefix = "32"] = value.split("/");
  const one: InterfaceAddress = type === "inet"
    ? {
      address,
      netmask: netmaskOf(Number(prefix)),
      broadcast: after(words, "brd"),
      label: words[words.length - 1],
    }
    : { address, prefixlen: prefix, scope: after(words, "scope") };
  if (words.includes("secondary")) (data.secondary ??= []).push({ type, ...one });
  else (data[type] ??= []).push(one);
}

/** Parses the output of `ifconfig -a`. */
export function parseIfconfig(text: string): Interfaces {
  const interfaces: Interfaces = new Map();
  for (const group of text.split(/\r?\n(?=\S)/)) {
    const name = /^([^\s:]+)/.exec(group)?.[1] ?? "";
    const data: NetworkInterface = { up: false };
    for (const line of group.split(/\r?\n/)) {
      const hwaddr = /(?:HWaddr|ether|address:|lladdr) ([0-9a-fA-F:]+)/.exec(line)?.[1];
      if (hwaddr !== undefined) data.hwaddr = hwaddr;
      const inet = /(?:inet addr:|inet [^\d]*)(.*?)\s/.exec(line)?.[1];
      if (inet !== undefined) (data.inet ??= []).push({ address: inet, ...ifconfigMask(line) });
      if (/UP/.test(line)) data.up = true;
      const six = /inet6 addr: (.*?)\/|inet6 ([0-9a-fA-F:]+)/.exec(line);
      if (six !== null) (data.inet6 ??= []).push({ address: six[1] ?? six[2], ...ifconfigPrefix(line) });
    }
    interfaces.set(name, data);
  }
  return interfaces;
}

function ifconfigMask(line: string): Partial<InterfaceAddress> {
  const mask = /(?:Mask:|netmask )(?:((?:0x)?[0-9a-fA-F]{8})|([\d.]+))/.exec(line);
  const broadcast = /(?:Bcast:|broadcast )([\d.]+)/.exec(line)?.[1];
  const hex = mask?.[1];
  const netmask = hex === undefined
    ? mask?.[2]
    : ipAddressText({ version: 4, value: BigInt(`0x${hex.replace(/^0x/, "")}`) });
  return { ...netmask === undefined ? {} : { netmask }, ...broadcast === undefined ? {} : { broadcast } };
}

function ifconfigPrefix(line: string): Partial<InterfaceAddress> {
  const match = /(?:inet6 addr: [0-9a-fA-F:]+\/(\d+)|prefixlen (\d+))(?: Scope:([a-zA-Z]+)| scopeid (0x[0-9a-fA-F]))?/
    .exec(line);
  if (match === null) return {};
  return { prefixlen: match[1] ?? match[2], scope: (match[3] ?? match[4])?.toLowerCase() ?? null };
}

/** The interfaces whose names one of the globs matches; all, if there is none. */
export function chosenInterfaces(interfaces: Interfaces, globs: Value): Interfaces {
  if (globs === null) return interfaces;
  const wanted = splitInput(globs);
  return new Map([...interfaces].filter(([name]) => wanted.some((glob) => matchesGlob(glob, name))));
}

/** The addresses of a family, those of secondary ones included. */
function addressesOf(interfaces: Iterable<NetworkInterface>, family: IpFamily): InterfaceAddress[] {
  return [...interfaces].flatMap((one) => [
    ...one[family] ?? [],
    ...(one.secondary ?? []).filter(({ type }) => type === family),
  ]);
}

/**
 * The addresses of a family, in order, each once.
 * @param loopback Whether those of the host itself count.
 */
export function hostAddresses(interfaces: Interfaces, family: IpFamily, loopback: boolean): string[] {
  const parsed = addressesOf(interfaces.values(), family).map(({ address }) => ipAddress(address));
  return sortAddresses(parsed.filter((one) => loopback || !hasIpProperty(one, "loopback"))).map(ipAddressText);
}

/** The networks of a family that the host is in, in order, each once. */
export function hostNetworks(interfaces: Interfaces, family: IpFamily, loopback: boolean): IpInterface[] {
  const networks = addressesOf(interfaces.values(), family).flatMap(({ address, netmask, prefixlen }) => {
    const mask = family === "inet" ? netmask : prefixlen;
    const network = mask ? parseIpNetwork(`${address}/${mask}`, { strict: false }) : undefined;
    return network === undefined || (hasIpProperty(network, "loopback") && !loopback) ? [] : [network];
  });
  return sortAddresses(networks);
}

/** The networks of the addresses that are not the host's own, in order: what `network.subnets` shows. */
export function hostSubnets(interfaces: Iterable<NetworkInterface>, family: IpFamily): string[] {
  const networks = addressesOf(interfaces, family).flatMap(({ address, netmask, prefixlen }) => {
    const mask = family === "inet" ? netmask : prefixlen;
    const one = parseIpInterface(mask === undefined ? address : `${address}/${mask}`);
    if (one === undefined) {
      throw new CommandError(`'${address}/${mask}' does not appear to be an IPv4 or IPv6 interface`);
    }
    return hasIpProperty(one, "loopback") ? [] : [networkOf(one)];
  });
  return sortAddresses(networks).map(ipInterfaceText);
}

/** Addresses or networks by number, each once; of networks with the same address the larger one first. */
function sortAddresses<T extends IpAddress & { readonly prefix?: number }>(all: readonly T[]): T[] {
  const key = ({ version, value, prefix = 128 }: T) =>
    `${version} ${value.toString(16).padStart(32, "0")} ${String(prefix).padStart(3, "0")}`;
  const byKey = new Map(all.map((one) => [key(one), one]));
  return [...byKey.keys()].sort().flatMap((one) => byKey.get(one) ?? []);
}

/** Details of a network, as `network.ip_networks verbose=True` shows them. */
export function networkDetails(network: IpInterface): Record<string, unknown> {
  return {
    address: ipAddressText(network),
    netmask: netmaskText(network),
    num_addresses: networkSize(network),
    prefixlen: network.prefix,
  };
}

/** The mask of a network: 255.255.255.0, ffff:ffff:: */
function netmaskText({ version, prefix }: IpInterface): string {
  const bits = version === 4 ? 32 : 128;
  const all = (1n << BigInt(bits)) - 1n;
  return ipAddressText({ version, value: all >> BigInt(bits - prefix) << BigInt(bits - prefix) });
}

/**
 * An address.
 * @throws {CommandError} With Python's words if `text` is none.
 */
export function ipAddress(text: string): IpAddress {
  const address = parseIpAddress(text);
  if (address === undefined) throw new CommandError(`'${text}' does not appear to be an IPv4 or IPv6 address`);
  return address;
}

/**
 * The network of an address with its prefix or mask.
 * @throws {CommandError} With Python's words if it is none.
 */
export function networkAround(address: string, netmask: string | null): IpInterface {
  const text = netmask === null ? address : `${address}/${netmask}`;
  const network = parseIpNetwork(text, { strict: false });
  if (network === undefined) throw new CommandError(`'${text}' does not appear to be an IPv4 or IPv6 network`);
  return network;
}

/** Network, mask and last address of a network, as `network.convert_cidr` shows them. */
export function networkParts(network: IpInterface): Record<"network" | "netmask" | "broadcast", string> {
  const { version, value } = network;
  const last = value + networkSize(network) - 1n;
  return {
    network: ipAddressText(network),
    netmask: netmaskText(network),
    broadcast: ipAddressText({ version, value: last }),
  };
}

/** Whether one of the addresses is in a network; `undefined` if the network is none. */
export function isAnyIn(cidr: string, addresses: readonly string[]): boolean | undefined {
  const network = parseIpNetwork(cidr, { strict: true });
  return network === undefined ? undefined : addresses.some((one) => isInNetwork(ipAddress(one), network));
}

/** The name for the reverse look-up of an address. */
export function reversePointer(text: string): string {
  const { version, value } = ipAddress(text);
  if (version === 4) return `${text.split(".").reverse().join(".")}.in-addr.arpa`;
  return `${[...value.toString(16).padStart(32, "0")].reverse().join(".")}.ip6.arpa`;
}
