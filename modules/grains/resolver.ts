/**
 * Grain `dns`: the settings of the resolver.
 * Source: Salt 3008.3 `salt/grains/core.py` dns, `salt/utils/dns.py` parse_resolv; resolv.conf(5).
 * @module
 */

import type { HostFiles } from "#lib/programs/files.ts";
import { isIpv4 } from "#lib/text/ip_address.ts";
import { ipAddressText, type IpInterface, networkOf, parseIpAddress, parseIpNetwork } from "#lib/text/ip_network.ts";
import type { Grains } from "./os.ts";

/** What resolv.conf says; systemd's own file before the stub that points to it. */
export function resolverGrains(files: HostFiles): Grains {
  const text = files.text("/run/systemd/resolve/resolv.conf") ?? files.text("/etc/resolv.conf");
  if (text === undefined) return {};
  const nameservers = new Set<string>(), options = new Set<string>();
  let domain = "", search: string[] = [];
  const sortlist = new Set<string>();
  for (const line of text.split("\n")) {
    const [directive, ...words] = line.trim().split(/\s+/);
    const comment = words.findIndex((word) => word.startsWith("#") || word.startsWith(";"));
    const args = comment < 0 ? words : words.slice(0, comment);
    const name = directive.toLowerCase();
    if (name === "search") search = args;
    else if (name === "sortlist") { for (const pair of args.flatMap(sortPair)) sortlist.add(pair); }
    else if (args.length === 0) continue;
    else if (name === "nameserver") {
      const address = parseIpAddress(args[0]);
      if (address !== undefined) nameservers.add(ipAddressText(address));
    } else if (name === "domain") domain = args[0];
    else if (name === "options") options.add(args[0]);
  }
  const all = [...nameservers];
  return {
    dns: {
      nameservers: all,
      ip4_nameservers: all.filter(isIpv4),
      ip6_nameservers: all.filter((address) => !isIpv4(address)),
      sortlist: [...sortlist],
      domain,
      search,
      options: [...options],
    },
  };
}

/**
 * A network of `sortlist` as its address and mask; none if it cannot be read. Without a mask, an IPv4 network has that
 * of its class.
 */
function sortPair(text: string): string[] {
  const network = parseIpNetwork(text, { strict: true });
  if (network === undefined) return [];
  const whole = text.includes("/") || network.version === 6
    ? network
    : networkOf({ ...network, prefix: classPrefix(network) });
  return [`${ipAddressText(whole)}/${maskText(whole)}`];
}

/** The length of an IPv4 network of class A, B or C; the classes after C count as C. */
function classPrefix({ value }: IpInterface): number {
  const first = value >> 24n;
  return first < 128n ? 8 : first < 192n ? 16 : 24;
}

function maskText({ version, prefix }: IpInterface): string {
  const bits = version === 4 ? 32 : 128;
  const value = ((1n << BigInt(prefix)) - 1n) << BigInt(bits - prefix);
  return ipAddressText({ version, value });
}
