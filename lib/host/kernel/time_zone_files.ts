/**
 * The time zone in the files of a host, for each family of systems, and the setting of the hardware clock.
 * Source: Salt 3008.3, `salt/modules/timezone.py`.
 * @module
 */

import { sameBytes } from "#lib/crypto/same_bytes.ts";
import { CommandError, InvocationError } from "#lib/errors.ts";
import { isLink, walk } from "#lib/os/disk_paths.ts";
import { joinPath, normalPath } from "#lib/os/paths.ts";
import { readFileIfExists, readTextFileIfExists } from "#lib/os/atomic_file.ts";
import { isFile, lexistsOrThrow } from "#lib/os/file_kind.ts";
import { inRoot, replaceLines, settingIn, writeLines } from "./settings_file.ts";

const ZONES = "/usr/share/zoneinfo/";
const LOCALTIME = "/etc/localtime";

/**
 * The name of the zone in the files.
 * @throws {CommandError} If there is none.
 */
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
  return zoneOfLocaltime(root);
}

/** The zone that `/etc/localtime` leads to, or is a copy of. */
function zoneOfLocaltime(root: string): string {
  const path = inRoot(LOCALTIME, root);
  if (isLink(path)) {
    const whole = normalPath(joinPath("/etc", Deno.readLinkSync(path)));
    if (whole.startsWith(ZONES)) return whole.slice(ZONES.length);
  } else if (isFile(path)) {
    const own = Deno.readFileSync(path);
    // The directories posix and right contain the same zones again.
    const name = zoneNames(root).find((one) => !/^[a-z]/.test(one) && sameContents(own, inRoot(ZONES + one, root)));
    if (name !== undefined) return name;
  } else {
    throw new CommandError(`${path} does not exist`);
  }
  throw new CommandError("Unable to determine timezone");
}

/** The names of all zones, sorted. */
function zoneNames(root: string): string[] {
  const directory = inRoot(ZONES, root);
  const names = [...walk(directory.replace(/\/$/, ""))].flatMap(({ path, files }) =>
    files.map((name) => `${path}/${name}`.slice(directory.length))
  );
  return names.sort();
}

function sameContents(own: Uint8Array, path: string): boolean {
  return isFile(path) && Deno.statSync(path).size === own.length && sameBytes(own, Deno.readFileSync(path));
}

/**
 * The file of a zone below `root`.
 * @throws {InvocationError} If the name leads out of the zones.
 */
export function zoneFile(zone: string, root: string): string {
  if (!/^[A-Za-z0-9][\w+-]*(\/[\w+-]+)*$/.test(zone)) {
    throw new InvocationError(`Invalid time zone: ${JSON.stringify(zone)}`);
  }
  return inRoot(ZONES + zone, root);
}

/**
 * Whether `/etc/localtime` has the contents of a zone.
 * @throws {CommandError} If it cannot be read.
 * @throws {InvocationError} If there is no such zone.
 */
export function isLocaltime(zone: string, root: string): boolean {
  const [file, local] = [zoneFile(zone, root), inRoot(LOCALTIME, root)];
  const own = readFileIfExists(local);
  if (own === undefined) {
    throw new CommandError(`Failed to read ${local} to determine current timezone: No such file or directory`);
  }
  if (!isFile(file)) throw new InvocationError(`Can't find a local timezone "${zone}"`);
  return sameContents(own, file);
}

/** Links `/etc/localtime` to a zone, and writes its name to the file of the family. */
export function writeZone(zone: string, family: string, root: string): void {
  linkZone(zone, family, root);
  if (family === "Debian" || family === "Gentoo") writeLines(inRoot("/etc/timezone", root), [zone]);
}

/** The link, and the file with the name in some families. */
function linkZone(zone: string, family: string, root: string): void {
  const link = inRoot(LOCALTIME, root);
  const temporary = `${link}.${crypto.randomUUID()}`;
  Deno.symlinkSync(ZONES + zone, temporary);
  Deno.renameSync(temporary, link);
  const key = family === "RedHat" ? "ZONE" : family === "Suse" ? "TIMEZONE" : undefined;
  if (key === undefined) return;
  const isMeant = (line: string) => line.startsWith(`${key}=`);
  replaceLines(inRoot("/etc/sysconfig/clock", root), { isMeant, line: `${key}="${zone}"`, add: false });
}

/**
 * The setting of the hardware clock: `UTC` or `localtime`; None if unknown.
 * @throws {CommandError} If the family must have the setting.
 */
export function clockInFiles(family: string, root: string): string | null {
  if (family === "Debian") {
    const utc = settingIn(inRoot("/etc/default/rcS", root), "UTC");
    if (utc !== undefined) return utc.toLowerCase() === "yes" ? "UTC" : "localtime";
  }
  const adjtime = readTextFileIfExists(inRoot("/etc/adjtime", root));
  if (adjtime !== undefined) return adjtime.trimEnd().split("\n").at(-1) ?? null;
  if (family === "Slackware") {
    const text = readTextFileIfExists(inRoot("/etc/hardwareclock", root));
    return text === undefined || /^UTC/m.test(text) ? "UTC" : "localtime";
  }
  if (family === "Gentoo") {
    const clock = settingIn(inRoot("/etc/conf.d/hwclock", root), "clock");
    if (clock === "UTC" || clock === "local") return clock === "UTC" ? "UTC" : "LOCAL";
    throw new CommandError("Correct offset value not found in /etc/conf.d/hwclock");
  }
  if (lexistsOrThrow(inRoot("/dev/rtc", root))) {
    throw new CommandError("Unable to get hwclock timezone from /etc/adjtime");
  }
  return null;
}

/** The setting of the hardware clock in a family's file. */
interface ClockFile {
  readonly path: string;
  readonly isMeant: RegExp;
  line(isUtc: boolean): string;
}

/** By family; null if only the zone is written. */
const CLOCK_FILES: Readonly<Record<string, ClockFile | null>> = {
  RedHat: null,
  Suse: null,
  Debian: { path: "/etc/default/rcS", isMeant: /^UTC=/, line: (isUtc) => `UTC=${isUtc ? "yes" : "no"}` },
  Gentoo: { path: "/etc/conf.d/hwclock", isMeant: /^clock=/, line: (isUtc) => `clock="${isUtc ? "UTC" : "local"}"` },
  Slackware: {
    path: "/etc/hardwareclock",
    isMeant: /^(UTC|localtime)/,
    line: (isUtc) => isUtc ? "UTC" : "localtime",
  },
};

/**
 * Writes the setting of the hardware clock, `UTC` or `localtime`, and the zone again, as in Salt.
 * @throws {InvocationError} If it is neither.
 * @throws {CommandError} If the zone has no file, or the family none for the clock.
 */
export function writeClock(clock: string, family: string, root: string): void {
  if (clock !== "UTC" && clock !== "localtime") {
    throw new InvocationError("Only 'UTC' and 'localtime' are allowed");
  }
  const zone = zoneInFiles(family, root);
  if (!lexistsOrThrow(zoneFile(zone, root))) throw new CommandError(`Zone '${ZONES}${zone}' does not exist`);
  const file = CLOCK_FILES[family];
  if (file === undefined) throw new CommandError("Without timedatectl nothing keeps what the hardware clock is set to");
  linkZone(zone, family, root);
  if (file === null) return;
  const { path, isMeant } = file;
  const line = file.line(clock === "UTC");
  replaceLines(inRoot(path, root), { isMeant: (one) => isMeant.test(one), line, add: false });
}
