/**
 * The abbreviation of the host's time zone, as `date +%Z` prints it.
 *
 * JavaScript's Intl knows these for the United States only, and costs 10 ms to start: the zone's own file knows them
 * all. Source: RFC 9636 (TZif), whose last line is a POSIX `TZ` string.
 * @module
 */

import type { HostFiles } from "#lib/programs/files.ts";

/**
 * The abbreviation now, `UTC` if the host does not say.
 * @param offsetMinutes Minutes east of Greenwich, now.
 */
export function timeZoneName(files: HostFiles, offsetMinutes: number): string {
  const zone = Deno.env.get("TZ")?.replace(/^:/, "");
  const path = zone === undefined ? "/etc/localtime" : zone.startsWith("/") ? zone : `/usr/share/zoneinfo/${zone}`;
  const lines = files.text(path)?.split("\n") ?? [];
  const rule = zone !== undefined && lines.length < 2 ? zone : lines.at(-2) ?? "";
  return abbreviation(rule, offsetMinutes) ?? "UTC";
}

// A name is letters, or anything in angle brackets; the standard offset counts westwards.
const RULE = /^(?:<([^>]+)>|([A-Za-z]{3,}))([+-]?)(\d+)(?::(\d+))?(?::\d+)?(?:<([^>]+)>|([A-Za-z]{3,}))?/;

/** The abbreviation that a POSIX `TZ` string (`CET-1CEST,M3.5.0,M10.5.0/3`) has for an offset. */
export function abbreviation(rule: string, offsetMinutes: number): string | undefined {
  const match = RULE.exec(rule);
  if (match === null) return undefined;
  const [, bracketed, plain, sign, hours, minutes = "0", summerBracketed, summerPlain] = match;
  const west = (Number(hours) * 60 + Number(minutes)) * (sign === "-" ? -1 : 1);
  const summer = summerBracketed ?? summerPlain;
  return -west === offsetMinutes || summer === undefined ? bracketed ?? plain : summer;
}
