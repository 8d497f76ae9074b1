/**
 * The time zone of the host, and whether the hardware clock uses it.
 * Source: Salt 3008.3, `salt/modules/timezone.py`; timedatectl(1).
 * @module
 */

import { CommandError } from "#lib/errors.ts";
import type { CommandHost } from "#lib/programs/command.ts";
import { runProgram } from "#lib/programs/run_program.ts";
import { which } from "#lib/programs/which.ts";
import { lexistsOrThrow } from "#lib/os/file_kind.ts";
import { clockInFiles, isLocaltime, writeClock, writeZone, zoneFile, zoneInFiles } from "./time_zone_files.ts";

/** The zone in the output of `timedatectl`; `undefined` if there is none. */
export function parseZone(text: string): string | undefined {
  return /^\s*Time ?zone:\s+(\S+)/m.exec(text)?.[1];
}

/** Whether the hardware clock uses local time, from the output of `timedatectl`; `undefined` if it is missing. */
export function parseLocalClock(text: string): boolean | undefined {
  const answer = /^\s*RTC in local TZ:\s*(\S+)/im.exec(text)?.[1];
  return answer === undefined ? undefined : answer.toLowerCase() === "yes";
}

async function timedatectl(host: CommandHost): Promise<string> {
  const { retcode, stdout, stderr } = await runProgram(["timedatectl"], host);
  if (retcode !== 0) throw new CommandError(`timedatectl failed: ${stderr}`);
  return stdout;
}

/**
 * The name of the host's zone.
 * @throws {CommandError} If it cannot be found.
 */
export async function getZone(family: string, host: CommandHost, root = "/"): Promise<string> {
  if (which("timedatectl") !== undefined) {
    const text = await timedatectl(host);
    const zone = parseZone(text);
    if (zone !== undefined) return zone;
    throw new CommandError(`Failed to parse timedatectl output: ${text}`);
  }
  return zoneInFiles(family, root);
}

/**
 * Sets the host's zone.
 * @returns The error, if there is no such zone.
 */
export async function setZone(
  zone: string,
  family: string,
  host: CommandHost,
  root = "/",
): Promise<true | string> {
  const file = zoneFile(zone, root);
  if (root === "/" && which("timedatectl") !== undefined) await runProgram(["timedatectl", "set-timezone", zone], host);
  if (!lexistsOrThrow(file)) return `Zone does not exist: ${zoneFile(zone, "/")}`;
  writeZone(zone, family, root);
  return true;
}

/**
 * Whether a zone is the host's.
 * @throws {InvocationError} If there is no such zone.
 */
export async function isZone(zone: string, family: string, host: CommandHost, root = "/"): Promise<boolean> {
  let own: string | undefined;
  try {
    own = await getZone(family, host, root);
  } catch (error) {
    if (!(error instanceof CommandError)) throw error;
  }
  return own === undefined ? isLocaltime(zone, root) : own === zone;
}

/** The setting of the hardware clock: `UTC` or `localtime`; None if unknown. */
export async function getClock(family: string, host: CommandHost, root = "/"): Promise<string | null> {
  if (which("timedatectl") !== undefined) {
    const text = await timedatectl(host);
    const isLocal = parseLocalClock(text);
    if (isLocal !== undefined) return isLocal ? "localtime" : "UTC";
    throw new CommandError(`Failed to parse timedatectl output: ${text}`);
  }
  return clockInFiles(family, root);
}

/**
 * Sets the hardware clock to `UTC` or `localtime`.
 * @returns Whether this succeeded.
 */
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
  writeClock(clock, family, root);
  return true;
}
