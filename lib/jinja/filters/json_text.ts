/**
 * JSON with the options of Python's `json.dumps`.
 * Source: docs.python.org, "json".
 * @module
 */

import { pythonError } from "#lib/python/errors.ts";
import { dumpJson } from "#lib/values/json.ts";
import { ValueSet } from "#lib/values/tuple.ts";
import { compare, isInt, isMap, typeName, type Value } from "#lib/values/value.ts";

/** The options. */
export interface JsonLayout {
  readonly sortKeys: boolean;
  /** A number of columns for each level, or None for one line. */
  readonly indent: Value;
  /** Whether all but ASCII is escaped. */
  readonly ascii: boolean;
}

/**
 * The JSON of `value`.
 * @throws {TemplateError} TypeError, if keys cannot be sorted, or there is a set.
 */
export function jsonText(value: Value, { sortKeys, indent, ascii }: JsonLayout): string {
  refuseSets(value);
  const columns = isInt(indent) ? Math.max(0, Number(indent)) : typeof indent === "string" ? indent.length : undefined;
  return dumpJson(sortKeys ? sortKeysOf(value) : value, { indent: columns, ensureAscii: ascii });
}

function refuseSets(value: Value): void {
  if (value instanceof ValueSet) throw pythonError("TypeError", "Object of type set is not JSON serializable");
  if (Array.isArray(value) || isMap(value)) { for (const item of value.values()) refuseSets(item); }
}

/** A copy with the maps in the order of their keys. */
function sortKeysOf(value: Value): Value {
  if (Array.isArray(value)) return value.map(sortKeysOf);
  if (!isMap(value)) return value;
  const [first, second] = new Set(Array.from(value.keys(), typeName));
  if (second !== undefined && (first === "str" || second === "str")) {
    throw pythonError("TypeError", `'<' not supported between instances of '${second}' and '${first}'`);
  }
  return new Map([...value].sort(([a], [b]) => compare(a, b)).map(([key, item]) => [key, sortKeysOf(item)]));
}
