/**
 * The two outputters for people: `nested`, the default, and `no_return`, for minions that did not return. Text, order
 * and colours are Salt's. Differences: control characters in keys and values become visible (Salt replaces ESC by `?`
 * in values only), and a key stays on its line.
 * @module
 */

import { mapOf } from "#lib/values/dict.ts";
import { ValueSet } from "#lib/values/tuple.ts";
import { strictUtf8 } from "#lib/text/strict_utf8.ts";
import { splitLines } from "#lib/text/split_lines.ts";
import { colours, sanitize, sanitizeLine } from "#lib/text/terminal.ts";
import { compare, isFloat, repr, str, typeName, type Value, type ValueMap } from "#lib/values/value.ts";

/** Options of {@linkcode formatNested}. */
export interface NestedOptions {
  /** Whether to print in Salt's colours. */
  readonly color: boolean;
  /** The return's retcode: anything but 0 turns keys and rules red. */
  readonly retcode?: number;
  /** Whether texts of a failed return are red too, as an error is one of them; in Salt they are green. */
  readonly redFailures?: boolean;
  /** Columns to the left of everything; a map that is indented opens with a rule. */
  readonly nestedIndent?: number;
}

/** Formats `data` as Salt's `nested` outputter does, without a final newline. */
export function formatNested(data: Value, options: NestedOptions): string {
  const color = colours(options.color);
  const failed = (options.retcode ?? 0) !== 0;
  const keyColour = failed ? color.RED : color.CYAN;
  const listColour = failed ? color.RED : color.GREEN;
  const textColour = failed && options.redFailures ? color.RED : color.GREEN;
  const lines = new Lines();
  const keys = new SortedKeys();

  function add(indent: number, start: string, text: string, suffix = ""): void {
    lines.add(margin(indent) + start + text + color.ENDC + suffix);
  }

  function show(value: Value, indent: number, prefix: string): void {
    if (value instanceof Uint8Array) {
      const text = strictUtf8(value);
      // Salt prints nothing for bytes that are not text.
      if (text !== undefined) showText(text, indent, prefix);
    } else if (typeof value === "string") {
      showText(value, indent, prefix);
    } else if (value instanceof ValueSet) {
      // Salt shows nothing of a set.
    } else if (Array.isArray(value)) {
      for (const item of value) {
        if (!Array.isArray(item) && !(item instanceof Map) || item instanceof ValueSet) {
          show(item, indent, "- ");
          continue;
        }
        add(indent, listColour, "|_");
        show(item, indent + 2, item instanceof Map ? "" : "- ");
      }
    } else if (value instanceof Map) {
      if (indent > 0) add(indent, keyColour, "----------");
      const sorted = comparable(value);
      for (const key of keys.of(sorted)) {
        const text = str(key);
        add(indent, keyColour, prefix + (PLAIN.test(text) ? text : sanitizeLine(text)), ":");
        show(sorted.get(key) ?? null, indent + 4, "");
      }
    } else {
      add(indent, color.LIGHT_YELLOW, prefix + repr(value));
    }
  }

  function showText(text: string, indent: number, prefix: string): void {
    if (PLAIN.test(text)) return add(indent, textColour, prefix + text);
    let start = prefix;
    for (const line of splitLines(text)) {
      add(indent, textColour, start + sanitize(line));
      start = " ".repeat(prefix.length);
    }
  }

  show(data, options.nestedIndent ?? 0, "");
  return lines.text();
}

/** A line without control characters: most texts. */
const PLAIN = /^[ -~]+$/;

const margins: string[] = [];

/** Spaces for an indentation; cached for usual depths. */
function margin(indent: number): string {
  return indent < 64 ? margins[indent] ??= " ".repeat(indent) : " ".repeat(indent);
}

/**
 * Joins lines in small groups: with a hundred thousand lines in one array, the garbage collector would copy them
 * repeatedly.
 */
class Lines {
  readonly #parts: string[] = [];
  #lines: string[] = [];

  add(line: string): void {
    if (this.#lines.push(line) === 512) this.#join();
  }

  #join(): void {
    this.#parts.push(this.#lines.join("\n"));
    this.#lines = [];
  }

  /** All lines, without a final newline. */
  text(): string {
    if (this.#lines.length > 0) this.#join();
    return this.#parts.join("\n");
  }
}

/** `map`, or, if Python cannot compare its keys, a copy with the keys as text: Salt sorts it that way. */
function comparable(map: ValueMap): ValueMap {
  return mixedKeys(map) ? mapOf([...map].map(([key, item]): [Value, Value] => [str(key), item])) : map;
}

/** The sorted keys of {@linkcode comparable} maps. */
class SortedKeys {
  #keys: readonly Value[] = [];
  #sorted: readonly Value[] = [];

  of(map: ValueMap): readonly Value[] {
    const keys = [...map.keys()];
    // Cached: ten thousand jobs have the same headings.
    if (keys.length !== this.#keys.length || keys.some((key, i) => key !== this.#keys[i])) {
      this.#keys = keys;
      this.#sorted = keys.toSorted(compare);
    }
    return this.#sorted;
  }
}

/** Whether Python cannot compare some keys of `map` with each other. */
function mixedKeys(map: ValueMap): boolean {
  let first: string | undefined;
  for (const key of map.keys()) {
    const kind = typeof key === "boolean" || isFloat(key) ? "int" : typeName(key);
    if (kind !== (first ??= kind)) return true;
  }
  return false;
}

/**
 * Formats `data`, a map of minion ids to messages, as Salt's `no_return` outputter does: ids in cyan, messages in red.
 * Values that are neither text nor maps are left out.
 * @returns The text without a final newline, or `undefined` if the keys have several types, which ids do not.
 */
export function formatNoReturn(data: Value, options: { readonly color: boolean }): string | undefined {
  if (data instanceof Map && mixedKeys(data)) return undefined;
  const color = colours(options.color);
  const lines = new Lines();
  const keys = new SortedKeys();

  function show(value: Value, indent: number): void {
    if (typeof value === "string") {
      for (const line of value.split("\n")) lines.add(`${color.RED}${margin(indent)}${sanitize(line)}${color.ENDC}`);
    } else if (value instanceof Map) {
      const sorted = comparable(value);
      for (const key of keys.of(sorted)) {
        lines.add(`${color.CYAN}${margin(indent)}${sanitizeLine(str(key))}${color.ENDC}:`);
        show(sorted.get(key) ?? null, indent + 4);
      }
    }
  }

  show(data, 0);
  return lines.text();
}
