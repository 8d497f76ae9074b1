/**
 * Cuts long texts in a value to their first lines: a diff of a log file, or the output of a build.
 * @module
 */

import { splitLines } from "#lib/text/split_lines.ts";
import { isMap, type Value } from "#lib/values/value.ts";

/** `value` with at most `max` lines of each text in it, and the number of those that are left out; 0: all of them. */
export function truncateTexts(value: Value, max: number): Value {
  if (max === 0) return value;
  if (Array.isArray(value)) return value.map((item) => truncateTexts(item, max));
  if (isMap(value)) return new Map([...value].map(([key, item]) => [key, truncateTexts(item, max)]));
  if (typeof value !== "string") return value;
  const lines = splitLines(value);
  const left = lines.length - max;
  // A note in the place of one line would save nothing.
  if (left < 2) return value;
  return [...lines.slice(0, max), `… ${left} more lines`].join("\n");
}
