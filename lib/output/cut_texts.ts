/**
 * Long texts in a value, cut to their first lines: a diff of a log file, or what a build wrote.
 * @module
 */

import { splitLines } from "../text/split_lines.ts";
import { isMap, type Value } from "../values/value.ts";

/** `value` with at most `most` lines of each text in it, and the number of those that are left out; 0: all of them. */
export function cutTexts(value: Value, most: number): Value {
  if (most === 0) return value;
  if (Array.isArray(value)) return value.map((item) => cutTexts(item, most));
  if (isMap(value)) return new Map([...value].map(([key, item]) => [key, cutTexts(item, most)]));
  if (typeof value !== "string") return value;
  const lines = splitLines(value);
  const left = lines.length - most;
  // A note in the place of one line would save nothing.
  if (left < 2) return value;
  return [...lines.slice(0, most), `… ${left} more lines`].join("\n");
}
