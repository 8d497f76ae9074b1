/**
 * Debian's `/etc/network/interfaces`: reading it into adapters, and writing adapters as Salt writes them.
 * Source: Salt 3008.3, `salt/modules/debian_ip.py` _parse_interfaces, and its templates; interfaces(5).
 * @module
 */

import {
  checkAttribute,
  ETHTOOL_ATTRIBUTES,
  FAMILIES,
  isAttribute,
  OTHER_ETHTOOL_ATTRIBUTES,
} from "./debian_attributes.ts";
import { itemsOf, settingError } from "./interface_settings.ts";
import { pythonError } from "#lib/python/errors.ts";
import { listUnder, mapUnder } from "#lib/values/shape.ts";
import { compareStrings, isMap, repr, str, toNumber, truthy, type Value, type ValueMap } from "#lib/values/value.ts";

const ETHTOOL_NAMES = new Set([...ETHTOOL_ATTRIBUTES.values(), ...OTHER_ETHTOOL_ATTRIBUTES]);
const HOOKS = ["up", "pre-up", "post-up", "down", "pre-down", "post-down"];
/** The parts of a block that have options of their own, and what is before these in the file. */
const PARTS: ReadonlyMap<string, string> = new Map([["ethtool", ""], ["bonding", "bond-"], ["bridging", "bridge_"]]);

/** The part of an option's name after the first `_` or `-`. */
function optionName(attribute: string): string {
  const at = attribute.search(/[_-]/);
  if (at < 0) throw pythonError("IndexError", "list index out of range");
  return attribute.slice(at + 1);
}

/** Parses one indented line of a block. */
function takeDetail(line: string, block: ValueMap, family: string): void {
  const match = /^\s*(\S+)\s+(.*\S)\s*$/s.exec(line);
  if (match === null) throw pythonError("ValueError", "not enough values to unpack (expected 2, got 1)");
  const [, attribute, value] = match;
  if (isAttribute(attribute)) {
    const name = attribute.replaceAll("-", "_");
    const taken = checkAttribute(attribute, value, family).value;
    if (name === "address" && block.has("address")) listUnder(block, "addresses").push(taken);
    else block.set(name, taken);
  } else if (ETHTOOL_NAMES.has(attribute)) mapUnder(block, "ethtool").set(attribute, value);
  else if (attribute.startsWith("bond")) mapUnder(block, "bonding").set(optionName(attribute), value);
  else if (attribute.startsWith("bridge")) mapUnder(block, "bridging").set(optionName(attribute), value);
  else if (HOOKS.includes(attribute)) listUnder(block, `${attribute.replaceAll("-", "_")}_cmds`).push(value);
}

/**
 * The adapters of files: by name, `data` by family, `enabled`, `hotplug`; under `source` the files that are named
 * there.
 * @param files Their texts, by path.
 * @throws Python's AttributeError for a malformed line.
 */
export function parseInterfaces(files: ReadonlyMap<string, string>): ValueMap {
  const adapters: ValueMap = new Map();
  let family = "";
  for (const [path, text] of files) {
    let block: ValueMap = new Map();
    for (const line of text.split(/\r\n|\n|\r/)) {
      const words = line.trim().split(/\s+/);
      if (words[0] === "" || words[0].startsWith("#")) continue;
      if (line.startsWith("iface")) {
        if (words.length !== 4) throw settingError(`Interface file malformed: ${repr(words)}.`);
        family = words[2];
        block = mapUnder(mapUnder(mapUnder(adapters, words[1]), "data"), family);
        block.set("addrfam", family).set("proto", words[3]).set("filename", path);
      } else if (/^\s/.test(line)) takeDetail(line, block, family);
      else if (line.startsWith("auto")) {
        for (const name of words.slice(1)) mapUnder(adapters, name).set("enabled", true);
      } else if (line.startsWith("allow-hotplug")) {
        for (const name of words.slice(1)) mapUnder(adapters, name).set("hotplug", true);
      } else if (line.startsWith("source")) {
        listUnder(mapUnder(mapUnder(adapters, "source"), "data"), "sources").push(words[1]);
      }
    }
  }
  return wellFormed(adapters);
}

/** The adapters that have blocks, whose options are sorted. */
function wellFormed(adapters: ValueMap): ValueMap {
  for (const [name, adapter] of [...adapters]) {
    if (name === "source" || !isMap(adapter)) continue;
    const data = adapter.get("data");
    if (!isMap(data)) {
      adapters.delete(name);
      continue;
    }
    for (const family of FAMILIES) {
      const block = data.get(family);
      if (!isMap(block)) continue;
      for (const part of PARTS.keys()) {
        const options = block.get(part);
        if (isMap(options)) block.set(`${part}_keys`, [...options.keys()].map(str).sort(compareStrings));
      }
    }
  }
  return adapters;
}

/** The attributes of a block in the order in which they are written. */
const WRITTEN = [
  ..."autoconf privext dhcp hwaddress hwaddr vlan_raw_device address addresses netmask metric gateway".split(" "),
  ..."pointopoint scope hostname media leasehours leasetime vendor client bootfile server mode endpoint".split(" "),
  ..."dstaddr local ttl mtu provider unit options master dns_nameservers wireless_mode wpa_ap_scan".split(" "),
  ..."wpa_conf wpa_driver wpa_group wpa_key_mgmt wpa_pairwise wpa_proto wpa_psk wpa_roam wpa_ssid".split(" "),
  ..."accept_ra up_cmds down_cmds pre_up_cmds post_up_cmds pre_down_cmds post_down_cmds".split(" "),
];

const WRITTEN_AS: ReadonlyMap<string, string> = new Map([
  ["addresses", "address"],
  ["hwaddr", "hwaddress"],
  ["master", "bond-master"],
  ["accept_ra", "accept_ra"],
]);

function attributeLines(name: string, value: Value): string {
  if (!truthy(value)) return "";
  const word = WRITTEN_AS.get(name) ?? name.replace(/_cmds$/, "").replaceAll("_", "-");
  const items = itemsOf(value);
  if (name === "dns_nameservers" && items !== undefined) return `    ${word} ${items.map(str).join(" ")}\n`;
  if (typeof value === "string" || toNumber(value) !== undefined) return `    ${word} ${str(value)}\n`;
  return (items ?? []).map((item) => `    ${word} ${str(item)}\n`).join("");
}

/** The options of one part: texts and lists of them. Salt writes no other, as a number. */
function partLines(part: string, block: ValueMap): string {
  const options = block.get(part);
  const names = block.get(`${part}_keys`);
  if (!isMap(options) || options.size === 0 || !Array.isArray(names)) return "";
  return names.map((name) => {
    const value = options.get(name) ?? null;
    const text = typeof value === "string" ? value : itemsOf(value)?.map(str).join(" ");
    return text === undefined ? "" : `    ${PARTS.get(part)}${str(name)} ${text}\n`;
  }).join("");
}

function blockText(name: string, block: ValueMap): string {
  const [family, method] = [block.get("addrfam"), block.get("proto")];
  if (!truthy(family) || !truthy(method)) return "";
  const lines = WRITTEN.map((attribute) => attributeLines(attribute, block.get(attribute) ?? false));
  const parts = [...PARTS.keys()].map((part) => partLines(part, block));
  return [`iface ${name} ${str(family ?? null)} ${str(method ?? null)}\n`, ...lines, ...parts].join("");
}

/** The text of one adapter. */
export function adapterText(name: string, adapter: ValueMap): string {
  const data = adapter.get("data") ?? null;
  const head = `${truthy(adapter.get("enabled")) ? `auto ${name}\n` : ""}` +
    `${truthy(adapter.get("hotplug")) ? `allow-hotplug ${name}\n` : ""}`;
  const blocks = FAMILIES.map((family) => {
    const block = isMap(data) ? data.get(family) : undefined;
    return isMap(block) && block.get("addrfam") === family ? blockText(name, block) : "";
  });
  return head + blocks.join("");
}

/** The text of an adapter that names other files. */
export function sourceText(adapter: ValueMap): string {
  const data = adapter.get("data") ?? null;
  const sources = isMap(data) ? data.get("sources") ?? null : null;
  return (itemsOf(sources) ?? []).map((source) => `\nsource ${str(source)}\n`).join("");
}
