/**
 * Services of OpenRC and their runlevels, as `rc-update` shows and changes them.
 * Source: rc-update(8); Salt 3006, `salt/modules/gentoo_service.py`.
 * @module
 */

import { serviceName } from "./service_names.ts";
import type { CommandHost } from "#lib/programs/command.ts";
import { checkedWord, runProgram } from "#lib/programs/run_program.ts";
import { splitWhitespace } from "#lib/text/split_lines.ts";

/** The runlevels of each service of `rc-update -v show`; none of one that is in no runlevel. */
export function parseRunlevels(text: string): Map<string, string[]> {
  const services = new Map<string, string[]>();
  for (const line of text.split("\n")) {
    const [name, levels] = line.split("|").map((part) => part.trim());
    if (levels !== undefined && name !== "") services.set(name, splitWhitespace(levels).sort());
  }
  return services;
}

/** The services with their runlevels. */
export async function serviceRunlevels(host: CommandHost): Promise<Map<string, string[]>> {
  return parseRunlevels((await runProgram(["rc-update", "-v", "show"], host)).stdout);
}

async function update(
  action: "add" | "delete",
  name: string,
  levels: readonly string[],
  host: CommandHost,
): Promise<boolean> {
  const words = [...levels].sort().map((level) => checkedWord(level, "runlevel"));
  return (await runProgram(["rc-update", action, serviceName(name), ...words], host)).retcode === 0;
}

/**
 * Adds a service to the default runlevel, or to exactly the named ones.
 * @returns Whether it is in them now.
 */
export async function enableIn(
  name: string,
  levels: readonly string[] | undefined,
  host: CommandHost,
): Promise<boolean> {
  if (levels === undefined) return await update("add", name, [], host);
  const now = (await serviceRunlevels(host)).get(name) ?? [];
  const [more, less] = [without(levels, now), without(now, levels)];
  if (less.length > 0 && !await update("delete", name, less, host)) return false;
  return more.length === 0 || await update("add", name, more, host);
}

/**
 * Removes a service from the default runlevel, or from the named ones.
 * @returns Whether it is not in them now.
 */
export async function disableIn(
  name: string,
  levels: readonly string[] | undefined,
  host: CommandHost,
): Promise<boolean> {
  if (levels === undefined) return await update("delete", name, [], host);
  const now = (await serviceRunlevels(host)).get(name) ?? [];
  const less = levels.filter((level) => now.includes(level));
  return less.length === 0 || await update("delete", name, less, host);
}

function without(levels: readonly string[], others: readonly string[]): string[] {
  return levels.filter((level) => !others.includes(level));
}
