/**
 * Converts a state's settings for an interface of Debian to the adapter that `interfaces_file.ts` writes.
 * Source: Salt 3008.3, `salt/modules/debian_ip.py` _parse_settings_eth, and its templates for PPPoE interfaces.
 * @module
 */

import { ATTRIBUTE_OF, checkAttribute, ETHTOOL_ATTRIBUTES, FAMILIES } from "./debian_attributes.ts";
import { debianBond } from "./debian_bonding.ts";
import {
  chooseByFlag,
  integerOf,
  parsePythonFloat,
  requireSetting,
  SWITCH_WORDS,
  whenTrue,
  wrongSetting,
} from "./interface_settings.ts";
import { linkOptions, putOffloads, putSwitch } from "./link_options.ts";
import { compareStrings, isInt, isMap, str, truthy, type Value, type ValueMap } from "#lib/values/value.ts";

/** Facts of an interface besides its settings. */
export interface DebianInterfaceOptions {
  readonly name: string;
  readonly type: string;
  /** Whether it is started with the host. */
  readonly enabled: Value;
  /** Whether the system has no `use_carrier` for bonds of mode 1. */
  readonly noCarrier: boolean;
}

/** Options with their names in order, as a block holds them. */
function putPart(block: ValueMap, part: string, options: ValueMap): void {
  block.set(part, options);
  block.set(`${part}_keys`, [...options.keys()].map(str).sort(compareStrings));
}

function ethtoolPart(settings: ValueMap, iface: string): ValueMap {
  const options = linkOptions(settings, iface);
  putOffloads(options, settings, iface);
  return new Map([...options].map(([name, value]) => [ETHTOOL_ATTRIBUTES.get(str(name)) ?? name, value]));
}

function bridgeOptions(settings: ValueMap, iface: string): ValueMap {
  const options: ValueMap = new Map();
  const put = (name: string, expected: string, take: (value: Value) => Value | undefined) => {
    const given = settings.get(name);
    if (given === undefined) return;
    const settingValue = take(given);
    if (settingValue === undefined) throw wrongSetting(iface, name, [expected]);
    options.set(name, settingValue);
  };
  const ports = settings.get("ports");
  if (ports !== undefined) options.set("ports", Array.isArray(ports) ? ports.map(str).join(" ") : ports);
  for (const name of ["ageing", "fd", "gcint", "hello", "maxage"]) {
    put(name, "float", (value) => parsePythonFloat(value) === undefined ? undefined : value);
  }
  for (const name of ["bridgeprio", "maxwait"]) {
    put(name, "integer", (value) => isInt(value) || typeof value === "boolean" ? value : undefined);
  }
  put(
    "hw",
    "valid MAC address",
    (value) => /^[0-9a-f]{2}([-:])[0-9a-f]{2}(\1[0-9a-f]{2}){4}$/i.test(str(value)) ? value : undefined,
  );
  for (const name of ["pathcost", "portprio"]) {
    put(name, "interface integer", (value) => {
      const words = str(value).trim().split(/\s+/);
      return words.length === 2 && integerOf(words[1]) !== undefined ? words.join(" ") : undefined;
    });
  }
  putSwitch(options, "stp", settings, iface);
  const waitport = settings.get("waitport");
  if (waitport !== undefined) options.set("waitport", waitPort(waitport, iface));
  return options;
}

function waitPort(given: Value, iface: string): Value {
  if (isInt(given) || typeof given === "boolean") return given;
  const words = str(given).trim().split(/\s+/);
  // Salt names another option there.
  if (!/^\d+$/.test(words[0]) || words.length < 2) throw wrongSetting(iface, "portprio", ["integer [interfaces]"]);
  return words.join(" ");
}

const PPP_SWITCHES = [
  "noipdefault",
  "usepeerdns",
  "defaultroute",
  "hide-password",
  "noauth",
  "persist",
  "noaccomp",
];

const PPP_SETTINGS = [
  ..."user password provider pppoe_iface noipdefault usepeerdns defaultroute holdoff maxfail".split(" "),
  ..."hide-password lcp-echo-interval lcp-echo-failure connect noauth persist mtu noaccomp linkname".split(" "),
];

function pppOptions(settings: ValueMap, iface: string): ValueMap {
  const options: ValueMap = new Map();
  for (const name of PPP_SETTINGS) {
    const given = settings.get(name);
    if (given !== undefined) options.set(name, given);
  }
  if (settings.has("provider") && !truthy(settings.get("provider"))) {
    throw wrongSetting(iface, "provider", SWITCH_WORDS);
  }
  for (const name of PPP_SWITCHES) {
    const given = settings.get(name);
    if (given === undefined) continue;
    const choice = chooseByFlag(given, ["True", "False"]);
    if (choice === undefined) throw wrongSetting(iface, name, SWITCH_WORDS);
    options.set(name, choice);
  }
  return options;
}

/** The options that a type of interface adds to the block of a family. */
function putType(block: ValueMap, family: string, settings: ValueMap, request: DebianInterfaceOptions): void {
  const { name: iface, type } = request;
  if (type !== "bridge") {
    const ethtool = ethtoolPart(settings, iface);
    if (ethtool.size > 0) putPart(block, "ethtool", ethtool);
  }
  switch (type) {
    case "bridge":
      putPart(block, "bridging", bridgeOptions(settings, iface));
      break;
    case "bond": {
      const bonding = debianBond(settings, iface, request.noCarrier);
      bonding.set("slaves", requireSetting(settings, "slaves"));
      putPart(block, "bonding", bonding);
      break;
    }
    case "slave":
      block.set("master", requireSetting(settings, "master"));
      settings.set("proto", "manual");
      break;
    case "vlan":
      block.set("vlan_raw_device", iface.replace(/\.\d*/g, ""));
      break;
    case "pppoe":
      for (const [name, value] of pppOptions(settings, iface)) block.set(name, value);
      break;
    default:
      return;
  }
  block.set("addrfam", family);
}

const INET_SETTINGS = ["ipaddr", "address", "ipaddresses", "addresses", "gateway", "proto"];
const HOOK_SETTINGS = ["up_cmds", "pre_up_cmds", "post_up_cmds", "down_cmds", "pre_down_cmds", "post_down_cmds"];

/** Adds a setting to its block: of one family, or of both if it is valid there. */
function putSetting(blocks: ReadonlyMap<string, ValueMap>, setting: string, value: Value): void {
  const prefix = /^ipv([46])/.exec(setting)?.[1];
  const family = prefix === "6" ? "inet6" : prefix === "4" || INET_SETTINGS.includes(setting) ? "inet" : undefined;
  if (family !== undefined) blocks.get(family)?.set("addrfam", family);
  const name = prefix === undefined ? setting : setting.slice(4);
  const attribute = ATTRIBUTE_OF.get(name) ?? name;
  const key = attribute.replaceAll("-", "_");
  for (const [each, block] of blocks) {
    const check = checkAttribute(attribute, value, each);
    if (check.valid && (family === each || (family === undefined && !block.has(key)))) block.set(key, check.value);
  }
}

/**
 * The adapter.
 * @throws Python's AttributeError for an invalid setting.
 */
export function debianInterface(given: ValueMap, request: DebianInterfaceOptions): ValueMap {
  const settings: ValueMap = new Map(given);
  const blocks = new Map<string, ValueMap>(FAMILIES.map((family) => [family, new Map()]));
  const adapter: ValueMap = new Map([["type", request.type]]);
  if (truthy(request.enabled)) adapter.set("enabled", true);
  if (truthy(settings.get("hotplug"))) adapter.set("hotplug", true);
  for (const [family, block] of blocks) putType(block, family, settings, request);
  settings.delete("mode");
  for (const [setting, value] of settings) putSetting(blocks, str(setting), value);
  for (const hook of HOOK_SETTINGS) {
    const commands = settings.get(hook);
    if (commands !== undefined) { for (const block of blocks.values()) block.set(hook, commands); }
  }
  const data: ValueMap = new Map();
  for (const [family, block] of blocks) {
    const disabled = settings.get(family === "inet" ? "enable_ipv4" : "enable_ipv6") === false;
    if (!disabled && block.get("addrfam") === family) data.set(family, block);
  }
  return adapter.set("data", data);
}

/** The adapter of an interface of the type `source`: a line that names another file. */
export function debianSource(settings: ValueMap): ValueMap {
  const data: ValueMap = new Map([["sources", [requireSetting(settings, "source")]]]);
  return new Map<Value, Value>([["type", "source"], ["data", data]]);
}

/** The file of `/etc/ppp/peers` for an adapter of the type `pppoe`. */
export function peerFile(adapter: ValueMap): string {
  const data = adapter.get("data") ?? null;
  const block = isMap(data) ? data.get("inet") : undefined;
  if (!isMap(block) || !truthy(block.get("user"))) return "";
  const unlessNo = (name: string, word = name) => block.get(name) === "False" ? "" : word;
  const number = (name: string, usual: string, end = "") =>
    block.get(name) === "" ? "" : `${name} ${str(block.get(name) ?? usual)}${end}`;
  const linkname = block.get("linkname");
  return [
    `user ${str(block.get("user") ?? null)}`,
    whenTrue(block.get("password"), (word) => `password ${word} `),
    `plugin rp-pppoe.so ${str(block.get("pppoe_iface") ?? "eth0")}`,
    "",
    unlessNo("noipdefault"),
    unlessNo("usepeerdns", "usepeerdns "),
    unlessNo("defaultroute"),
    "",
    number("holdoff", "15"),
    number("maxfail", "0"),
    "",
    unlessNo("hide-password"),
    number("lcp-echo-interval", "20", " "),
    number("lcp-echo-failure", "3", " "),
    "",
    unlessNo("noauth"),
    unlessNo("persist"),
    number("mtu", "1492", " "),
    unlessNo("noaccomp"),
    "",
    ...linkname === undefined ? [""] : ["", `linkname ${str(linkname)}`, ""],
    "",
  ].join("\n");
}
