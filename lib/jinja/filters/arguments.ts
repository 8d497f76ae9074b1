/**
 * Checks of the arguments of Salt's filters: texts, bytes, lists and numbers; errors have Python's messages.
 * @module
 */

import { typeNameOf } from "#lib/python/kinds.ts";
import { ValueSet } from "#lib/values/tuple.ts";
import { pythonError } from "#lib/python/errors.ts";
import { toList } from "#lib/python/iterate.ts";
import { textOf } from "#lib/python/kinds.ts";
import { type Obj, PyObject } from "#lib/python/object.ts";
import { strOf } from "#lib/python/repr.ts";

/** How Python writes the class of `obj`: `<class 'int'>`. */
export function classText(obj: Obj): string {
  return `<class '${typeNameOf(obj)}'>`;
}

/**
 * The text of a str.
 * @throws {TemplateError} TypeError, or what an undefined value throws.
 */
export function needText(obj: Obj, wanted = "expected string or bytes-like object"): string {
  const text = textOf(obj);
  if (text !== undefined) return text;
  refuseUndefined(obj);
  throw pythonError("TypeError", `${wanted}, got '${typeNameOf(obj)}'`);
}

/**
 * The result of Salt's `to_bytes` for a str or bytes.
 * @throws {TemplateError} TypeError.
 */
export function needBytes(obj: Obj): Uint8Array {
  if (obj instanceof Uint8Array) return obj;
  const text = textOf(obj);
  if (text !== undefined) return new TextEncoder().encode(text);
  refuseUndefined(obj);
  throw pythonError("TypeError", `expected str, bytes, or bytearray not ${classText(obj)}`);
}

/** Throws the error of an undefined value. */
export function refuseUndefined(obj: Obj): void {
  if (obj instanceof PyObject) obj.checkOperand();
}

/** The items of a list or tuple; `undefined` for anything else. */
export function sequenceOf(obj: Obj): readonly Obj[] | undefined {
  return Array.isArray(obj) && !(obj instanceof ValueSet) ? obj : undefined;
}

/** The items of an argument that may be one text, a list, or nothing. */
export function patternList(obj: Obj): string[] {
  const text = textOf(obj);
  if (text !== undefined) return text === "" ? [] : [text];
  return obj === null ? [] : toList(obj).map(strOf);
}
