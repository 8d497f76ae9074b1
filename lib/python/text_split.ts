/**
 * Splits and strips texts like Python's split, strip and splitlines.
 * Source: docs.python.org, "Text Sequence Type".
 * @module
 */

import { findLastText, splitAtText } from "./find_text.ts";
import { LINE_ENDS, SPACE, strip as stripSpace } from "#lib/values/python_text.ts";
import { pythonError } from "./errors.ts";

const IS_SPACE = new RegExp(`[${SPACE}]`);
const LINE = new RegExp(`(?:\r\n|[^${LINE_ENDS}])*?(?:\r\n|[${LINE_ENDS}])|[^${LINE_ENDS}]+$`, "g");
const LINE_END = new RegExp(`(?:\r\n|[${LINE_ENDS}])$`);

/** `str.splitlines()` */
export function splitLinesKeeping(text: string, keep: boolean): string[] {
  const lines = text.match(LINE) ?? [];
  return keep ? [...lines] : lines.map((line) => line.replace(LINE_END, ""));
}

/** The ends that {@linkcode stripText} strips. */
export type Ends = "both" | "left" | "right";

/**
 * `str.strip(chars)`, `lstrip`, `rstrip`.
 * @param chars Default: white space.
 */
export function stripText(text: string, ends: Ends, chars?: string): string {
  if (chars === undefined && ends === "both") return stripSpace(text);
  const set = chars === undefined ? undefined : new Set(chars);
  const cuts = (char: string): boolean => set === undefined ? IS_SPACE.test(char) : set.has(char);
  // A set of code points is compared with whole code points.
  const units = [...text];
  let start = 0, end = units.length;
  if (ends !== "right") { while (start < end && cuts(units[start])) start++; }
  if (ends !== "left") { while (end > start && cuts(units[end - 1])) end--; }
  return units.slice(start, end).join("");
}

/**
 * `str.split(separator, max)`; without a separator at runs of white space.
 * @param max -1: as often as possible.
 */
export function splitText(text: string, separator: string | undefined, max: number): string[] {
  if (separator === undefined) return splitBlanks(text, max);
  if (separator === "") throw pythonError("ValueError", "empty separator");
  return splitAtText(text, separator, max < 0 ? Infinity : max);
}

function splitBlanks(text: string, max: number): string[] {
  const parts: string[] = [];
  let at = 0;
  while (true) {
    while (at < text.length && IS_SPACE.test(text[at])) at++;
    if (at >= text.length) return parts;
    if (max >= 0 && parts.length >= max) return [...parts, text.slice(at)];
    let end = at;
    while (end < text.length && !IS_SPACE.test(text[end])) end++;
    parts.push(text.slice(at, end));
    at = end;
  }
}

/** `str.rsplit(separator, max)` */
export function splitRight(text: string, separator: string | undefined, max: number): string[] {
  if (max < 0) return splitText(text, separator, max);
  const parts: string[] = [];
  if (separator === "") throw pythonError("ValueError", "empty separator");
  let end = text.length;
  if (separator === undefined) {
    while (true) {
      while (end > 0 && IS_SPACE.test(text[end - 1])) end--;
      if (end === 0) return parts.reverse();
      if (parts.length >= max) return [...parts, text.slice(0, end)].reverse();
      let start = end;
      while (start > 0 && !IS_SPACE.test(text[start - 1])) start--;
      parts.push(text.slice(start, end));
      end = start;
    }
  }
  while (parts.length < max) {
    const separatorAt = end < separator.length ? -1 : findLastText(text, separator, end - separator.length);
    if (separatorAt < 0) break;
    parts.push(text.slice(separatorAt + separator.length, end));
    end = separatorAt;
  }
  return [...parts, text.slice(0, end)].reverse();
}

/** `str.expandtabs(size)` */
export function expandTabs(text: string, size: number): string {
  let column = 0;
  let out = "";
  for (const char of text) {
    if (char === "\t") {
      const blanks = size > 0 ? size - column % size : 0;
      out += " ".repeat(blanks);
      column += blanks;
    } else {
      out += char;
      column = char === "\n" || char === "\r" ? 0 : column + 1;
    }
  }
  return out;
}
