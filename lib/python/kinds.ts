/**
 * Queries about objects: types, truth, texts, lengths.
 * @module
 */

import { sequenceTypeName } from "#lib/values/tuple.ts";
import { Float, typeName as valueTypeName } from "#lib/values/value.ts";
import { pythonError } from "./errors.ts";
import { Markup } from "./markup.ts";
import { type Obj, PyObject } from "./object.ts";

/** The name of its Python type. */
export function typeNameOf(obj: Obj): string {
  return obj instanceof PyObject
    ? obj.typeName
    : Array.isArray(obj)
    ? sequenceTypeName(obj)
    : obj instanceof Map
    ? "dict"
    : valueTypeName(obj);
}

/** What Jinja calls its type in messages: `dict object`, `None`. */
export function typeDescription(obj: Obj): string {
  if (obj === null) return "None";
  return obj instanceof PyObject ? obj.typeDescription : `${typeNameOf(obj)} object`;
}

/** Python's truth value. */
export function isTruthy(obj: Obj): boolean {
  if (typeof obj === "boolean") return obj;
  if (obj === null) return false;
  if (typeof obj === "string" || Array.isArray(obj) || obj instanceof Uint8Array) return obj.length > 0;
  if (typeof obj === "number") return obj !== 0;
  if (obj instanceof Map) return obj.size > 0;
  if (obj instanceof PyObject) return obj.truth();
  return obj instanceof Float ? obj.value !== 0 : obj !== 0n;
}

/** The text of a str, which may be a Markup; `undefined` for anything else. */
export function textOf(obj: Obj | undefined): string | undefined {
  if (typeof obj === "string") return obj;
  return obj instanceof Markup ? obj.text : undefined;
}

/** The number of an int or bool; `undefined` for anything else. */
export function intOf(obj: Obj | undefined): number | bigint | undefined {
  if (typeof obj === "number") return Number.isInteger(obj) ? obj : undefined;
  if (typeof obj === "boolean") return obj ? 1 : 0;
  return typeof obj === "bigint" ? obj : undefined;
}

/** The number of a float; `undefined` for anything else. */
export function floatOf(obj: Obj | undefined): number | undefined {
  if (typeof obj === "number") return Number.isInteger(obj) ? undefined : obj;
  return obj instanceof Float ? obj.value : undefined;
}

/** Whether it is an int, a bool or a float. */
export function isNumberObject(obj: Obj): boolean {
  return intOf(obj) !== undefined || floatOf(obj) !== undefined;
}

/**
 * An int that counts or indexes something, as a safe JavaScript number; huge ones are cut.
 * @throws {PythonError} TypeError if it is none.
 */
export function indexOf(obj: Obj, what = "object cannot be interpreted as an integer"): number {
  const int = intOf(obj);
  if (int === undefined) {
    throw pythonError("TypeError", `'${typeNameOf(obj)}' ${what}`);
  }
  if (typeof int === "number") return int;
  return int < 0n ? Number.MIN_SAFE_INTEGER : Number.MAX_SAFE_INTEGER;
}

/** Python's `len`. */
export function lengthOf(obj: Obj): number {
  if (typeof obj === "string") return codePointLength(obj);
  if (Array.isArray(obj) || obj instanceof Uint8Array) return obj.length;
  if (obj instanceof Map) return obj.size;
  const length = obj instanceof PyObject ? obj.length() : undefined;
  if (length === undefined) throw pythonError("TypeError", `object of type '${typeNameOf(obj)}' has no len()`);
  return length;
}

/** The number of code points: what Python counts. */
export function codePointLength(text: string): number {
  let count = text.length;
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    if (unit >= 0xd800 && unit < 0xdc00 && isLow(text.charCodeAt(i + 1))) {
      count--;
      i++;
    }
  }
  return count;
}

function isLow(unit: number): boolean {
  return unit >= 0xdc00 && unit < 0xe000;
}

const SURROGATE = /[\ud800-\udfff]/;

/** Whether the UTF-16 units of a text are not its code points. */
export function hasSurrogates(text: string): boolean {
  return SURROGATE.test(text);
}
