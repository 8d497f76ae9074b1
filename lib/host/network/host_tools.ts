/**
 * Helpers for network tools: host names as arguments of programs, the hops of `traceroute`, and the buffers
 * from `ethtool`.
 * Source: Salt 3008.3, `salt/modules/network.py`, `salt/utils/network.py`; traceroute(8), ethtool(8).
 * @module
 */

import { stripChars } from "#lib/values/python_text.ts";
import { parseIpAddress } from "#lib/text/ip_network.ts";
import { float, type Value } from "#lib/values/value.ts";

/** Maximum number of characters of a host name. */
const NAME_LENGTH = 255;

/** A host name as an argument: an address unchanged, a name without invalid characters. */
export function sanitizeHost(host: string): string {
  if (parseIpAddress(host) !== undefined) return host;
  // Without the dashes at its beginning it is not an option.
  return host.slice(0, NAME_LENGTH).replace(/[^A-Za-z0-9._-]/g, "").replace(/^-+/, "");
}

/** A version of `traceroute`: its numbers, or other words. */
function tracerouteVersion(text: string): (number | string)[] {
  const match = /[Vv]ersion (\d+)\.([\w+]+)\.*(\w*)/.exec(text);
  if (match === null) return [0, 0, 0];
  return match.slice(1).map((part) => /^\d+$/.test(part) ? Number(part) : part);
}

/**
 * The hops of `traceroute`.
 * @param version The output of `traceroute --version`, which determines the form of the lines.
 */
export function parseTraceroute(text: string, version: string): Record<string, Value>[] {
  const [major, minor, patch] = tracerouteVersion(version);
  const isModern = Number(major) >= 2 && (Number(patch) >= 14 || Number(minor) > 0);
  return text.split("\n").filter((line) => line.includes(" ") && !line.startsWith("traceroute"))
    .map((line) => isModern ? modernHop(line) : oldHop(line));
}

function modernHop(line: string): Record<string, Value> {
  const parts = line.split("  ");
  if (parts.length >= 2 && parts[1] === "* * *") return { count: Number(parts[0]), hostname: "*" };
  if (parts.length < 5) return {};
  const [name, address = ""] = parts[1].split(/\s+/);
  const ms = (part: string) => float(Number(part.trim().split(/\s+/)[0]));
  return {
    count: Number(parts[0]),
    hostname: name,
    ip: stripChars(address, "()"),
    ms1: ms(parts[2]),
    ms2: ms(parts[3]),
    ms3: ms(parts[4]),
  };
}

function oldHop(line: string): Record<string, Value> {
  const words = line.trim().split(/\s+/);
  if (words.length < 9) return {};
  const [count, hostname, ip, ping1, ms1, ping2, ms2, ping3, ms3] = words;
  return { count, hostname, ip, ms1, ms2, ms3, ping1, ping2, ping3 };
}

/** The buffers of an interface from `ethtool -g`, or its other output as `comment`. */
export function parseBuffers(text: string): Record<string, Value> {
  const sizes: Record<string, Value> = {};
  let suffix = "max-";
  for (const line of text.split("\n")) {
    const [, name, value] = /^(.+):\s+(\d+)$/.exec(line) ?? [];
    if (name !== undefined) sizes[name.toLowerCase().replaceAll(" ", "-") + suffix] = Number(value);
    else if (line.endsWith("maximums:")) suffix = "-max";
    else if (line.endsWith("settings:")) suffix = "";
  }
  if (Object.keys(sizes).length > 0) return { result: true, ...sizes };
  const words = text.trim().split(/\s+/);
  return { result: false, comment: words[0].endsWith("sh:") ? words.slice(1).join(" ") : text };
}
