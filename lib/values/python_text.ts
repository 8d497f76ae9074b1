/**
 * White space and line ends in Python, which differ from JavaScript's: U+001C to U+001F and U+0085 are
 * space to Python, and the byte order mark is not.
 * Source: docs.python.org, "str.isspace", "str.splitlines"; checked against Python 3 for every code point.
 * @module
 */

import { float, int, type Value } from "./value.ts";
/** Python's white space, to be between the brackets of a regular expression's class. */
export const SPACE = "\\t-\\r\\x1c-\\x20\\x85\\xa0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000";

/** The characters that end a line, likewise; `\r\n` ends one line. */
export const LINE_ENDS = "\\n\\r\\v\\f\\x1c-\\x1e\\x85\\u2028\\u2029";

const IS_SPACE = new RegExp(`[${SPACE}]`);

/** Python's `text.strip()`. */
export function strip(text: string): string {
  const end = rstrip(text);
  let start = 0;
  while (start < end.length && IS_SPACE.test(end[start])) start++;
  return end.slice(start);
}

/** Python's `text.rstrip()`. */
export function rstrip(text: string): string {
  // Not by an expression with `+$`, which looks at every run of blanks from each of its characters.
  let end = text.length;
  while (end > 0 && IS_SPACE.test(text[end - 1])) end--;
  return text.slice(0, end);
}

/** Python's `int(text)` or `float(text)`, whichever reads it; `undefined` if none does. */
export function numberOfText(text: string): Value | undefined {
  const trimmed = strip(text);
  const plain = trimmed.replace(/(?<=\d)_(?=\d)/g, "");
  if (/^[+-]?\d+$/.test(plain)) return int(BigInt(plain.replace("+", "")));
  if (/^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?$/.test(plain)) return float(Number(plain));
  const special = /^([+-]?)(inf|infinity|nan)$/i.exec(trimmed);
  if (special === null) return undefined;
  const size = special[2].toLowerCase() === "nan" ? NaN : Infinity;
  return float(special[1] === "-" ? -size : size);
}

/**
 * `text` without the characters at its end that are in `characters`, as Python's `rstrip(characters)`. In
 * as many steps as it has characters: `/\/+$/` looks at each run of slashes from each of its characters, which takes
 * hours for a million of them and a letter.
 */
export function rstripChars(text: string, characters: string): string {
  let end = text.length;
  while (end > 0 && characters.includes(text[end - 1])) end--;
  return text.slice(0, end);
}

/** A path without the slashes at its end; of `/` and `//` one slash stays. */
export function withoutEndSlashes(path: string): string {
  return path.slice(0, 1) + rstripChars(path.slice(1), "/");
}

/** `text` without the characters at both ends that are in `characters`, as Python's `strip(characters)`. */
export function stripChars(text: string, characters: string): string {
  const end = rstripChars(text, characters);
  let start = 0;
  while (start < end.length && characters.includes(end[start])) start++;
  return end.slice(start);
}
