/**
 * The time zone in the files of a host: where each family of systems writes it, and what the clock keeps.
 * Source: Salt 3008.3, `salt/modules/timezone.py`.
 * @module
 */

import { CommandError, InvocationError } from "../errors.ts";
import { readTextFileIfExists } from "../os/atomic_file.ts";
import { isThere } from "../os/file_kind.ts";
import { inRoot, replaceLines, settingIn, writeLines } from "./settings_file.ts";

/** The name of the zone that the files tell. @throws {CommandError} If they tell none. */
export function zoneInFiles(family: string, root: string): string {
  if (family === "RedHat" || family === "Suse") {
    const clock = inRoot("/etc/sysconfig/clock", root);
    const zone = settingIn(clock, "ZONE") ?? settingIn(clock, "TIMEZONE");
    if (zone === undefined) throw new CommandError(`Unable to get timezone from ${clock}`);
    return zone || "UTC";
  }
  if (family === "Debian" || family === "Gentoo") {
    const file = inRoot("/etc/timezone", root);
    const zone = readTextFileIfExists(file)?.trim();
    if (zone === undefined) throw new CommandError(`Problem reading timezone file ${file}: No such file or directory`);
    return zone;
  }
  return zoneOfLink(inRoot("/etc/localtime", root));
}

function zoneOfLink(path: string): string {
  try {
    const [, zone] = /\/zoneinfo\/(.+)$/.exec(Deno.readLinkSync(path)) ?? [];
    if (zone !== undefined) return zone;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) throw new CommandError(`${path} does not exist`);
  }
  throw new CommandError("Unable to determine timezone");
}

/** Writes a zone's name into the file of the family, if it has one. */
export function noteZone(zone: string, family: string, root: string): void {
  const clock = inRoot("/etc/sysconfig/clock", root);
  const set = (key: string) =>
    replaceLines(clock, { isMeant: (line) => line.startsWith(`${key}=`), line: `${key}="${zone}"`, add: false });
  if (family === "RedHat") set("ZONE");
  else if (family === "Suse") set("TIMEZONE");
  else if (family === "Debian" || family === "Gentoo") writeLines(inRoot("/etc/timezone", root), [zone]);
}

/** `UTC` or `localtime`: what the clock keeps; None if nothing tells it. @throws {CommandError} If something must tell it. */
export function clockInFiles(family: string, root: string): string | null {
  if (family === "Debian") {
    const utc = settingIn(inRoot("/etc/default/rcS", root), "UTC");
    if (utc !== undefined) return utc.toLowerCase() === "yes" ? "UTC" : "localtime";
  }
  const adjtime = readTextFileIfExists(inRoot("/etc/adjtime", root));
  if (adjtime !== undefined) return adjtime.trimEnd().split("\n").at(-1) ?? null;
  if (family === "Gentoo") {
    const clock = settingIn(inRoot("/etc/conf.d/hwclock", root), "clock");
    if (clock === "UTC" || clock === "local") return clock === "UTC" ? "UTC" : "LOCAL";
    throw new CommandError("Correct offset value not found in /etc/conf.d/hwclock");
  }
  if (isThere("/dev/rtc")) throw new CommandError("Unable to get hwclock timezone from /etc/adjtime");
  return null;
}

/** Writes down what the clock keeps, `UTC` or `localtime`, if the family has a file for it. @throws {InvocationError} */
export function noteClock(clock: string, family: string, root: string): void {
  if (clock !== "UTC" && clock !== "localtime") {
    throw new InvocationError("Only 'UTC' and 'localtime' are allowed");
  }
  if (family === "Debian") {
    replaceLines(inRoot("/etc/default/rcS", root), {
      isMeant: (line) => line.startsWith("UTC="),
      line: `UTC=${clock === "UTC" ? "yes" : "no"}`,
      add: false,
    });
  } else if (family === "Gentoo") {
    replaceLines(inRoot("/etc/conf.d/hwclock", root), {
      isMeant: (line) => line.startsWith("clock="),
      line: `clock="${clock === "UTC" ? "UTC" : "local"}"`,
      add: false,
    });
  }
}
