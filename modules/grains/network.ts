/**
 * Grains of the network: interfaces and addresses, the host's names, gateways, resolver.
 *
 * No name is looked up: `fqdn` and `fqdn_ip*` come from the hosts file alone, where Salt asks the resolver and may wait
 * for it. Source: Salt 3008.3 `salt/grains/core.py`, `salt/utils/network.py`; proc(5).
 * @module
 */

import type { HostFiles } from "#lib/programs/files.ts";
import { expandIpv6, isIpv4, isIpv6, sortAddresses } from "#lib/text/ip_address.ts";
import type { Grains } from "./os.ts";
import { resolverGrains } from "./resolver.ts";
import { clearTimeout, setTimeout, type Timer } from "#lib/os/timers.ts";
import type { GrainAddress } from "#lib/plugins/core_grains.ts";

/** All grains of the network. */
export function networkGrains(files: HostFiles, addresses: readonly GrainAddress[]): Grains {
  const names = interfaceNames(files, addresses);
  const of = (name: string, family?: "IPv4" | "IPv6") =>
    addresses.filter((one) => baseName(one.name) === name && (family === undefined || one.family === family))
      .sort((a, b) => a.family < b.family ? -1 : a.family > b.family ? 1 : 0).map((one) => one.address);
  const byName = (value: (name: string) => unknown) => Object.fromEntries(names.map((name) => [name, value(name)]));
  const all = (family: "IPv4" | "IPv6") =>
    sortAddresses(addresses.filter((one) => one.family === family).map((one) => one.address));
  const hardware = names.map((name) => [name, hardwareAddress(files, { name, addresses })]);
  return {
    ...nameGrains(files),
    hwaddr_interfaces: Object.fromEntries(hardware.filter(([, address]) => address !== "")),
    ip4_interfaces: byName((name) => of(name, "IPv4")),
    ip6_interfaces: byName((name) => of(name, "IPv6")),
    ip_interfaces: byName((name) => of(name)),
    ipv4: all("IPv4"),
    ipv6: all("IPv6"),
    ...gatewayGrains(files),
    ...resolverGrains(files),
  };
}

/** An alias such as `eth0:1` is an address of its interface. */
function baseName(name: string): string {
  return name.split(":", 1)[0];
}

/** The interfaces in the kernel's order, those without addresses included. */
function interfaceNames(files: HostFiles, addresses: readonly GrainAddress[]): string[] {
  const indexed = files.names("/sys/class/net").flatMap((name) => {
    const index = files.line(`/sys/class/net/${name}/ifindex`);
    return index === undefined ? [] : [{ name, index: Number(index) }];
  });
  const names = indexed.sort((a, b) => a.index - b.index).map(({ name }) => name);
  return [...new Set([...names, ...addresses.map(({ name }) => baseName(name))])];
}

function hardwareAddress(
  files: HostFiles,
  { name, addresses }: { name: string; addresses: readonly GrainAddress[] },
): string {
  return files.line(`/sys/class/net/${name}/address`) ?? addresses.find((one) => one.name === name)?.mac ?? "";
}

/** `localhost`, `fqdn`, `host`, `domain`, `fqdn_ip4`, `fqdn_ip6`. */
function nameGrains(files: HostFiles): Grains {
  const localhost = files.line("/proc/sys/kernel/hostname") ?? Deno.hostname();
  const hosts = (files.text("/etc/hosts") ?? "").split("\n").map((line) => line.replace(/#.*/, "").trim().split(/\s+/));
  // The first name of a line is the full one, the others are its aliases.
  const fqdn = hosts.find(([, ...names]) => names.includes(localhost))?.[1] ?? localhost;
  const addresses = hosts.filter(([, ...names]) => names.includes(fqdn)).map(([address]) => address);
  const dot = fqdn.indexOf(".");
  return {
    localhost,
    fqdn,
    host: dot < 0 ? fqdn : fqdn.slice(0, dot),
    domain: dot < 0 ? "" : fqdn.slice(dot + 1),
    fqdn_ip4: [...new Set(addresses.filter(isIpv4))],
    fqdn_ip6: [...new Set(addresses.filter(isIpv6))],
  };
}

const ROUTE_UP = 1;

/** `ip4_gw`, `ip6_gw`: the default gateway's address, or whether there is a default route; `ip_gw`: whether any is. */
function gatewayGrains(files: HostFiles): Grains {
  const ip4_gw = gateway4(files.text("/proc/net/route") ?? "");
  const ip6_gw = gateway6(files.text("/proc/net/ipv6_route") ?? "");
  return { ip_gw: ip4_gw !== false || ip6_gw !== false, ip4_gw, ip6_gw };
}

function gateway4(routes: string): string | boolean {
  for (const line of routes.split("\n").slice(1)) {
    const [, destination, gateway, flags, , , , mask] = line.split(/\s+/);
    if (destination !== "00000000" || mask !== "00000000" || (Number(`0x${flags}`) & ROUTE_UP) === 0) continue;
    // Four bytes in the machine's order, which is little-endian wherever this runs.
    const bytes = gateway.match(/../g)?.reverse().map((byte) => parseInt(byte, 16)) ?? [];
    return gateway === "00000000" || bytes.join(".");
  }
  return false;
}

function gateway6(routes: string): string | boolean {
  for (const line of routes.split("\n")) {
    const [destination, prefix, , , gateway, , , , flags, device] = line.trim().split(/\s+/);
    if (!/^0{32}$/.test(destination) || prefix !== "00" || device === "lo") continue;
    if ((Number(`0x${flags}`) & ROUTE_UP) === 0) continue;
    return /^0{32}$/.test(gateway) || shortIpv6(gateway);
  }
  return false;
}

/** The usual spelling of 32 hexadecimal digits: the longest run of zero groups left out. */
function shortIpv6(digits: string): string {
  const groups = (digits.match(/..../g) ?? []).map((group) => parseInt(group, 16).toString(16));
  const runs = groups.map((_, start) => {
    let length = 0;
    while (groups[start + length] === "0") length++;
    return { start, length };
  });
  const longest = runs.reduce((best, run) => run.length > best.length ? run : best, { start: 0, length: 1 });
  if (longest.length < 2) return groups.join(":");
  return `${groups.slice(0, longest.start).join(":")}::${groups.slice(longest.start + longest.length).join(":")}`;
}

/**
 * `fqdns`: the names that the resolver has for this host's addresses. The one grain that asks the network, and only if
 * the option `enable_fqdns_grains` says so.
 * @param options.lookUp Names of an address; rejects if there are none.
 */
export async function fqdnsGrain(
  addresses: readonly GrainAddress[],
  options: { readonly lookUp: (address: string) => Promise<string[]>; readonly timeoutMs: number },
): Promise<Grains> {
  const outward = addresses.filter(({ address }) => !address.startsWith("127.") && expandIpv6(address) !== LOOPBACK_6);
  let timer: Timer | undefined;
  const timeout = new Promise<string[]>((resolve) => timer = setTimeout(() => resolve([]), options.timeoutMs));
  const names = await Promise.all(
    outward.map(({ address }) => Promise.race([options.lookUp(address).catch(() => []), timeout])),
  );
  clearTimeout(timer);
  return { fqdns: [...new Set(names.flat().map((name) => name.replace(/\.$/, "")))].sort() };
}

const LOOPBACK_6 = "0".repeat(31) + "1";
