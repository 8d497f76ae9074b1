/**
 * Upper and lower case, and tests for kinds of characters, as in Python's str.
 * Source: docs.python.org, "Text Sequence Type".
 * @module
 */

import { SPACE } from "#lib/values/python_text.ts";

const CASED = /[\p{Lu}\p{Ll}\p{Lt}\p{Uppercase}\p{Lowercase}]/u;
const UPPER = /[\p{Lu}\p{Uppercase}]/u;
const LOWER = /[\p{Ll}\p{Lowercase}]/u;
const TITLE = /\p{Lt}/u;

/** Title case of one character: a digraph has its own title case. */
const TITLE_OF: ReadonlyMap<string, string> = new Map(
  [["ǆǅǄ", "ǅ"], ["ǉǈǇ", "ǈ"], ["ǌǋǊ", "ǋ"], ["ǳǲǱ", "ǲ"]].flatMap(([chars, title]) =>
    [...chars].map((char): [string, string] => [char, title])
  ),
);

function titleChar(char: string): string {
  const special = TITLE_OF.get(char);
  if (special !== undefined) return special;
  const upper = char.toUpperCase();
  return upper.length > char.length ? upper[0] + upper.slice(1).toLowerCase() : upper;
}

/** `str.capitalize()` */
export function capitalize(text: string): string {
  const [first = "", ...rest] = text;
  return titleChar(first) + rest.join("").toLowerCase();
}

/** Python's `text[:1].upper() + text[1:].lower()`. */
export function upperFirst(text: string): string {
  const [first = "", ...rest] = text;
  return first.toUpperCase() + rest.join("").toLowerCase();
}

/** `str.title()` */
export function title(text: string): string {
  let out = "";
  let inWord = false;
  for (const char of text) {
    out += inWord ? char.toLowerCase() : titleChar(char);
    inWord = CASED.test(char);
  }
  return out;
}

/** `str.swapcase()` */
export function swapCase(text: string): string {
  let out = "";
  for (const char of text) out += UPPER.test(char) ? char.toLowerCase() : LOWER.test(char) ? char.toUpperCase() : char;
  return out;
}

/** `str.islower()` */
export function isLower(text: string): boolean {
  return LOWER.test(text) && !UPPER.test(text) && !TITLE.test(text);
}

/** `str.isupper()` */
export function isUpper(text: string): boolean {
  return UPPER.test(text) && !LOWER.test(text) && !TITLE.test(text);
}

/** `str.istitle()` */
export function isTitle(text: string): boolean {
  let any = false;
  let inWord = false;
  for (const char of text) {
    const starts = UPPER.test(char) || TITLE.test(char);
    if ((starts && inWord) || (LOWER.test(char) && !inWord)) return false;
    inWord = CASED.test(char);
    any ||= inWord;
  }
  return any;
}

/** Whether `text` is not empty and has only characters of a kind. */
export function isAll(text: string, kind: CharKind): boolean {
  return KINDS[kind].test(text);
}

/** The kinds of {@linkcode isAll}. */
export type CharKind =
  | "alnum"
  | "alpha"
  | "ascii"
  | "decimal"
  | "digit"
  | "identifier"
  | "numeric"
  | "printable"
  | "space";

const SUPERSCRIPTS =
  "\u00b2\u00b3\u00b9\u1369-\u1371\u19da\u2070\u2074-\u2079\u2080-\u2089\u2460-\u2468\u2474-\u247c\u2488-\u2490" +
  "\u24ea\u24f5-\u24fd\u24ff\u2776-\u277e\u2780-\u2788\u278a-\u2792";

const KINDS: Readonly<Record<CharKind, RegExp>> = {
  alnum: /^[\p{L}\p{N}]+$/u,
  alpha: /^\p{L}+$/u,
  ascii: /^[^\x80-\u{10ffff}]*$/u,
  decimal: /^\p{Nd}+$/u,
  digit: new RegExp(`^[\\p{Nd}${SUPERSCRIPTS}]+$`, "u"),
  identifier: /^[\p{XID_Start}_][\p{XID_Continue}]*$/u,
  numeric: /^\p{N}+$/u,
  printable: /^(?: |[^\p{C}\p{Z}])*$/u,
  space: new RegExp(`^[${SPACE}]+$`),
};
