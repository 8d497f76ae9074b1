/**
 * Parsers for the output of systemctl, and the names of units. Pure functions over text.
 * Source: systemctl(1); Salt 3008.3, `salt/modules/systemd_service.py`.
 * @module
 */

import { splitWhitespace } from "#lib/text/split_lines.ts";
import { map, type ValueMap } from "#lib/values/value.ts";

const UNIT_TYPES = [
  "service",
  "socket",
  "device",
  "mount",
  "automount",
  "swap",
  "target",
  "path",
  "timer",
];

/** The name of a unit with its type: `cron` is `cron.service`. */
export function unitName(name: string): string {
  return UNIT_TYPES.some((type) => name.endsWith(`.${type}`)) ? name : `${name}.service`;
}

/** The name under which Salt lists a unit: a service without its type; `undefined` for what is not a unit. */
export function listedName(unit: string): string | undefined {
  const dot = unit.lastIndexOf(".");
  if (dot < 0 || !UNIT_TYPES.includes(unit.slice(dot + 1))) return undefined;
  return unit.endsWith(".service") ? unit.slice(0, dot) : unit;
}

/** The units of `systemctl --full --no-legend` that are running, by their listed names. */
export function parseRunning(text: string): string[] {
  return text.split("\n").flatMap((line) => {
    const words = line.trim().split(/\s+/);
    return words[3] === "running" ? listedName(words[0]) ?? [] : [];
  });
}

/** The units of `systemctl list-unit-files` in that state, by their listed names. */
export function parseUnitFiles(text: string, state: string): string[] {
  return text.split("\n").flatMap((line) => {
    const [unit, word] = line.trim().split(/\s+/);
    return word === state ? listedName(unit) ?? [] : [];
  });
}

/** Whether a unit exists, from `systemctl status` of an old systemd; `undefined` if the output does not show it. */
export function parseLoaded(text: string): boolean | undefined {
  const lower = text.toLowerCase();
  if (lower.includes("could not be found")) return false;
  const loaded = /^\s+loaded:\s+(\S+)/m.exec(lower)?.[1];
  return loaded === undefined ? undefined : loaded !== "not-found";
}

/** The properties of `systemctl show`. */
export function parseProperties(text: string): ValueMap {
  const properties: ValueMap = new Map();
  for (const line of text.split("\n")) {
    const equals = line.indexOf("=");
    const [name, value] = equals < 0 ? [line, ""] : [line.slice(0, equals), line.slice(equals + 1)];
    if (name === "") continue;
    if (value.startsWith("{")) properties.set(name, parseFields(value));
    else if (["Before", "After", "Wants"].includes(name)) {
      properties.set(
        name,
        splitWhitespace(value),
      );
    } else properties.set(name, value);
  }
  return properties;
}

function parseFields(value: string): ValueMap {
  const fields = value.replace(/[{}]/g, "").split(" ; ").map((item): [string, string] => {
    const [name, field = ""] = item.split("=", 2);
    return [name.trim(), field.trim()];
  });
  return map(Object.fromEntries(fields));
}

/** A message without the lines about the scope of the program. */
export function withoutScope(message: string): string {
  return message.split("\n").filter((line) => !line.endsWith(".scope")).join("\n").trim();
}
