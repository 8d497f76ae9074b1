/**
 * Limits in percent, as the beacons of disks, memory and swap take them: `63%`, `63`, `"63"`.
 * @module
 */

import { CommandError } from "#lib/errors.ts";
import type { BeaconModule } from "#lib/plugins/beacon.ts";
import { map, str, toNumber, type Value } from "#lib/values/value.ts";

/**
 * The number of a limit.
 * @throws {CommandError} In Python's words, if it is none.
 */
export function percentLimit(value: Value): number {
  if (typeof value === "string") {
    const text = value.replaceAll("%", "").trim();
    if (/^[+-]?(\d+(?:\.\d*)?|\.\d+)([eE][+-]?\d+)?$/.test(text)) return Number(text);
    throw new CommandError(`could not convert string to float: '${value.replaceAll("%", "")}'`);
  }
  const number = toNumber(value);
  if (number === undefined) throw new CommandError(`${str(value)} is no limit in percent`);
  return number;
}

/**
 * A beacon that compares one part with its limit.
 * @param name Its name, which is also the key of its data.
 * @param used The part that is used now, in percent: a float.
 */
export function usageBeacon(name: string, what: string, used: () => Value): BeaconModule {
  return {
    doc: `${what}, when it is at or over a limit in percent.`,
    permissions: "all",
    keys: ["percent"],
    validate: ({ all }) => all.has("percent") ? undefined : `Configuration for ${name} beacon requires percent.`,
    open: ({ all }) => ({
      look() {
        const limit = percentLimit(all.get("percent") ?? null), now = used();
        return (toNumber(now) ?? 0) >= limit ? [map({ [name]: now })] : [];
      },
    }),
  };
}
