/**
 * Iterates over the items of an object, like Python's `for`: items that are added to a list meanwhile are included; a
 * dict that changes its size is an error.
 * @module
 */

import { pythonError } from "./errors.ts";
import { typeNameOf } from "./kinds.ts";
import { type Obj, type ObjMap, PyObject } from "./object.ts";

/**
 * The items.
 * @throws {PythonError} TypeError for what cannot be iterated.
 */
export function iterate(obj: Obj): Iterator<Obj> {
  if (Array.isArray(obj)) return obj[Symbol.iterator]();
  if (obj instanceof Map) return mapEntries(obj, (key) => key);
  if (obj instanceof PyObject) return obj.iterate();
  if (typeof obj === "string") return obj[Symbol.iterator]();
  if (obj instanceof Uint8Array) return obj[Symbol.iterator]();
  throw pythonError("TypeError", `'${typeNameOf(obj)}' object is not iterable`);
}

/** Whether {@linkcode iterate} works. */
export function isIterable(obj: Obj): boolean {
  if (obj instanceof PyObject) return obj.iterable;
  return typeof obj === "string" || Array.isArray(obj) || obj instanceof Map || obj instanceof Uint8Array;
}

/** All items as a new list. */
export function toList(obj: Obj): Obj[] {
  if (Array.isArray(obj)) return [...obj];
  const items: Obj[] = [];
  const iterator = iterate(obj);
  for (let next = iterator.next(); next.done !== true; next = iterator.next()) items.push(next.value);
  return items;
}

/**
 * The results of `pick` for each entry.
 * @throws {PythonError} RuntimeError if the dict changes its size meanwhile.
 */
export function* mapEntries(map: ObjMap, pick: (key: Obj, value: Obj) => Obj): Iterator<Obj> {
  const size = map.size;
  for (const [key, value] of map) {
    if (map.size !== size) throw pythonError("RuntimeError", "dictionary changed size during iteration");
    yield pick(key, value);
  }
  if (map.size !== size) throw pythonError("RuntimeError", "dictionary changed size during iteration");
}

/**
 * The items of a value, of which there must be `count`.
 * @throws {PythonError} ValueError or TypeError if not.
 */
export function unpackItems(value: Obj, count: number): readonly Obj[] {
  if (!isIterable(value)) {
    if (value instanceof PyObject) value.checkOperand();
    throw pythonError("TypeError", `cannot unpack non-iterable ${typeNameOf(value)} object`);
  }
  const items: Obj[] = [];
  const iterator = iterate(value);
  for (let next = iterator.next(); next.done !== true; next = iterator.next()) {
    if (items.length === count) throw pythonError("ValueError", `too many values to unpack (expected ${count})`);
    items.push(next.value);
  }
  if (items.length < count) {
    throw pythonError("ValueError", `not enough values to unpack (expected ${count}, got ${items.length})`);
  }
  return items;
}
