/**
 * The outputter of `salt-key`: keys under a heading for each state. Knows nothing of where keys come from.
 * Source: Salt's `key` outputter.
 * @module
 */

import { type ColourName, colours, sanitize, sanitizeLine } from "#lib/text/terminal.ts";
import { compare, isMap, str, type Value } from "#lib/values/value.ts";

/** Groups of keys by Salt's names: heading, colour of the heading, colour of the keys. */
const GROUPS: ReadonlyMap<string, readonly [heading: string, headingColour: ColourName, keyColour: ColourName]> =
  new Map([
    ["local", ["Local Keys:", "LIGHT_MAGENTA", "MAGENTA"]],
    ["minions", ["Accepted Keys:", "LIGHT_GREEN", "GREEN"]],
    ["minions_denied", ["Denied Keys:", "LIGHT_MAGENTA", "MAGENTA"]],
    ["minions_pre", ["Unaccepted Keys:", "LIGHT_RED", "RED"]],
    ["minions_rejected", ["Rejected Keys:", "LIGHT_BLUE", "BLUE"]],
  ]);

/**
 * Formats `data` as `salt-key` lists it: a map from a group (`minions`, `minions_pre`, …) to a list of ids, or to a map
 * from ids to a text to show with them (a fingerprint, a PEM).
 * @returns The text without a final newline, or `undefined` if `data` has another form.
 */
export function formatKeys(data: Value, options: { readonly color: boolean }): string | undefined {
  if (!isMap(data)) return undefined;
  const color = colours(options.color);
  const lines: string[] = [];
  for (const [name, keys] of [...data].sort(([a], [b]) => compare(a, b))) {
    const group = typeof name === "string" ? GROUPS.get(name) : undefined;
    if (group === undefined || !(Array.isArray(keys) || isMap(keys))) return undefined;
    const [heading, headingColour, keyColour] = group;
    lines.push(`${color[headingColour]}${heading}${color.ENDC}`);
    const rows = isMap(keys)
      ? [...keys].sort(([a], [b]) => compare(a, b)).map(([id, beside]) => `${idText(id)}:  ${sanitize(str(beside))}`)
      : [...keys].sort(compare).map(idText);
    for (const row of rows) lines.push(`${color[keyColour]}${row}${color.ENDC}`);
  }
  return lines.join("\n");
}

function idText(id: Value): string {
  return sanitizeLine(str(id));
}
