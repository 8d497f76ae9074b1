/**
 * Shortens untrusted texts and lists of names for a log line.
 * @module
 */

import { repr, str, type Value } from "#lib/values/value.ts";

const LONGEST = 200;

/** `text`, cut after 200 characters. */
export function truncate(text: string): string {
  return text.length <= LONGEST ? text : `${text.slice(0, LONGEST)}…`;
}

/** `value` as Python's `str`, cut. Of a list or map only the type: its text may be a thousand times as long. */
export function truncateValue(value: Value | undefined): string {
  if (Array.isArray(value) || value instanceof Map) return Array.isArray(value) ? "a list" : "a map";
  return truncate(str(value ?? null));
}

/** `value` as Python's `repr` has it, in at most 60 characters: for the message about an invalid value. */
export function truncateRepr(value: Value): string {
  const text = repr(value);
  return text.length <= 60 ? text : `${text.slice(0, 57)}...`;
}

/** Longer lists are cut, and the rest is counted. */
const NAMED = 5;

/**
 * `a, b, c` for a few names, `a, b, c, d, e and 7 more` for many.
 * @param max Names that are shown.
 */
export function truncateList(names: readonly string[], max: number = NAMED): string {
  const more = names.length > max ? ` and ${names.length - max} more` : "";
  return `${names.slice(0, max).join(", ")}${more}`;
}
