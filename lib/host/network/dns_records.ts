/**
 * DNS records: addresses with a prefix, SPF policies, zone files.
 * Source: Salt 3008.3, `salt/modules/dig.py`, `salt/modules/dnsutil.py`; RFC 7208 (SPF), RFC 1035 (zones).
 * @module
 */

import { isIpv4, isIpv6 } from "#lib/text/ip_address.ts";
import { splitLines, splitWhitespace } from "#lib/text/split_lines.ts";
import type { Value } from "#lib/values/value.ts";

/** Whether a text is an address, alone or with a prefix: at least 1 bit of IPv4, 8 of IPv6. */
export function isAddress(value: Value): boolean {
  if (typeof value !== "string") return false;
  const at = value.lastIndexOf("/");
  const address = at < 0 ? value : value.slice(0, at);
  const min = isIpv4(address) ? 1 : isIpv6(address) ? 8 : undefined;
  if (min === undefined) return false;
  if (at < 0) return true;
  const prefix = value.slice(at + 1).trim();
  return /^[+-]?\d+$/.test(prefix) && Number(prefix) >= min && Number(prefix) <= (min === 1 ? 32 : 128);
}

/** A part of an SPF policy. */
export type SpfPart =
  | { readonly kind: "redirect" | "include"; readonly domain: string }
  | { readonly kind: "address"; readonly address: string };

/** The parts of a policy, as `dig +short` prints it; none if it is no policy. */
export function parseSpf(text: string): SpfPart[] {
  const sections = splitWhitespace(text.replaceAll('"', ""));
  if (sections[0] !== "v=spf1") return [];
  if (sections[1]?.startsWith("redirect=")) {
    return [{ kind: "redirect", domain: sections[1].slice("redirect=".length) }];
  }
  return sections.slice(1).flatMap((section): SpfPart[] => {
    const [, mechanism, address] = /^[+~]?(ip[46]|include):(.+)/.exec(section) ?? [];
    if (mechanism === "include") return [{ kind: "include", domain: address }];
    return mechanism !== undefined && isAddress(address) ? [{ kind: "address", address }] : [];
  });
}

/** The names in a hosts file, by address. Comments after names count as names, as in Salt. */
export function hostNames(text: string): Map<string, string[]> {
  const byAddress = new Map<string, string[]>();
  for (const line of splitLines(text)) {
    const [address, ...names] = line.trim().split(/\s+/);
    if (address === "" || line.startsWith("#")) continue;
    byAddress.set(address, [...byAddress.get(address) ?? [], ...names]);
  }
  return byAddress;
}

/** A hosts file without some names: a line with only an address is removed, comments stay. */
export function withoutHosts(text: string, names: readonly string[]): string {
  return splitLines(text).flatMap((line) => {
    if (line.trim() === "" ? line === "" : line.trim().startsWith("#")) return [`${line}\n`];
    const words = line.trim().split(/\s+/);
    for (const name of names) {
      const at = words.indexOf(name, 1);
      if (at > 0) words.splice(at, 1);
    }
    return words.length > 1 ? [`${words.join(" ")}\n`] : [];
  }).join("");
}

const WEEK = 604_800;

/** A time of a zone in seconds, at most a week. Invalid values count as a week. */
function zoneSeconds(text: string): number {
  const upper = text.toUpperCase();
  if (/^\d+H$/.test(upper)) return Math.min(parseInt(upper) * 3600, WEEK);
  if (/^\d+D$/.test(upper)) return Math.min(parseInt(upper) * 86_400, WEEK);
  return /^\d+$/.test(upper) ? Math.min(Number(upper), WEEK) : WEEK;
}

/** A zone in Salt's form: ORIGIN and the fields of SOA, and the records by type. */
export type Zone = Map<string, Value>;

/**
 * Parses the records of a zone file.
 * @throws {RangeError} If a record has too few fields.
 */
export function parseZoneRecords(text: string): Zone {
  const zone: Zone = new Map();
  for (const line of joinedLines(text)) {
    const words = line.split(/\s+/);
    if (line.startsWith("$")) {
      zone.set(words[0].replaceAll("$", ""), words[1]);
      continue;
    }
    const origin = zone.get("ORIGIN");
    const record = (typeof origin === "string" ? line.replaceAll("@", () => origin) : line).split(/\s+/);
    if (line.includes("SOA")) addAuthority(zone, record);
    else addRecord(zone, record, line);
  }
  return zone;
}

/** The lines without comments and blank lines; text in parentheses counts as one line. */
function joinedLines(text: string): string[] {
  const lines: string[] = [];
  let open: string | undefined;
  for (const raw of splitLines(text)) {
    const line = raw.split(";")[0].trim();
    if (line === "") continue;
    if (open === undefined && (!line.includes("(") || line.includes(")"))) {
      lines.push(line);
      continue;
    }
    open = `${open ?? ""} ${line}`;
    if (!line.includes(")")) continue;
    lines.push(open.replaceAll("(", "").replaceAll(")", "").trim());
    open = undefined;
  }
  return lines;
}

function addAuthority(zone: Zone, record: string[]): void {
  if (record[1] !== "IN") record.splice(1, 1);
  if (record.length < 10) throw new RangeError("The SOA record of the zone has too few fields");
  const [origin, network, , source, contact, serial, ...times] = record;
  zone.set("ORIGIN", origin).set("NETWORK", network).set("SOURCE", source);
  zone.set("CONTACT", contact.replace(".", "@")).set("SERIAL", serial);
  ["REFRESH", "RETRY", "EXPIRE", "MINTTL"].forEach((name, i) => zone.set(name, zoneSeconds(times[i])));
}

function addRecord(zone: Zone, record: string[], line: string): void {
  const origin = String(zone.get("ORIGIN") ?? "");
  if (record[0] === "IN") record.unshift(origin);
  if (!record[0].endsWith(".") && !line.includes("NS")) record[0] = `${record[0]}.${origin}`;
  const [name, ttl, type, value, target] = record;
  if (value === undefined) throw new RangeError(`The record '${line}' of the zone has too few fields`);
  if (type === "NS") zone.set("NS", [...zone.get("NS") as string[] ?? [], value]);
  else if (type === "MX") {
    if (!zone.has("MX")) zone.set("MX", [new Map([["priority", value], ["host", target]])]);
  } else if (value === "A" || value === "AAAA") {
    section(zone, value).set(name, new Map([["TARGET", target], ["TTL", ttl]]));
  } else section(zone, type).set(name, value);
}

function section(zone: Zone, name: string): Map<Value, Value> {
  const entry = zone.get(name);
  if (entry instanceof Map) return entry;
  const records = new Map<Value, Value>();
  zone.set(name, records);
  return records;
}
