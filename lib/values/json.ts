/**
 * JSON as Python's `json` writes it: the order of keys kept, `1.0` told from `1`, ints of any size, `NaN`. What Salt itself has
 * written so, `JSON.parse` reads. Knows nothing of terminals or outputters.
 * Source: docs.python.org, "json"; Salt's output/json_out.py for what is no JSON (bytes).
 * @module
 */

import { Float, floatRepr, isFloat, repr, type Value } from "./value.ts";

/** Options of {@linkcode dumpJson}; the defaults are Python's. */
export interface JsonOptions {
  /** Spaces per level, with each entry on its own line. Without it, everything is on one line. Salt's outputter passes 4. */
  readonly indent?: number;
  /** Whether non-ASCII characters are escaped. True in Python; Salt always passes false. */
  readonly ensureAscii?: boolean;
}

/**
 * Writes `value` as `json.dumps(value, default=repr, …)` does. Bytes become the string of their `repr`. A key that is
 * no string becomes one, as in Python; a bytes key too, where Python throws.
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
    : Array.from(value, ([key, item]) => `${quote(keyText(key), options)}: ${write(item, options, inner)}`);
  if (items.length === 0 || options.indent === undefined) return open + items.join(", ") + close;
  return open + inner + items.join("," + inner) + newline + close;
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
