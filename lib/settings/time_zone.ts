/**
 * The time zone of the host, and whether its clock keeps it.
 * Source: Salt 3008.3, `salt/modules/timezone.py`; timedatectl(1).
 * @module
 */

import { CommandError, InvocationError } from "../errors.ts";
import type { CommandHost } from "../host/command.ts";
import { runProgram } from "../host/run_program.ts";
import { which } from "../host/which.ts";
import { readTextFileIfExists } from "../os/atomic_file.ts";
import { isLink, joinPath, normalPath, walk } from "../filesystem/paths.ts";
import { isFile, isThere } from "../os/file_kind.ts";
import { inRoot } from "./settings_file.ts";
import { clockInFiles, noteClock, noteZone, zoneInFiles } from "./time_zone_files.ts";

/** The zone that `timedatectl` tells; `undefined` if it tells none. */
export function parseZone(text: string): string | undefined {
  return /^\s*Time ?zone:\s+(\S+)/m.exec(text)?.[1];
}

/** Whether the clock keeps local time, as `timedatectl` tells; `undefined` if it does not. */
export function parseLocalClock(text: string): boolean | undefined {
  const answer = /^\s*RTC in local TZ:\s*(\S+)/im.exec(text)?.[1];
  return answer === undefined ? undefined : answer.toLowerCase() === "yes";
}

async function timedatectl(host: CommandHost): Promise<string> {
  const { retcode, stdout, stderr } = await runProgram(["timedatectl"], host);
  if (retcode !== 0) throw new CommandError(`timedatectl failed: ${stderr}`);
  return stdout;
}

/** A zone's name: it becomes part of a path. @throws {InvocationError} If it leads out of the zones. */
function zoneName(zone: string): string {
  if (/^[A-Za-z0-9][\w+-]*(\/[\w+-]+)*$/.test(zone)) return zone;
  throw new InvocationError(`Invalid time zone: ${JSON.stringify(zone)}`);
}

/** The name of the host's zone. @throws {CommandError} If it cannot be found. */
export async function getZone(family: string, host: CommandHost, root = "/"): Promise<string> {
  if (which("timedatectl") !== undefined) {
    const text = await timedatectl(host);
    const zone = parseZone(text);
    if (zone !== undefined) return zone;
    throw new CommandError(`Failed to parse timedatectl output: ${text}`);
  }
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

const ZONES = "/usr/share/zoneinfo/";

/** The zone that `/etc/localtime` leads to, or is a copy of. */
function zoneOfLocaltime(root: string): string {
  const path = inRoot("/etc/localtime", root);
  if (isLink(path)) {
    const target = joinPath("/etc", Deno.readLinkSync(path));
    const whole = normalPath(target);
    if (whole.startsWith(ZONES)) return whole.slice(ZONES.length);
  } else if (isFile(path)) {
    const own = Deno.readFileSync(path);
    // Below posix and right are the same zones again.
    const name = zoneNames(inRoot(ZONES, root)).find((one) =>
      !/^[a-z]/.test(one) && sameContents(own, inRoot(ZONES + one, root))
    );
    if (name !== undefined) return name;
  } else {
    throw new CommandError(`${path} does not exist`);
  }
  throw new CommandError("Unable to determine timezone");
}

/** The files below a directory, sorted: paths from there. */
function zoneNames(directory: string): string[] {
  const names = [...walk(directory.replace(/\/$/, ""))].flatMap(({ path, files }) =>
    files.map((name) => `${path}/${name}`.slice(directory.length))
  );
  return names.sort();
}

function sameContents(own: Uint8Array, path: string): boolean {
  if (!isFile(path) || Deno.statSync(path).size !== own.length) return false;
  const other = Deno.readFileSync(path);
  return own.every((byte, i) => byte === other[i]);
}

/** Has `/etc/localtime` lead to a zone. */
function linkZone(zone: string, root: string): void {
  const link = inRoot("/etc/localtime", root);
  const temporary = `${link}.${crypto.randomUUID()}`;
  Deno.symlinkSync(ZONES + zone, temporary);
  Deno.renameSync(temporary, link);
}

/** Notes the zone where the family keeps its name beside the link. */
function noteZone(zone: string, family: string, root: string): void {
  const key = family === "RedHat" ? "ZONE" : family === "Suse" ? "TIMEZONE" : undefined;
  if (key === undefined) return;
  const isMeant = (line: string) => line.startsWith(`${key}=`);
  replaceLines(inRoot("/etc/sysconfig/clock", root), { isMeant, line: `${key}="${zone}"`, add: false });
}

/** Makes a zone the host's. @returns What is wrong, if there is no such zone. */
export async function setZone(
  zone: string,
  family: string,
  host: CommandHost,
  root = "/",
): Promise<true | string> {
  const path = ZONES + zoneName(zone);
  if (root === "/" && which("timedatectl") !== undefined) await runProgram(["timedatectl", "set-timezone", zone], host);
  if (!isThere(inRoot(path, root))) return `Zone does not exist: ${path}`;
  linkZone(zone, root);
  noteZone(zone, family, root);
  if (family === "Debian" || family === "Gentoo") writeLines(inRoot("/etc/timezone", root), [zone]);
  return true;
}

/** Whether a zone is the host's. @throws {InvocationError} If there is no such zone. */
export async function isZone(zone: string, family: string, host: CommandHost, root = "/"): Promise<boolean> {
  let own: string | undefined;
  try {
    own = await getZone(family, host, root);
  } catch (error) {
    if (!(error instanceof CommandError)) throw error;
  }
  if (own !== undefined) return own === zone;
  const path = "/etc/localtime";
  if (!isFile(path)) {
    throw new CommandError(`Failed to read ${path} to determine current timezone: No such file or directory`);
  }
  const file = ZONES + zoneName(zone);
  if (!isFile(file)) throw new InvocationError(`Can't find a local timezone "${zone}"`);
  return sameContents(Deno.readFileSync(path), file);
}

/** `UTC` or `localtime`: what the clock keeps; None if nothing tells it. */
export async function getClock(family: string, host: CommandHost, root = "/"): Promise<string | null> {
  if (which("timedatectl") !== undefined) {
    const text = await timedatectl(host);
    const isLocal = parseLocalClock(text);
    if (isLocal !== undefined) return isLocal ? "localtime" : "UTC";
    throw new CommandError(`Failed to parse timedatectl output: ${text}`);
  }
  if (family === "Debian") {
    const utc = settingIn(inRoot("/etc/default/rcS", root), "UTC");
    if (utc !== undefined) return utc.toLowerCase() === "yes" ? "UTC" : "localtime";
  }
  const adjtime = readTextFileIfExists(inRoot("/etc/adjtime", root));
  if (adjtime !== undefined) return adjtime.trimEnd().split("\n").at(-1) ?? null;
  if (family === "Slackware") {
    const told = readTextFileIfExists(inRoot("/etc/hardwareclock", root));
    return told === undefined || /^UTC/m.test(told) ? "UTC" : "localtime";
  }
  if (family === "Gentoo") {
    const clock = settingIn(inRoot("/etc/conf.d/hwclock", root), "clock");
    if (clock === "UTC" || clock === "local") return clock === "UTC" ? "UTC" : "LOCAL";
    throw new CommandError("Correct offset value not found in /etc/conf.d/hwclock");
  }
  if (isThere("/dev/rtc")) throw new CommandError("Unable to get hwclock timezone from /etc/adjtime");
  return null;
}

/** Has the clock keep `UTC` or `localtime`. @returns Whether it was done. */
export async function setClock(
  clock: string,
  family: string,
  host: CommandHost,
  root = "/",
): Promise<boolean> {
  if (which("timedatectl") !== undefined) {
    const words = ["timedatectl", "set-local-rtc", clock === "localtime" ? "true" : "false"];
    return (await runProgram(words, host)).retcode === 0;
  }
  if (clock !== "UTC" && clock !== "localtime") {
    throw new InvocationError("Only 'UTC' and 'localtime' are allowed");
  }
  const zone = zoneName(await getZone(family, host, root));
  if (!isThere(inRoot(ZONES + zone, root))) throw new CommandError(`Zone '${ZONES}${zone}' does not exist`);
  const file = CLOCK_FILES[family];
  if (file === undefined) throw new CommandError("Without timedatectl nothing keeps what the hardware clock is set to");
  linkZone(zone, root);
  noteZone(zone, family, root);
  if (file !== null) {
    const { path, isMeant, line } = file;
    replaceLines(inRoot(path, root), { isMeant: (one) => isMeant.test(one), line: line(clock === "UTC"), add: false });
  }
  return true;
}

/** Where families say what the clock keeps; null where only the zone is noted. */
const CLOCK_FILES: Readonly<
  Record<string, { readonly path: string; readonly isMeant: RegExp; readonly line: (utc: boolean) => string } | null>
> = {
  RedHat: null,
  Suse: null,
  Debian: { path: "/etc/default/rcS", isMeant: /^UTC=/, line: (utc) => `UTC=${utc ? "yes" : "no"}` },
  Gentoo: { path: "/etc/conf.d/hwclock", isMeant: /^clock=/, line: (utc) => `clock="${utc ? "UTC" : "local"}"` },
  Slackware: {
    path: "/etc/hardwareclock",
    isMeant: /^(UTC|localtime)/,
    line: (utc) => utc ? "UTC" : "localtime",
  },
};
