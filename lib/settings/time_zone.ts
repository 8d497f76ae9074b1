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
import { isFile, isThere } from "../os/file_kind.ts";
import { inRoot, replaceLines, settingIn, writeLines } from "./settings_file.ts";

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

/** Makes a zone the host's. @returns What is wrong, if there is no such zone. */
export async function setZone(
  zone: string,
  family: string,
  host: CommandHost,
  root = "/",
): Promise<true | string> {
  const path = `/usr/share/zoneinfo/${zoneName(zone)}`;
  if (!isThere(inRoot(path, root))) return `Zone does not exist: ${path}`;
  if (root === "/" && which("timedatectl") !== undefined) await runProgram(["timedatectl", "set-timezone", zone], host);
  const link = inRoot("/etc/localtime", root);
  const temporary = `${link}.${crypto.randomUUID()}`;
  Deno.symlinkSync(path, temporary);
  Deno.renameSync(temporary, link);
  const clock = inRoot("/etc/sysconfig/clock", root);
  const set = (key: string) =>
    replaceLines(clock, { isMeant: (line) => line.startsWith(`${key}=`), line: `${key}="${zone}"`, add: false });
  if (family === "RedHat") set("ZONE");
  else if (family === "Suse") set("TIMEZONE");
  else if (family === "Debian" || family === "Gentoo") writeLines(inRoot("/etc/timezone", root), [zone]);
  return true;
}

/** Whether a zone is the host's. @throws {InvocationError} If there is no such zone. */
export async function isZone(zone: string, family: string, host: CommandHost): Promise<boolean> {
  let own: string | undefined;
  try {
    own = await getZone(family, host);
  } catch (error) {
    if (!(error instanceof CommandError)) throw error;
  }
  if (own !== undefined) return own === zone;
  const file = `/usr/share/zoneinfo/${zoneName(zone)}`;
  if (!isFile(file)) throw new InvocationError(`Can't find a local timezone "${zone}"`);
  const [a, b] = [Deno.readFileSync(file), Deno.readFileSync("/etc/localtime")];
  return a.length === b.length && a.every((byte, i) => byte === b[i]);
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
  return true;
}
