/**
 * Debian's network settings besides interfaces: routes as scripts, whether the network is started, the host's
 * name and domain. Source: Salt 3008.3, `salt/modules/debian_ip.py`; resolv.conf(5).
 * @module
 */

import { linesWithEnds } from "#lib/text/split_lines.ts";
import {
  chooseByFlag,
  itemsOf,
  requireSetting,
  SWITCH_WORDS,
  whenTrue,
  wrongNetworkSetting,
  wrongRoutes,
} from "./interface_settings.ts";
import { pythonError } from "#lib/python/errors.ts";
import { mapOrEmpty } from "#lib/values/shape.ts";
import { equals, isAmong, str, truthy, typeName, type Value, type ValueMap } from "#lib/values/value.ts";

/** The settings with their names in small letters. */
export function lowerKeys(settings: ValueMap): ValueMap {
  return new Map([...settings].map(([key, value]) => [str(key).toLowerCase(), value]));
}

/**
 * The routes that are set.
 * @throws Python's AttributeError if there are none.
 */
export function routesOf(settings: ValueMap, iface: string): ValueMap[] {
  const routes = lowerKeys(settings).get("routes");
  if (routes === undefined) throw wrongRoutes(iface);
  return (itemsOf(routes) ?? []).map(mapOrEmpty);
}

/** The script that adds the routes of an interface, or deletes them. */
export function routeScript(action: "add" | "del", routes: readonly ValueMap[], iface: string): string {
  const lines = routes.map((route) => {
    const part = (name: string, before: string) => whenTrue(route.get(name), (text) => `${before}${text}`);
    const name = whenTrue(route.get("name"), (text) => `# ${text}\n`);
    const network = part("ipaddr", "") + part("netmask", "/");
    return `${name}ip route ${action} ${network} ${part("gateway", "via ")} dev ${iface}${
      part("metric", " metric ")
    }\n`;
  });
  return `#!/bin/sh\n# ${action}\ntest "\${IFACE}" = "${iface}" || exit 0\n${lines.join("")}`;
}

/** The file `/etc/default/networking`. */
export function networkingFile(networking: string): string {
  return `# Configuration for networking init script being run during
# the boot sequence

# Set to 'no' to skip interfaces configuration on boot
CONFIGURE_INTERFACES=${networking}

# Don't configure these interfaces. Shell wildcards supported/
#EXCLUDE_INTERFACES=

# Set to 'yes' to enable additional verbosity
#VERBOSE=no`;
}

/** The setting in `/etc/default/networking` that starts the network, as written there; empty if there is none. */
export function networkingIn(text: string): string {
  const lines = text.split(/\r\n|\n|\r/).filter((line) => line.startsWith("CONFIGURE_INTERFACES"));
  const last = lines.at(-1);
  if (last === undefined) return "";
  const at = last.indexOf("=");
  if (at < 0) throw pythonError("IndexError", "list index out of range");
  return last.slice(at + 1).trim();
}

/** `domain` and `search` of resolv.conf: the last of each. */
export function resolverSettings(text: string): { readonly domain: string; readonly search: string[] } {
  let domain = "", search: string[] = [];
  for (const line of text.split(/\r\n|\n|\r/)) {
    const [directive, ...words] = line.trim().split(/\s+/);
    const comment = words.findIndex((word) => word.startsWith("#") || word.startsWith(";"));
    const values = comment < 0 ? words : words.slice(0, comment);
    if (directive.toLowerCase() === "domain" && values.length > 0) domain = values[0];
    if (directive.toLowerCase() === "search") search = values;
  }
  return { domain, search };
}

/** The text of resolv.conf with another domain and other domains to search in. */
export function changedResolver(lines: readonly string[], domain: Value, search: Value): string {
  return lines.map((line) => {
    if (/^domain\s/.test(line)) return `domain ${str(domain)}`;
    return /^search\s/.test(line) ? `search ${str(search)}` : line;
  }).join("\n");
}

/** The settings of the host's network, for people. */
export function shownSettings(settings: ValueMap): string[] {
  const line = (word: string, name: string) => whenTrue(settings.get(name), (text) => `${word}=${text}\n`);
  return linesWithEnds(
    line("NETWORKING", "networking") + line("HOSTNAME", "hostname") + line("DOMAIN", "domainname") +
      line("SEARCH", "searchdomain"),
  );
}

/** The settings for the whole host, checked: `networking`, `hostname`, and `search` if it is given. */
export function checkedSettings(values: ValueMap, current: ValueMap): ValueMap {
  const settings = lowerKeys(values);
  const networking = settings.get("enabled") ?? requireSetting(current, "networking");
  if (!isAmong(networking, SWITCH_WORDS)) throw wrongNetworkSetting("networking", SWITCH_WORDS);
  const hostname = settings.get("hostname") ?? requireSetting(current, "hostname");
  if (!truthy(hostname)) throw wrongNetworkSetting("hostname", ["server1.example.com"]);
  const checked: ValueMap = new Map<Value, Value>([
    ["networking", chooseByFlag(networking, ["yes", "no"]) ?? null],
    ["hostname", hostname],
  ]);
  const search = settings.get("search");
  return search === undefined ? checked : checked.set("search", search);
}

/** The new names and domains of the host. */
export interface Names {
  /** The settings to show. */
  readonly settings: ValueMap;
  /** Whether resolv.conf has other values. */
  readonly moved: boolean;
}

/** Splits the name of the host into name and domain, and compares these with the current ones. */
export function splitHostName(settings: ValueMap, current: ValueMap): Names {
  const hostname = settings.get("hostname") ?? null;
  if (typeof hostname !== "string") {
    throw pythonError("AttributeError", `'${typeName(hostname)}' object has no attribute 'split'`);
  }
  const dot = hostname.indexOf(".");
  const before = { domain: current.get("domainname") ?? "", search: current.get("searchdomain") ?? "" };
  const domain = dot < 0 ? before.domain : hostname.slice(dot + 1);
  const search = settings.get("search") ?? before.search;
  const shownSettings: ValueMap = new Map(settings);
  shownSettings.set("hostname", dot < 0 ? hostname : hostname.slice(0, dot)).set("domainname", domain).set(
    "searchdomain",
    search,
  );
  return { settings: shownSettings, moved: !equals(domain, before.domain) || !equals(search, before.search) };
}
