/**
 * JSON as Python's `json` writes and reads it: the order of keys kept, `1.0` told from `1`, ints of any size, `NaN`.
 * Knows nothing of terminals or outputters.
 * Source: docs.python.org, "json"; Salt's output/json_out.py for what is no JSON (bytes).
 * @module
 */

import { JsonError } from "../errors.ts";
import { compare, Float, float, floatRepr, int, isFloat, repr, type Value, type ValueMap } from "./value.ts";

/** How {@linkcode dumpJson} writes; the defaults are Python's. */
export interface JsonOptions {
  /** Spaces per level, each entry on a line of its own; without it all is on one line. Salt's outputter passes 4. */
  readonly indent?: number;
  /** Whether maps are sorted by key; keys keep their order otherwise. */
  readonly sortKeys?: boolean;
  /** Whether everything beyond ASCII is escaped, true as in Python; Salt always passes false. */
  readonly ensureAscii?: boolean;
}

/** How deep lists and maps may be nested in what is read. */
const MAX_DEPTH = 512;
/** As many digits as Python reads of an int. */
const MAX_DIGITS = 4300;

/**
 * `value` as `json.dumps(value, default=repr, …)` writes it. Bytes become the string of their `repr`; a key that is no
 * string is written as one, as Python does, and bytes as a key as well, where Python gives up.
 */
export function dumpJson(value: Value, options: JsonOptions = {}): string {
  return write(value, options, "\n");
}

/** @param newline A line end and the indentation of the line that `value` starts on. */
function write(value: Value, options: JsonOptions, newline: string): string {
  if (value === null) return "null";
  if (typeof value === "boolean") return String(value);
  if (typeof value === "string") return quote(value, options);
  if (value instanceof Uint8Array) return quote(repr(value), options);
  if (!Array.isArray(value) && !(value instanceof Map)) return numberText(value);
  const inner = newline + " ".repeat(options.indent ?? 0);
  const [open, close] = Array.isArray(value) ? "[]" : "{}";
  const items = Array.isArray(value)
    ? value.map((item) => write(item, options, inner))
    : entries(value, options).map(([key, item]) => `${quote(keyText(key), options)}: ${write(item, options, inner)}`);
  if (items.length === 0 || options.indent === undefined) return open + items.join(", ") + close;
  return open + inner + items.join("," + inner) + newline + close;
}

function entries(map: ValueMap, options: JsonOptions): [Value, Value][] {
  const list = [...map];
  return options.sortKeys ? list.sort(([a], [b]) => compare(a, b)) : list;
}

function numberText(value: number | bigint | Float): string {
  if (!isFloat(value)) return repr(value);
  const n = value instanceof Float ? value.value : value;
  return Number.isFinite(n) ? floatRepr(n) : String(n);
}

function keyText(key: Value): string {
  if (typeof key === "string") return key;
  if (key === null || typeof key === "boolean") return String(key);
  return typeof key === "object" && !(key instanceof Float) ? repr(key) : numberText(key);
}

/** JavaScript escapes what Python does; but Python leaves a lone surrogate as it is, which no terminal can show. */
function quote(text: string, options: JsonOptions): string {
  const quoted = JSON.stringify(text);
  if (options.ensureAscii === false) return quoted;
  return quoted.replace(/[\x7f-\uffff]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

/**
 * The value of the JSON `text`, as `json.loads` reads it: `NaN` and `Infinity` are numbers, a number with a fraction or
 * an exponent is a float, and of two equal keys the last counts.
 * @throws {JsonError} That says where, for anything else, and for what is nested deeper than 512.
 */
export function parseJson(text: string): Value {
  const reader = new Reader(text);
  const value = reader.read(MAX_DEPTH);
  reader.end();
  return value;
}

const BLANK = /[ \t\n\r]*/y;
const WORD = /null|true|false|NaN|-?Infinity/y;
const NUMBER = /(-?(?:0|[1-9][0-9]*))(\.[0-9]+)?([eE][-+]?[0-9]+)?/y;
const WORDS = new Map<string, Value>([
  ["null", null],
  ["true", true],
  ["false", false],
  ["NaN", NaN],
  ["Infinity", Infinity],
  ["-Infinity", -Infinity],
]);

class Reader {
  #position = 0;

  constructor(readonly text: string) {}

  /** Moves past `pattern`, should it match here. */
  #match(pattern: RegExp): RegExpExecArray | null {
    pattern.lastIndex = this.#position;
    const match = pattern.exec(this.text);
    if (match !== null) this.#position = pattern.lastIndex;
    return match;
  }

  /** Moves past blanks, then past `char`, should it come next. */
  #skip(char: string): boolean {
    this.#match(BLANK);
    if (this.text[this.#position] !== char) return false;
    this.#position++;
    return true;
  }

  #expect(char: string): void {
    if (!this.#skip(char)) this.#fail(`"${char}" expected`);
  }

  #fail(problem: string): never {
    const before = this.text.slice(0, this.#position).split("\n");
    throw new JsonError(`${problem} at line ${before.length}, column ${(before.at(-1) ?? "").length + 1}`);
  }

  /** Refuses everything but blanks behind the value. */
  end(): void {
    this.#match(BLANK);
    if (this.#position < this.text.length) this.#fail("The end expected");
  }

  read(depth: number): Value {
    if (depth < 0) this.#fail("Nested too deep");
    if (this.#skip("{")) return this.#readMap(depth);
    if (this.#skip("[")) return this.#readList(depth);
    if (this.text[this.#position] === '"') return this.#readText();
    const word = this.#match(WORD);
    if (word !== null) return WORDS.get(word[0]) ?? null;
    return this.#readNumber();
  }

  #readList(depth: number): Value[] {
    const list: Value[] = [];
    if (this.#skip("]")) return list;
    do list.push(this.read(depth - 1)); while (this.#skip(","));
    this.#expect("]");
    return list;
  }

  #readMap(depth: number): ValueMap {
    const map: ValueMap = new Map();
    if (this.#skip("}")) return map;
    do {
      this.#match(BLANK);
      const key = this.#readText();
      this.#expect(":");
      map.set(key, this.read(depth - 1));
    } while (this.#skip(","));
    this.#expect("}");
    return map;
  }

  #readText(): string {
    const start = this.#position;
    if (this.text[start] !== '"') this.#fail("A string expected");
    let end = start + 1;
    for (; this.text[end] !== '"'; end++) {
      if (end >= this.text.length) this.#fail("No end of the string");
      if (this.text[end] === "\\") end++;
    }
    try {
      const text = String(JSON.parse(this.text.slice(start, end + 1)));
      this.#position = end + 1;
      return text;
    } catch {
      return this.#fail("A control character or an unknown escape in the string");
    }
  }

  #readNumber(): Value {
    const match = this.#match(NUMBER);
    if (match === null) this.#fail("A value expected");
    const [all, whole, fraction, exponent] = match;
    if (fraction !== undefined || exponent !== undefined) return float(Number(all));
    if (whole.length > MAX_DIGITS) this.#fail(`An int of no more than ${MAX_DIGITS} digits expected`);
    return int(BigInt(whole));
  }
}
