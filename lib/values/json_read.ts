/**
 * Reading JSON as Python's `json.loads` does: the order of keys kept, ints and floats distinguished, `NaN` and
 * `Infinity` read. If a key occurs twice, the last value is used. Source: docs.python.org, "json"; RFC 8259.
 * @module
 */

import { JsonError } from "#lib/errors.ts";
import { mapOf } from "./dict.ts";
import { float, int, type Value } from "./value.ts";

/** Deeper values are refused. */
const DEEPEST = 500;
/** As many digits as Python reads of an int: the time that they take grows with their square. */
const MAX_DIGITS = 4300;

/**
 * The value that `text` holds.
 * @throws {JsonError} With Python's words, if it is not JSON.
 */
export function parseJson(text: string): Value {
  return new JsonReader(text).document();
}

const NUMBER = /-?(?:0|[1-9]\d*)(\.\d+)?([eE][-+]?\d+)?/y;
const BLANKS = /[ \t\n\r]*/y;
/** The part of a string up to its next quote, escape or control character. */
// deno-lint-ignore no-control-regex
const PLAIN = /[^"\\\x00-\x1f]*/y;

const WORDS: readonly (readonly [string, Value])[] = [
  ["null", null],
  ["true", true],
  ["false", false],
  ["NaN", NaN],
  ["Infinity", Infinity],
  ["-Infinity", -Infinity],
];

const ESCAPES: Readonly<Record<string, string>> = {
  '"': '"',
  "\\": "\\",
  "/": "/",
  b: "\b",
  f: "\f",
  n: "\n",
  r: "\r",
  t: "\t",
};

class JsonReader {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  document(): Value {
    if (this.#text.startsWith("\ufeff")) throw this.#error("Unexpected UTF-8 BOM (decode using utf-8-sig)");
    this.#blanks();
    const value = this.#value(0);
    this.#blanks();
    if (this.#at < this.#text.length) throw this.#error("Extra data");
    return value;
  }

  #value(depth: number): Value {
    const char = this.#text[this.#at];
    if (char === '"') return this.#string();
    if (char === "{" || char === "[") {
      if (depth >= DEEPEST) throw this.#error(`nested deeper than ${DEEPEST} levels`);
      return char === "{" ? this.#object(depth + 1) : this.#array(depth + 1);
    }
    for (const [word, value] of WORDS) {
      if (!this.#text.startsWith(word, this.#at)) continue;
      this.#at += word.length;
      return value;
    }
    return this.#number();
  }

  #number(): Value {
    const match = this.#match(NUMBER);
    if (match === null) throw this.#error("Expecting value");
    const [text, fraction, exponent] = match;
    if (fraction !== undefined || exponent !== undefined) return float(Number(text));
    const digits = text.startsWith("-") ? text.length - 1 : text.length;
    if (digits > MAX_DIGITS) {
      throw this.#error(
        `Exceeds the limit (${MAX_DIGITS} digits) for integer string conversion: value has ${digits} digits`,
      );
    }
    return int(BigInt(text));
  }

  #array(depth: number): Value {
    const items: Value[] = [];
    this.#at++;
    this.#blanks();
    if (this.#take("]")) return items;
    while (true) {
      items.push(this.#value(depth));
      this.#blanks();
      if (this.#take("]")) return items;
      if (!this.#take(",")) throw this.#error("Expecting ',' delimiter");
      this.#blanks();
    }
  }

  #object(depth: number): Value {
    const entries: [Value, Value][] = [];
    this.#at++;
    this.#blanks();
    if (this.#take("}")) return new Map();
    while (true) {
      if (this.#text[this.#at] !== '"') throw this.#error("Expecting property name enclosed in double quotes");
      const key = this.#string();
      this.#blanks();
      if (!this.#take(":")) throw this.#error("Expecting ':' delimiter");
      this.#blanks();
      entries.push([key, this.#value(depth)]);
      this.#blanks();
      if (this.#take("}")) return mapOf(entries);
      if (!this.#take(",")) throw this.#error("Expecting ',' delimiter");
      this.#blanks();
    }
  }

  #string(): string {
    const begin = this.#at++;
    let out = "";
    while (true) {
      out += this.#match(PLAIN)?.[0] ?? "";
      const char = this.#text[this.#at];
      if (char === undefined) throw this.#error("Unterminated string starting at", begin);
      if (char !== '"' && char !== "\\") throw this.#error("Invalid control character at");
      this.#at++;
      if (char === '"') return out;
      out += this.#escape(begin);
    }
  }

  #escape(begin: number): string {
    const char = this.#text[this.#at];
    if (char === undefined) throw this.#error("Unterminated string starting at", begin);
    if (char === "u") {
      const digits = this.#text.slice(this.#at + 1, this.#at + 5);
      if (!/^[0-9a-fA-F]{4}$/.test(digits)) throw this.#error("Invalid \\uXXXX escape");
      this.#at += 5;
      return String.fromCharCode(parseInt(digits, 16));
    }
    if (!Object.hasOwn(ESCAPES, char)) throw this.#error("Invalid \\escape", this.#at - 1);
    this.#at++;
    return ESCAPES[char];
  }

  #blanks(): void {
    this.#match(BLANKS);
  }

  /**
   * Skips the text that `pattern` matches here.
   * @returns That text.
   */
  #match(pattern: RegExp): RegExpExecArray | null {
    pattern.lastIndex = this.#at;
    const match = pattern.exec(this.#text);
    if (match !== null) this.#at = pattern.lastIndex;
    return match;
  }

  #take(char: string): boolean {
    if (this.#text[this.#at] !== char) return false;
    this.#at++;
    return true;
  }

  #error(problem: string, at = this.#at): JsonError {
    const before = this.#text.slice(0, at);
    const line = before.split("\n").length;
    const column = [...before.slice(before.lastIndexOf("\n") + 1)].length + 1;
    return new JsonError(problem, { line, column, offset: [...before].length });
  }
}
