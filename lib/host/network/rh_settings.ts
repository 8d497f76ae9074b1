/**
 * The Red Hat family's settings of the network besides interfaces: files of routes, and `/etc/sysconfig/network`.
 * Source: Salt 3008.3, `salt/modules/rh_ip.py`, and its templates.
 * @module
 */

import { lowerKeys } from "./debian_settings.ts";
import { chooseByFlag, requireSetting, SWITCH_WORDS, whenTrue, wrongNetworkSetting } from "./interface_settings.ts";
import { pythonError } from "#lib/python/errors.ts";
import { str, truthy, type Value, type ValueMap } from "#lib/values/value.ts";
import { splitLines } from "#lib/text/split_lines.ts";

/** The lines without their ends and without the first empty one. */
export function linesOf(text: string): string[] {
  const lines = splitLines(text);
  const empty = lines.indexOf("");
  return empty < 0 ? lines : lines.toSpliced(empty, 1);
}

/** The file of an interface's routes, as `ip route` takes them. */
export function routesText(routes: readonly ValueMap[], iface: string): string {
  return routes.map((route) => {
    const part = (name: string, before: string) => whenTrue(route.get(name), (text) => `${before}${text}`);
    const way = part("gateway", " via ") || ` dev ${iface}`;
    const network = `${str(route.get("ipaddr") ?? "")}${part("netmask", "/")}`;
    return `${part("name", "# ")}\n${network}${way}${part("metric", " metric ")}\n`;
  }).join("");
}

/** The file of an interface's routes in the older form. */
export function oldRoutesText(routes: readonly ValueMap[]): string {
  return routes.map((route, i) => {
    const part = (word: string, name: string) => whenTrue(route.get(name), (text) => `${word}${i}="${text}"\n`);
    const name = whenTrue(route.get("name"), (text) => `# ${text}\n`);
    return `${name}${part("ADDRESS", "ipaddr")}${part("NETMASK", "netmask")}${part("GATEWAY", "gateway")}\n`;
  }).join("");
}

/** The settings of a file of `NAME=value` lines, their names in capitals. */
export function settingsIn(text: string): ValueMap {
  const settings: ValueMap = new Map();
  for (const line of linesOf(text).map((one) => one.trim())) {
    const at = line.indexOf("=");
    if (line.startsWith("!") || line.startsWith("#") || at < 0) continue;
    settings.set(line.slice(0, at).trimEnd().toUpperCase(), line.slice(at + 1).trimEnd());
  }
  return settings;
}

/** The quote that a text is in; empty if in none. */
function quoteOf(value: Value): string {
  if (typeof value !== "string") return "";
  if (value === "") throw pythonError("IndexError", "string index out of range");
  return value[0] === value.at(-1) && /["']/.test(value[0]) ? value[0] : "";
}

function unquote(value: Value): Value {
  return quoteOf(value) !== "" && typeof value === "string" ? value.slice(1, -1) : value;
}

/**
 * The settings for the whole host, checked, in the quotes of the current settings.
 * @throws Python's AttributeError, or KeyError.
 */
export function checkedNetwork(given: ValueMap, inForce: ValueMap): ValueMap {
  const settings = lowerKeys(given), current = lowerKeys(inForce);
  const result: ValueMap = truthy(settings.get("retain_settings")) ? new Map(current) : new Map();
  const started = settings.get("enabled") ?? requireSetting(current, "networking");
  const quote = settings.has("enabled") ? "" : quoteOf(started);
  settings.set("networking", started);
  const word = (name: string, value: Value) => {
    const choice = chooseByFlag(unquote(value), ["yes", "no"]);
    if (choice === undefined) throw wrongNetworkSetting(name, SWITCH_WORDS);
    result.set(name, quote + choice + quote);
  };
  const text = (name: string, value: Value) => result.set(name, quote + str(unquote(value)) + quote);
  word("networking", started);
  const hostname = settings.get("hostname") ?? current.get("hostname");
  if (hostname === undefined || !truthy(hostname)) throw wrongNetworkSetting("hostname", ["server1.example.com"]);
  text("hostname", hostname);
  const local = settings.get("nozeroconf");
  if (local !== undefined) word("nozeroconf", local);
  for (const [name, value] of settings) {
    if (!["networking", "hostname", "nozeroconf"].includes(str(name))) text(str(name), value);
  }
  return result;
}

/** The file `/etc/sysconfig/network`. */
export function networkText(settings: ValueMap): string {
  const names = "networking networking_ipv6 hostname gateway gatewaydev nisdomain networkdelay devtimeout nozeroconf";
  const lines = names.split(" ").map((name) =>
    whenTrue(settings.get(name), (text) => `${name.toUpperCase()}=${text}\n`)
  );
  const ipv6 = truthy(settings.get("enable_ipv6")) ? `IPV6INIT="yes"\n` : "";
  return lines.join("") + ipv6 + whenTrue(settings.get("ipv6gateway"), (text) => `IPV6_DEFAULTGW="${text}"\n`);
}
