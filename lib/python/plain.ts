/**
 * Converts Python objects to values of Salt, when they leave a template.
 * @module
 */

import { orderedAs } from "#lib/values/ordered.ts";
import { countStep } from "#lib/values/stop_word.ts";
import { sequenceLike, ValueSet } from "#lib/values/tuple.ts";
import { typeName as valueTypeName, type Value, type ValueMap } from "#lib/values/value.ts";
import { pythonError } from "./errors.ts";
import { toList } from "./iterate.ts";
import { Markup } from "./markup.ts";
import { type Obj, PyObject } from "./object.ts";
import { PySet } from "./set.ts";

/** Deeper structures are refused: one may contain itself. */
const DEEPEST = 1_000;

/**
 * The value of `obj`: views and iterators become lists, marked texts become plain ones. If all its parts are
 * values, it is returned itself, not a copy.
 * @throws {PythonError} For functions, undefined values, and structures that contain themselves.
 */
export function toPlain(obj: Obj): Value {
  return isPlain(obj) ? obj : convert(obj, DEEPEST);
}

/**
 * Whether `obj` is a value of Salt in all its parts.
 * @param depth How deep it may be.
 */
export function isPlain(obj: Obj, depth: number = DEEPEST): obj is Value {
  if (obj instanceof PyObject || depth === 0) return false;
  if (typeof obj === "object") countStep();
  if (Array.isArray(obj)) return obj.every((item) => isPlain(item, depth - 1));
  if (!(obj instanceof Map)) return true;
  for (const [key, item] of obj) {
    if (Array.isArray(key) || !isPlain(key, depth - 1) || !isPlain(item, depth - 1)) return false;
  }
  return true;
}

function convert(obj: Obj, depth: number): Value {
  if (depth === 0) throw pythonError("ValueError", "Circular reference detected");
  countStep();
  if (obj instanceof Markup) return obj.text;
  if (obj instanceof PyObject) {
    obj.checkOperand();
    if (!obj.iterable) throw pythonError("TypeError", `cannot make a value of a '${obj.typeName}' object`);
    const items = toList(obj).map((item) => convert(item, depth - 1));
    return obj instanceof PySet ? new ValueSet(items) : items;
  }
  if (Array.isArray(obj)) return sequenceLike(obj, obj.map((item) => convert(item, depth - 1)));
  if (!(obj instanceof Map)) return obj;
  const map: ValueMap = orderedAs(new Map(), obj);
  for (const [key, item] of obj) map.set(keyOf(key, depth), convert(item, depth - 1));
  return map;
}

function keyOf(key: Obj, depth: number): Value {
  const value = convert(key, depth - 1);
  if (Array.isArray(value) || value instanceof Map) {
    throw pythonError("TypeError", `a ${valueTypeName(value)} cannot be a key outside of templates`);
  }
  return value;
}
