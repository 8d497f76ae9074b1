/**
 * JSON as Python's `json` writes it: the order of keys kept, `1.0` distinguished from `1`, ints of any size, `NaN`.
 * `JSON.parse` reads what Salt writes. Knows nothing of terminals or outputters. Source: docs.python.org, "json";
 * Salt's output/json_out.py for what is not JSON (bytes).
 * @module
 */

import { countStep } from "./stop_word.ts";
import { Float, floatRepr, isFloat, repr, type Value, type ValueMap } from "./value.ts";
import { ValueSet } from "./tuple.ts";

/** Options of {@linkcode dumpJson}; the defaults are Python's. */
export interface JsonOptions {
  /**
   * Spaces per level, with each entry on its own line. Without it, everything is on one line. Salt's outputter
   * passes 4.
   */
  readonly indent?: number;
  /** Whether non-ASCII characters are escaped. True in Python; Salt always passes false. */
  readonly ensureAscii?: boolean;
}

/**
 * Writes `value` as `json.dumps(value, default=repr, …)` does. Bytes become the string of their `repr`. A key that is
 * no string becomes one, as in Python; a bytes key too, where Python throws.
 */
export function dumpJson(value: Value, options: JsonOptions = {}): string {
  let text = "";
  writeJson(value, options, (piece) => text += piece);
  return text;
}

/** Characters of a piece: enough that few pieces are written, and few enough that none is a large object of V8's. */
const PIECE = 1 << 15;

/**
 * As {@linkcode dumpJson}, piece by piece: the text of ten thousand states is several megabytes, and with its parts as
 * many again.
 * @param put Takes the pieces. Each ends behind a key, a value or a sign.
 */
export function writeJson(value: Value, options: JsonOptions, put: (piece: string) => void): void {
  const writer = new JsonWriter(options, put);
  writer.value(value, "\n");
  writer.end();
}

class JsonWriter {
  readonly #options: JsonOptions;
  readonly #put: (piece: string) => void;
  #text = "";

  constructor(options: JsonOptions, put: (piece: string) => void) {
    this.#options = options;
    this.#put = put;
  }

  end(): void {
    if (this.#text !== "") this.#put(this.#text);
  }

  #add(text: string): void {
    this.#text += text;
    if (this.#text.length < PIECE) return;
    this.#put(this.#text);
    this.#text = "";
  }

  /** @param newline A line end and the indentation of the line that `value` starts on. */
  value(value: Value, newline: string): void {
    if (!Array.isArray(value) && !(value instanceof Map)) return this.#add(scalarText(value, this.#options));
    // JSON has no sets: Salt writes Python's text of one.
    if (value instanceof ValueSet) return this.#add(quote(repr(value), this.#options));
    countStep();
    const isList = Array.isArray(value), { indent } = this.#options;
    const count = isList ? value.length : value.size;
    if (count === 0) return this.#add(isList ? "[]" : "{}");
    const inner = newline + " ".repeat(indent ?? 0);
    const between = indent === undefined ? ", " : `,${inner}`;
    let before = (isList ? "[" : "{") + (indent === undefined ? "" : inner);
    for (const [key, item] of value.entries()) {
      this.#add(isList ? before : `${before}${quote(keyText(key), this.#options)}: `);
      this.value(item, inner);
      before = between;
    }
    this.#add((indent === undefined ? "" : newline) + (isList ? "]" : "}"));
  }
}

function scalarText(value: Exclude<Value, Value[] | ValueMap>, options: JsonOptions): string {
  if (value === null) return "null";
  if (typeof value === "boolean") return String(value);
  if (typeof value === "string") return quote(value, options);
  return value instanceof Uint8Array ? quote(repr(value), options) : numberText(value);
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

/** JavaScript escapes what Python does, and also lone surrogates, which Python leaves and no terminal can show. */
function quote(text: string, options: JsonOptions): string {
  const quoted = JSON.stringify(text);
  if (options.ensureAscii === false) return quoted;
  return quoted.replace(/[\x7f-\uffff]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);
}
