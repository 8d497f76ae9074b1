/**
 * Python's `pprint.pformat`: values as Python writes them, wrapped to a width, maps sorted by key.
 * Source: docs.python.org, "pprint" (Python 3.11).
 * @module
 */

import { LINE_ENDS, SPACE } from "./python_text.ts";
import { mapOf } from "./dict.ts";
import { compare, repr, type Value, type ValueMap } from "./value.ts";

/** Where a value stands on its line, in characters. */
interface Place {
  /** The column that the value starts at; what it wraps to. */
  readonly indent: number;
  /** How much must be left free for the brackets and the comma behind the value. */
  readonly allowance: number;
  /** Whether nothing is around the value: a string there is put in parentheses when it wraps. */
  readonly top: boolean;
}

/** How the lines are laid out. */
interface Layout {
  readonly width: number;
  readonly perLevel: number;
}

/**
 * `value` as `pprint.pformat(value, width=width, indent=options.indent)` writes it, without a final line end.
 * @param width How many characters a line should have at most; a single word may be longer.
 * @param options.indent How many characters each level is indented, 1 as Python's default.
 */
export function pformat(value: Value, width = 80, options: { readonly indent?: number } = {}): string {
  const layout = { width, perLevel: options.indent ?? 1 };
  return format(value, { indent: 0, allowance: 0, top: true }, layout);
}

function format(value: Value, place: Place, layout: Layout): string {
  const room = layout.width - place.indent - place.allowance;
  const line = mayFit(value, room) ? repr(sorted(value)) : undefined;
  if (line !== undefined && length(line) <= room) return line;
  if (typeof value === "string" && value !== "") return formatText(value, place, layout);
  if (value instanceof Uint8Array) return formatBytes(value, place, layout);
  if (Array.isArray(value)) return formatList(value, place, layout);
  if (value instanceof Map) return formatMap(value, place, layout);
  return line ?? repr(value);
}

/**
 * Whether the line that `value` makes may have no more than `room` characters, as far as can be told without writing it:
 * what is deep inside would else be written once for every list and map around it.
 */
function mayFit(value: Value, room: number): boolean {
  let left = room;
  const count = (item: Value): boolean => {
    // Brackets or quotes; a character beyond UTF-16's first 65,536 has two units.
    if (typeof item === "string") left -= item.length / 2 + 2;
    else left -= item instanceof Uint8Array ? item.length + 3 : Array.isArray(item) || item instanceof Map ? 2 : 1;
    if (left < 0) return false;
    if (Array.isArray(item)) return item.every(count);
    if (!(item instanceof Map)) return true;
    for (const [key, inner] of item) if (!count(key) || !count(inner)) return false;
    return true;
  };
  return count(value);
}

function formatList(list: Value[], place: Place, layout: Layout): string {
  const indent = place.indent + layout.perLevel;
  const items = list.map((item, i) =>
    format(item, { indent, allowance: i === list.length - 1 ? place.allowance + 1 : 1, top: false }, layout)
  );
  return `[${" ".repeat(Math.max(layout.perLevel - 1, 0))}${items.join(separator(indent))}]`;
}

function formatMap(map: ValueMap, place: Place, layout: Layout): string {
  const indent = place.indent + layout.perLevel;
  const items = sortedEntries(map).map(([key, item], i) => {
    const name = `${repr(sorted(key))}: `;
    const allowance = i === map.size - 1 ? place.allowance + 1 : 1;
    return name + format(item, { indent: indent + length(name), allowance, top: false }, layout);
  });
  return `{${" ".repeat(Math.max(layout.perLevel - 1, 0))}${items.join(separator(indent))}}`;
}

function separator(indent: number): string {
  return `,\n${" ".repeat(indent)}`;
}

const LINE = new RegExp(`(?:\r\n|[^${LINE_ENDS}])*?(?:\r\n|[${LINE_ENDS}]|$)`, "g");
const WORD = new RegExp(`[^${SPACE}]*[${SPACE}]*`, "gu");

/** A text is cut behind its line ends, and where a line is still too long, behind its blanks. */
function formatText(text: string, place: Place, layout: Layout): string {
  const indent = place.top ? place.indent + 1 : place.indent;
  const allowance = place.top ? place.allowance + 1 : place.allowance;
  const width = layout.width - indent;
  const lines = parts(text, LINE);
  const chunks: string[] = [];
  lines.forEach((line, i) => {
    const lastLine = i === lines.length - 1;
    if (length(repr(line)) <= width - (lastLine ? allowance : 0)) {
      chunks.push(repr(line));
      return;
    }
    const words = parts(line, WORD);
    let current = "";
    words.forEach((word, j) => {
      const room = width - (lastLine && j === words.length - 1 ? allowance : 0);
      if (length(repr(current + word)) <= room) current += word;
      else {
        if (current !== "") chunks.push(repr(current));
        current = word;
      }
    });
    if (current !== "") chunks.push(repr(current));
  });
  if (chunks.length === 1) return chunks[0];
  const joined = chunks.join(`\n${" ".repeat(indent)}`);
  return place.top ? `(${joined})` : joined;
}

function parts(text: string, pattern: RegExp): string[] {
  return (text.match(pattern) ?? []).filter((part) => part !== "");
}

/** Bytes are cut behind every fourth at most. */
function formatBytes(bytes: Uint8Array, place: Place, layout: Layout): string {
  if (bytes.length <= 4) return repr(bytes);
  const indent = place.top ? place.indent + 1 : place.indent;
  const allowance = place.top ? place.allowance + 1 : place.allowance;
  const lastPart = Math.floor(bytes.length / 4) * 4;
  let width = layout.width - indent;
  const chunks: string[] = [];
  let start = 0;
  for (let i = 0; i < bytes.length; i += 4) {
    if (i === lastPart) width -= allowance;
    if (repr(bytes.subarray(start, i + 4)).length > width) {
      if (i > start) chunks.push(repr(bytes.subarray(start, i)));
      start = i;
    }
  }
  chunks.push(repr(bytes.subarray(start)));
  const joined = chunks.join(`\n${" ".repeat(indent)}`);
  return place.top ? `(${joined})` : joined;
}

/** `value` with every map in it sorted by key. */
function sorted(value: Value): Value {
  if (Array.isArray(value)) return value.map(sorted);
  if (value instanceof Map) return mapOf(sortedEntries(value).map(([key, item]) => [key, sorted(item)]));
  return value;
}

function sortedEntries(map: ValueMap): [Value, Value][] {
  return [...map].sort(([a], [b]) => compare(a, b));
}

/** Characters as Python counts them. */
function length(text: string): number {
  let count = text.length;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code >= 0xd800 && code < 0xdc00) count--;
  }
  return count;
}
