/**
 * The attributes of an interface in Debian's `/etc/network/interfaces`, the allowed values of each in an address
 * family, and their names in Salt's states. Source: Salt 3008.3, `salt/modules/debian_ip.py`; interfaces(5).
 * @module
 */

import { splitWhitespace } from "#lib/text/split_lines.ts";
import {
  integerOf,
  isHardwareAddress,
  isIpv4Setting,
  isIpv6Setting,
  isNetmask,
  parsePythonFloat,
} from "./interface_settings.ts";
import { isAmong, isMap, str, type Value } from "#lib/values/value.ts";

/** The address families, in the order in which their blocks are written. */
export const FAMILIES = ["inet", "inet6"] as const;

export type AddressFamily = typeof FAMILIES[number];

/** The parsed value of an attribute, and whether it is valid. */
interface Checked {
  readonly valid: boolean;
  readonly value: Value;
}

type Check = (value: Value) => Checked;

const anything: Check = (value) => ({ valid: true, value });
const such = (is: (value: Value) => boolean): Check => (value) => ({ valid: is(value), value });
const ipv4 = such(isIpv4Setting);
const ipv6 = such(isIpv6Setting);
const hardware = such(isHardwareAddress);

const converting = (convert: (value: Value) => Value | undefined): Check => (value) => {
  const number = convert(value);
  return { valid: number !== undefined, value: number ?? value };
};
const integer = converting(integerOf);
const decimal = converting(parsePythonFloat);

const integerBelow = (max: number) => (value: Value): Checked => {
  const { valid, value: number } = integer(value);
  return { valid: valid && Number(number) >= 0 && Number(number) <= max, value: number };
};

const netmask4: Check = (value) => {
  const check = integerBelow(32)(value);
  return check.valid ? check : { valid: isNetmask(check.value), value: check.value };
};

const word = (...words: string[]): Check => (value) => ({ valid: words.includes(str(value)), value: str(value) });
const oneOf = (...values: Value[]): Check => such((value) => isAmong(value, values));
const number = (...numbers: number[]): Check => (value) => {
  const number = integerOf(value);
  return { valid: number !== undefined && isAmong(number, numbers), value: number ?? value };
};

const words: Check = (value) => {
  const list = typeof value === "string" ? splitWhitespace(value) : value;
  const valid = Array.isArray(list) ? list.length > 0 : isMap(list);
  return { valid, value: list };
};

const TUNNEL = word("gre", "GRE", "ipip", "IPIP", "802.3ad");

const IPV4: Readonly<Record<string, Check>> = {
  proto: word("bootp", "dhcp", "static", "manual", "loopback", "ppp"),
  address: ipv4,
  addresses: anything,
  netmask: netmask4,
  broadcast: ipv4,
  metric: integer,
  gateway: ipv4,
  pointopoint: ipv4,
  hwaddress: hardware,
  mtu: integer,
  scope: word("global", "link", "host"),
  hostname: anything,
  leasehours: integer,
  leasetime: integer,
  vendor: anything,
  client: anything,
  bootfile: anything,
  server: ipv4,
  hwaddr: hardware,
  mode: TUNNEL,
  endpoint: ipv4,
  dstaddr: ipv4,
  local: ipv4,
  ttl: integer,
  slaves: anything,
  provider: anything,
  unit: integer,
  options: anything,
  "dns-nameservers": words,
  "dns-search": words,
  "vlan-raw-device": anything,
  network: anything,
  test: anything,
  enable_ipv4: anything,
  enable_ipv6: anything,
};

const IPV6: Readonly<Record<string, Check>> = {
  proto: oneOf("auto", "loopback", "static", "manual", "dhcp", "v4tunnel", "6to4"),
  address: ipv6,
  addresses: anything,
  netmask: integerBelow(128),
  broadcast: ipv6,
  gateway: ipv6,
  hwaddress: hardware,
  mtu: integer,
  scope: word("global", "site", "link", "host"),
  privext: number(0, 1, 2),
  dhcp: number(0, 1),
  media: anything,
  accept_ra: number(0, 1, 2),
  autoconf: number(0, 1),
  "preferred-lifetime": integer,
  "dad-attempts": integer,
  "dad-interval": decimal,
  slaves: anything,
  mode: TUNNEL,
  endpoint: ipv4,
  local: ipv4,
  ttl: integer,
  "dns-nameservers": words,
  "dns-search": words,
  "vlan-raw-device": anything,
  test: anything,
  enable_ipv4: anything,
  enable_ipv6: anything,
};

const WIRELESS: Readonly<Record<string, Check>> = {
  "wireless-essid": anything,
  "wireless-mode": anything,
  "wpa-ap-scan": number(0, 1, 2),
  "wpa-conf": anything,
  "wpa-driver": anything,
  "wpa-group": anything,
  "wpa-key-mgmt": anything,
  "wpa-pairwise": anything,
  "wpa-psk": anything,
  "wpa-proto": anything,
  "wpa-roam": anything,
  "wpa-ssid": anything,
};

const OF_FAMILY = { inet: { ...WIRELESS, ...IPV4 }, inet6: { ...WIRELESS, ...IPV6 } } as const;

/** The attribute of a setting with another name in the file. */
export const ATTRIBUTE_OF: ReadonlyMap<string, string> = new Map([
  ["dns", "dns-nameservers"],
  ["search", "dns-search"],
  ["hwaddr", "hwaddress"],
  ["ipaddr", "address"],
  ["ipaddrs", "addresses"],
  ["addr", "address"],
  ["addrs", "addresses"],
]);

/** Whether an address family has the attribute. */
export function isAttribute(name: string): boolean {
  return FAMILIES.some((family) => Object.hasOwn(OF_FAMILY[family], name));
}

/** Checks an attribute; one that the family does not have is not valid. */
export function checkAttribute(name: string, value: Value, family: string): Checked {
  const checks: Readonly<Record<string, Check>> = family === "inet"
    ? OF_FAMILY.inet
    : family === "inet6"
    ? OF_FAMILY.inet6
    : {};
  return Object.hasOwn(checks, name) ? checks[name](value) : { valid: false, value };
}

/** The options of `ethtool` by their names in the file. */
export const ETHTOOL_ATTRIBUTES: ReadonlyMap<string, string> = new Map([
  ["speed", "link-speed"],
  ["duplex", "link-duplex"],
  ["autoneg", "ethernet-autoneg"],
  ["rx", "offload-rx"],
  ["tx", "offload-tx"],
  ["sg", "offload-sg"],
  ["tso", "offload-tso"],
  ["ufo", "offload-ufo"],
  ["gso", "offload-gso"],
  ["gro", "offload-gro"],
  ["lro", "offload-lro"],
]);

/** Other options of `ethtool` in the file; states have no settings for them. */
export const OTHER_ETHTOOL_ATTRIBUTES: readonly string[] = [
  "ethernet-port",
  "ethernet-wol",
  "driver-message-level",
  "ethernet-pause-rx",
  "ethernet-pause-tx",
  "ethernet-pause-autoneg",
  "hardware-irq-coalesce-adaptive-rx",
  "hardware-irq-coalesce-adaptive-tx",
  "hardware-irq-coalesce-rx-usecs",
  "hardware-irq-coalesce-rx-frames",
  "hardware-dma-ring-rx",
  "hardware-dma-ring-rx-mini",
  "hardware-dma-ring-rx-jumbo",
  "hardware-dma-ring-tx",
];
