/**
 * How the result of a state in test mode differs from the one that a plan has shown.
 * @module
 */

import type { Moved } from "./plan.ts";
import { equals, isMap, str, type Value, type ValueMap } from "#lib/values/value.ts";

/** Lines of one value that are shown. */
const MOST_LINES = 30;

/** The fields of a result that are compared. */
const FIELDS = ["result", "comment", "changes"] as const;

/** Lines that say what the plan has shown of a state, and what is so now; none for other kinds of differences. */
export function differences({ kind, name }: Moved, then: ValueMap, now: Value): string[] {
  if (kind !== "host" || !isMap(now)) return [];
  const before = then.get(name), after = now.get(name);
  if (!isMap(before) || !isMap(after)) return [];
  return FIELDS.flatMap((field) => {
    const [old, current] = [before.get(field) ?? null, after.get(field) ?? null];
    if (equals(old, current)) return [];
    return [...shownValue(`${field} in the plan`, old), ...shownValue(`${field} now`, current)];
  });
}

function shownValue(label: string, value: Value): string[] {
  const lines = linesOf(value);
  if (lines.length === 1) return [`  ${label}: ${lines[0]}`];
  const more = lines.length - MOST_LINES;
  const shown = more > 0 ? [...lines.slice(0, MOST_LINES), `… ${more} more lines`] : lines;
  return [`  ${label}:`, ...shown.map((line) => `    ${line}`)];
}

function linesOf(value: Value): string[] {
  if (!isMap(value)) return str(value).replace(/\n+$/, "").split("\n");
  if (value.size === 0) return ["none"];
  return [...value].flatMap(([key, item]) => {
    const lines = linesOf(item);
    return lines.length === 1 ? [`${str(key)}: ${lines[0]}`] : [`${str(key)}:`, ...lines.map((line) => `  ${line}`)];
  });
}
