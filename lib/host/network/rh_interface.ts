/**
 * Converts a state's settings for an interface of the Red Hat family to the file `ifcfg-<name>`.
 * Source: Salt 3008.3, `salt/modules/rh_ip.py` _parse_settings_eth, and its templates.
 * @module
 */

import {
  chooseByFlag,
  integerOf,
  isHardwareAddress,
  isIpv4Setting,
  isIpv6Setting,
  itemsOf,
  requireSetting,
  settingError,
  SWITCH_WORDS,
  whenTrue,
  wrongSetting,
} from "./interface_settings.ts";
import { linkOptions, putOffloads } from "./link_options.ts";
import { rhBond } from "./rh_bonding.ts";
import { pythonError } from "#lib/python/errors.ts";
import { dumpJson } from "#lib/values/json.ts";
import { equals, isAmong, isMap, str, toNumber, truthy, type Value, type ValueMap } from "#lib/values/value.ts";

/** Facts of an interface besides its settings. */
export interface RhInterfaceOptions {
  readonly name: string;
  readonly type: string;
  readonly enabled: Value;
  /** The host's processors, and the first number of its release. */
  readonly processors: number;
  readonly release: number;
  /** The hardware address of the network card of that name; `undefined`: there is none. */
  readonly hardware: (name: string) => Promise<Value | undefined>;
}

const ADVERTISED = [
  ..."0x001 0x002 0x004 0x008 0x010 0x020 0x20000 0x8000 0x1000 0x40000 0x80000 0x200000 0x400000".split(" "),
  ..."0x800000 0x1000000 0x2000000 0x4000000".split(" "),
];

function ethtoolOptions(settings: ValueMap, { name: iface, processors }: RhInterfaceOptions): ValueMap {
  const options = linkOptions(settings, iface);
  const advertise = settings.get("advertise");
  if (advertise !== undefined) {
    if (!ADVERTISED.includes(str(advertise))) throw wrongSetting(iface, "advertise", ADVERTISED);
    options.set("advertise", advertise);
  }
  const channels = settings.get("channels");
  if (isMap(channels)) {
    const valid = Array.from({ length: processors }, (_one, i) => i + 1);
    const words = ["rx", "tx", "other", "combined"].flatMap((name) => {
      const count = channels.get(name);
      if (count === undefined) return [];
      if (!isAmong(count, valid)) throw wrongSetting(iface, count, valid);
      return [`${name} ${str(count)}`];
    });
    if (words.length > 0) options.set(`-L ${iface.trim()}`, words.join(" "));
  }
  putOffloads(options, settings, iface);
  return options;
}

/** The options of one type of interface. */
function putType(result: ValueMap, settings: ValueMap, request: RhInterfaceOptions): void {
  const { name: iface, type } = request;
  const put = (name: string, value: Value) => result.set(name, value);
  const json = (name: string) => {
    const given = settings.get(name);
    if (given !== undefined) put(name, dumpJson(given, { ensureAscii: false }));
  };
  if (type === "slave") put("proto", "none");
  if (type === "team") {
    put("devicetype", "Team");
    json("team_config");
  }
  if (type === "teamport") {
    put("devicetype", "TeamPort");
    put("team_master", requireSetting(settings, "team_master"));
    json("team_port_config");
  }
  if (type === "bond") {
    const options = rhBond(settings, { iface, release: request.release });
    put("bonding", [...options].map(([name, value]) => `${str(name)}=${str(value)}`).join(" "));
    put("devtype", "Bond");
  }
  if (type === "vlan") putVlan(result, settings, iface);
}

function putVlan(result: ValueMap, settings: ValueMap, iface: string): void {
  const [header, id, device] = ["reorder_hdr", "vlan_id", "phys_dev"].map((name) => settings.get(name));
  if (header !== undefined && !isAmong(header, SWITCH_WORDS)) throw wrongSetting(iface, "reorder_hdr", SWITCH_WORDS);
  if (id !== undefined) {
    const number = typeof id === "string" ? undefined : toNumber(id);
    if (number === undefined) {
      throw pythonError("TypeError", "'>' not supported between instances of 'str' and 'int'");
    }
    if (number <= 0) throw wrongSetting(iface, "vlan_id", "Positive integer");
  }
  if (device !== undefined && !truthy(device)) throw wrongSetting(iface, "phys_dev", "Non-empty string");
  const given = Object.entries({ reorder_hdr: header, vlan_id: id, phys_dev: device });
  if (given.some(([, value]) => value !== undefined)) result.set("devtype", "Vlan");
  for (const [name, value] of given) if (value !== undefined) result.set(name, value);
}

/** The hardware address: the setting, or with `auto` or without a setting the card's own. */
async function putHardware(result: ValueMap, settings: ValueMap, request: RhInterfaceOptions): Promise<void> {
  if (["bond", "team", "vlan", "bridge", "ipip"].includes(request.type)) return;
  const given = settings.get("hwaddr");
  if (given !== undefined) {
    if (isHardwareAddress(given)) result.set("hwaddr", given);
    else if (given !== "auto") {
      if (given === "none") return;
      throw wrongSetting(request.name, given, ["AA:BB:CC:DD:EE:FF", "auto", "none"]);
    }
  }
  if (result.has("hwaddr") || request.type === "slave") return;
  const own = await request.hardware(request.name);
  if (own !== undefined) result.set("hwaddr", own);
}

const TAKEN = [
  "ipaddr",
  "master",
  "srcaddr",
  "delay",
  "domain",
  "gateway",
  "uuid",
  "nickname",
  "zone",
  "ipv6addr",
  "ipv6gateway",
];

function putAddresses(result: ValueMap, settings: ValueMap): void {
  const prefix = settings.get("prefix"), netmask = settings.get("netmask");
  if (prefix !== undefined) {
    if (netmask !== undefined) throw settingError("Cannot use prefix and netmask together");
    result.set("prefix", prefix);
  } else if (netmask !== undefined) result.set("netmask", netmask);
  for (const name of TAKEN) {
    const given = settings.get(name);
    if (given !== undefined) result.set(name, given);
  }
  const addresses = settings.get("ipaddrs");
  if (addresses !== undefined) {
    result.set(
      "ipaddrs",
      (itemsOf(addresses) ?? []).map((one): ValueMap => {
        if (!isIpv4Setting(one)) throw settingError("ipv4 CIDR is invalid");
        const [ipaddr, length] = str(one).split("/").map((part) => part.trim());
        if (length === undefined) {
          throw pythonError("ValueError", "not enough values to unpack (expected 2, got 1)");
        }
        return new Map([["ipaddr", ipaddr], ["prefix", length]]);
      }),
    );
  }
  const addresses6 = itemsOf(settings.get("ipv6addrs") ?? []) ?? [];
  if (!addresses6.every(isIpv6Setting)) throw settingError("ipv6 CIDR is invalid");
  if (addresses6.length > 0) result.set("ipv6addrs", settings.get("ipv6addrs") ?? null);
  const ipv6 = settings.get("enable_ipv6");
  if (ipv6 !== undefined) result.set("enable_ipv6", ipv6);
}

const SWITCHES = [
  ..."onparent peerdns peerroutes slave vlan defroute stp ipv6_peerdns ipv6_defroute ipv6_peerroutes".split(" "),
  ..."ipv6_autoconf ipv4_failure_fatal dhcpv6c".split(" "),
];

function putSwitches(result: ValueMap, settings: ValueMap, request: RhInterfaceOptions): void {
  const put = (name: string) => {
    const given = settings.get(name);
    if (given === undefined) return;
    const choice = chooseByFlag(given, ["yes", "no"]);
    if (choice === undefined) throw wrongSetting(request.name, given, SWITCH_WORDS);
    result.set(name, choice);
  };
  SWITCHES.forEach(put);
  result.set("onboot", truthy(request.enabled) ? "yes" : "no");
  for (const name of ["userctl", "nm_controlled"]) {
    result.set(name, "no");
    put(name);
  }
  if (chooseByFlag(settings.get("arpcheck") ?? null, [true, false]) === false) result.set("arpcheck", "no");
  for (const name of ["ipaddr_start", "ipaddr_end", "clonenum_start", "hwaddr", "macaddr"]) {
    const given = settings.get(name);
    if (given !== undefined) result.set(name, given);
  }
}

/** Whether packets over a bridge bypass the host's firewall. */
function bypassesFirewall(settings: ValueMap, iface: string): boolean {
  const given = settings.get("bypassfirewall");
  const choice = given === undefined ? true : chooseByFlag(given, [true, false]);
  if (choice === undefined) throw wrongSetting(iface, given ?? null, SWITCH_WORDS);
  return choice;
}

/**
 * The options of an interface to write, by the names of Salt's settings.
 * @param bridge Called for a bridge, with whether its packets bypass the firewall.
 * @throws Python's AttributeError for an invalid setting.
 */
export async function rhInterface(
  settings: ValueMap,
  request: RhInterfaceOptions,
  bridge: (bypass: boolean) => Promise<void>,
): Promise<ValueMap> {
  const { name: iface, type } = request;
  const result: ValueMap = new Map([["name", iface]]);
  const settingOf = (name: string) => settings.get(name);
  const proto = settingOf("proto");
  if (proto !== undefined) {
    const protocols = ["none", "bootp", "dhcp"];
    if (!isAmong(proto, protocols)) throw wrongSetting(iface, proto, protocols);
    result.set("proto", proto);
  }
  const dns = settingOf("dns");
  if (dns !== undefined) result.set("dns", dns).set("peerdns", "yes");
  const mtu = settingOf("mtu");
  if (mtu !== undefined) {
    const bytes = integerOf(mtu);
    if (bytes === undefined) throw wrongSetting(iface, "mtu", ["integer"]);
    result.set("mtu", bytes);
  }
  if (settings.has("hwaddr") && settings.has("macaddr")) {
    throw settingError("Cannot pass both hwaddr and macaddr. Must use either hwaddr or macaddr");
  }
  if (type !== "bridge") {
    const options = ethtoolOptions(settings, request);
    if (options.size > 0) {
      result.set("ethtool", [...options].map(([name, value]) => `${str(name)} ${str(value)}`).join(" "));
    }
  }
  putType(result, settings, request);
  await putHardware(result, settings, request);
  if (type === "eth") result.set("devtype", "Ethernet");
  if (type === "bridge") {
    result.set("devtype", "Bridge");
    await bridge(bypassesFirewall(settings, iface));
  } else if (settings.has("bridge")) result.set("bridge", settingOf("bridge") ?? null);
  if (type === "ipip") {
    result.set("devtype", "IPIP");
    for (const name of ["my_inner_ipaddr", "my_outer_ipaddr"]) {
      if (!settings.has(name)) throw wrongSetting(iface, name, "1.2.3.4");
      result.set(name, settingOf(name) ?? null);
    }
  }
  if (type === "ib") result.set("devtype", "InfiniBand");
  putAddresses(result, settings);
  putSwitches(result, settings, request);
  return result;
}

/** The text of `ifcfg-<name>`. */
export function ifcfgText(data: ValueMap): string {
  const get = (name: string) => data.get(name);
  const quoteLine = (word: string, name: string) => whenTrue(get(name), (text) => `${word}="${text}"\n`);
  const bare = (word: string, name: string) => whenTrue(get(name), (text) => `${word}=${text}\n`);
  const all = (pairs: string) =>
    pairs.split(" ").map((pair) => {
      const [word, name = word.toLowerCase()] = pair.split("=");
      return quoteLine(word, name);
    }).join("");
  const json = (word: string, name: string) => whenTrue(get(name), (text) => `${word}='${text}'\n`);
  const items = (name: string) => itemsOf(get(name) ?? []) ?? [];
  const joinLine = (word: string, name: string) =>
    truthy(get(name)) ? `${word}="${items(name).map(str).join(" ")}"\n` : "";
  const addresses = items("ipaddrs").map((one, i) => {
    const part = (name: string) => str(isMap(one) ? one.get(name) ?? "" : "");
    return `IPADDR${i + 1}="${part("ipaddr")}"\nPREFIX${i + 1}="${part("prefix")}"\n`;
  });
  const delay = get("delay");
  return [
    `DEVICE="${str(get("name") ?? "")}"\n`,
    all("NAME=nickname HWADDR MACADDR UUID USERCTL MASTER SLAVE VLAN"),
    truthy(get("vlan")) ? all("REORDER_HDR VID=vlan_id PHYSDEV=phys_dev") : "",
    all("TYPE=devtype DEVICETYPE"),
    json("TEAM_CONFIG", "team_config") + json("TEAM_PORT_CONFIG", "team_port_config"),
    all("TEAM_MASTER BOOTPROTO=proto ONBOOT") + bare("ONPARENT", "onparent"),
    all("IPV4_FAILURE_FATAL IPADDR IPADDR_START IPADDR_END CLONENUM_START NETMASK PREFIX"),
    addresses.join(""),
    all("GATEWAY ARPCHECK"),
    truthy(get("enable_ipv6"))
      ? `IPV6INIT="yes"\n` + all("IPV6_AUTOCONF DHCPV6C IPV6ADDR IPV6_DEFAULTGW=ipv6gateway") +
        joinLine("IPV6ADDR_SECONDARIES", "ipv6addrs") + all("IPV6_PEERDNS IPV6_DEFROUTE IPV6_PEERROUTES")
      : "",
    all("SRCADDR PEERDNS PEERROUTES PEERNTP DEFROUTE BRIDGE STP"),
    delay !== undefined && (truthy(delay) || equals(delay, 0)) ? `DELAY="${str(delay)}"\n` : "",
    all("MTU ZONE") + bare("MY_INNER_IPADDR", "my_inner_ipaddr") + bare("MY_OUTER_IPADDR", "my_outer_ipaddr"),
    all("BONDING_OPTS=bonding ETHTOOL_OPTS=ethtool") + joinLine("DOMAIN", "domain") + all("NM_CONTROLLED"),
    ...items("dns").map((server, i) => `DNS${i + 1}="${str(server)}"\n`),
  ].join("");
}
