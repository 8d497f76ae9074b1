/**
 * Python's `pprint.pformat`: values as Python writes them, wrapped to a width, with maps sorted by key.
 * Source: docs.python.org, "pprint" (Python 3.11).
 * @module
 */

import { LINE_ENDS, SPACE } from "./python_text.ts";
import { mapOf } from "./dict.ts";
import { sequenceLike, Tuple, ValueSet } from "./tuple.ts";
import { compare, repr, type Value, type ValueMap } from "./value.ts";

/** The position of a value on its line, in characters. */
interface Place {
  /** The column at which the value starts; its wrapped lines start there too. */
  readonly indent: number;
  /** Space to leave for the brackets and the comma after the value. */
  readonly allowance: number;
  /** Whether the value is the outermost one: a string there gets parentheses when it is wrapped. */
  readonly top: boolean;
}

/** Options for the whole text. */
interface Layout {
  readonly width: number;
  readonly perLevel: number;
}

/**
 * Writes `value` as `pprint.pformat(value, width=width, indent=options.indent)` does, without a final newline.
 * @param width Maximum characters of a line; a single word may be longer.
 * @param options.indent Characters per level; Python's default is 1.
 */
export function pformat(value: Value, width = 80, options: { readonly indent?: number } = {}): string {
  const layout = { width, perLevel: options.indent ?? 1 };
  return format(value, { indent: 0, allowance: 0, top: true }, layout);
}

function format(value: Value, place: Place, layout: Layout): string {
  const room = layout.width - place.indent - place.allowance;
  const line = mayFit(value, room) ? repr(sortKeys(value)) : undefined;
  if (line !== undefined && length(line) <= room) return line;
  if (typeof value === "string" && value !== "") return formatText(value, place, layout);
  if (value instanceof Uint8Array) return formatBytes(value, place, layout);
  if (Array.isArray(value)) return formatList(value, place, layout);
  if (value instanceof Map) return formatMap(value, place, layout);
  return line ?? repr(value);
}

/**
 * Whether the line of `value` may fit into `room` characters, estimated without writing it. Otherwise deeply nested
 * values would be written once for every list and map around them.
 */
function mayFit(value: Value, room: number): boolean {
  let left = room;
  const count = (item: Value): boolean => {
    // Two for brackets or quotes. A character beyond UTF-16's first 65,536 has two units, hence the half.
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
  const [begin, end] = bracketsOf(list);
  // Python sorts a set where it takes several lines.
  const ordered = list instanceof ValueSet ? [...list].sort(compare) : list;
  const items = ordered.map((item, i) =>
    format(item, { indent, allowance: i === list.length - 1 ? place.allowance + end.length : 1, top: false }, layout)
  );
  return `${begin}${" ".repeat(Math.max(layout.perLevel - 1, 0))}${items.join(separator(indent))}${end}`;
}

function bracketsOf(list: readonly Value[]): readonly [begin: string, end: string] {
  if (list instanceof Tuple) return ["(", list.length === 1 ? ",)" : ")"];
  return list instanceof ValueSet ? ["{", "}"] : ["[", "]"];
}

function formatMap(map: ValueMap, place: Place, layout: Layout): string {
  const indent = place.indent + layout.perLevel;
  const items = sortedEntries(map).map(([key, item], i) => {
    const name = `${repr(sortKeys(key))}: `;
    const allowance = i === map.size - 1 ? place.allowance + 1 : 1;
    return name + format(item, { indent: indent + length(name), allowance, top: false }, layout);
  });
  return `{${" ".repeat(Math.max(layout.perLevel - 1, 0))}${items.join(separator(indent))}}`;
}

function separator(indent: number): string {
  return `,\n${" ".repeat(indent)}`;
}

const LINE = new RegExp(`[^${LINE_ENDS}]*(?:\r\n|[${LINE_ENDS}]|$)`, "g");
const WORD = new RegExp(`[^${SPACE}]*[${SPACE}]*`, "gu");

/** Cuts a text after its line ends, and a line that is still too long after blanks. */
function formatText(text: string, place: Place, layout: Layout): string {
  const indent = place.top ? place.indent + 1 : place.indent;
  const allowance = place.top ? place.allowance + 1 : place.allowance;
  const width = layout.width - indent;
  const lines = parts(text, LINE);
  const chunks: string[] = [];
  lines.forEach((line, i) => {
    const lastLine = i === lines.length - 1;
    if (textFits(line, width - (lastLine ? allowance : 0))) {
      chunks.push(repr(line));
      return;
    }
    const words = parts(line, WORD);
    let current = "";
    words.forEach((word, j) => {
      const room = width - (lastLine && j === words.length - 1 ? allowance : 0);
      if (textFits(current + word, room)) current += word;
      else {
        if (current !== "") chunks.push(repr(current));
        current = word;
      }
    });
    if (current !== "") chunks.push(repr(current));
  });
  if (chunks.length === 1) return chunks[0];
  const body = chunks.join(`\n${" ".repeat(indent)}`);
  return place.top ? `(${body})` : body;
}

/** Whether the line of a text fits into `room` characters. A text of megabytes is not written to find out. */
function textFits(text: string, room: number): boolean {
  return mayFit(text, room) && length(repr(text)) <= room;
}

function parts(text: string, pattern: RegExp): string[] {
  return (text.match(pattern) ?? []).filter((part) => part !== "");
}

/** Cuts bytes after every fourth byte at most. */
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
  const body = chunks.join(`\n${" ".repeat(indent)}`);
  return place.top ? `(${body})` : body;
}

/** A copy of `value` with every map sorted by key. */
function sortKeys(value: Value): Value {
  if (Array.isArray(value)) return sequenceLike(value, value.map(sortKeys));
  if (value instanceof Map) return mapOf(sortedEntries(value).map(([key, item]) => [key, sortKeys(item)]));
  return value;
}

function sortedEntries(map: ValueMap): [Value, Value][] {
  return [...map].sort(([a], [b]) => compare(a, b));
}

/** Number of characters as Python counts them (code points). */
function length(text: string): number {
  let count = text.length;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code >= 0xd800 && code < 0xdc00) count--;
  }
  return count;
}
