/**
 * JSON as Python's `json` reads it, which `JSON.parse` does not tell: `1.0` from `1`, ints of any size, `NaN`. For what the
 * outputter `json` has printed.
 * Source: docs.python.org, "json".
 * @module
 */

import { float, int, type Value, type ValueMap } from "../../lib/values/value.ts";

/** How deep lists and maps may be nested. */
const MAX_DEPTH = 512;
/** As many digits as Python reads of an int. */
const MAX_DIGITS = 4300;

/**
 * The value of the JSON `text`, as `json.loads` reads it: `NaN` and `Infinity` are numbers, a number with a fraction or
 * an exponent is a float, and of two equal keys the last counts.
 * @throws {SyntaxError} That says where, for anything else, and for what is nested deeper than 512.
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
    throw new SyntaxError(`${problem} at line ${before.length}, column ${(before.at(-1) ?? "").length + 1}`);
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
