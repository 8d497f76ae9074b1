/**
 * Python's `==`, and the keys of dicts that Python takes for equal: `1`, `1.0` and `True` are one key, equal tuples are
 * one.
 * @module
 */

import { countStep } from "#lib/values/stop_word.ts";
import { sameSequenceType, sequenceTypeName, Tuple, ValueSet } from "#lib/values/tuple.ts";
import { Float } from "#lib/values/value.ts";
import { pythonError } from "./errors.ts";
import { floatOf, intOf } from "./kinds.ts";
import { type Obj, type ObjMap, PyObject } from "./object.ts";

/**
 * Python's `a == b`.
 * @throws {PythonError} If an operand is a strict undefined value.
 */
export function isEqual(a: Obj, b: Obj): boolean {
  if (a === b && !(a instanceof PyObject)) return true;
  if (typeof a === "string" && typeof b === "string") return false;
  if (a instanceof PyObject || b instanceof PyObject) return objectsEqual(a, b);
  const numberA = intOf(a) ?? floatOf(a), numberB = intOf(b) ?? floatOf(b);
  // JavaScript compares ints and floats of any size exactly.
  if (numberA !== undefined && numberB !== undefined) return numberA >= numberB && numberA <= numberB;
  if (Array.isArray(a) && Array.isArray(b)) {
    if (a instanceof ValueSet && b instanceof ValueSet) return membersEqual(a, b);
    return sameSequenceType(a, b) && sequencesEqual(a, b);
  }
  if (a instanceof Map && b instanceof Map) return mapsEqual(a, b);
  if (a instanceof Uint8Array && b instanceof Uint8Array) {
    return a.length === b.length && a.every((byte, i) => byte === b[i]);
  }
  return false;
}

function objectsEqual(a: Obj, b: Obj): boolean {
  const answer = a instanceof PyObject ? a.equals(b) : undefined;
  if (answer !== undefined) return answer;
  return (b instanceof PyObject ? b.equals(a) : undefined) ?? a === b;
}

function membersEqual(a: readonly Obj[], b: readonly Obj[]): boolean {
  countStep();
  return a.length === b.length && a.every((item) => b.some((other) => isEqual(item, other)));
}

/** Whether both have equal items in the same order. */
export function sequencesEqual(a: readonly Obj[], b: readonly Obj[]): boolean {
  countStep();
  return a.length === b.length && a.every((item, i) => item === b[i] || isEqual(item, b[i]));
}

function mapsEqual(a: ObjMap, b: ObjMap): boolean {
  countStep();
  if (a.size !== b.size) return false;
  for (const [key, item] of a) {
    const match = findKey(b, key);
    const other = match === undefined ? undefined : b.get(match);
    if (other === undefined || (other !== item && !isEqual(item, other))) return false;
  }
  return true;
}

/** Maps with keys that JavaScript compares by identity. */
const OBJECT_KEYS = new WeakSet<ObjMap>();

/** Records that `key` was added to `map`. */
export function noteKey(map: ObjMap, key: Obj): void {
  if (typeof key === "object" && key !== null) OBJECT_KEYS.add(map);
}

/** The key of `map` that Python takes for equal to `key`; `undefined` if there is none. */
export function findKey(map: ObjMap, key: Obj): Obj | undefined {
  if (map.has(key)) return key;
  if (typeof key === "string") return OBJECT_KEYS.has(map) ? scan(map, key) : undefined;
  if (key === null) return undefined;
  if (typeof key === "object") {
    checkHashable(key);
    const number = key instanceof Float ? key.value : undefined;
    if (number !== undefined && map.has(number)) return number;
    return scan(map, key);
  }
  if (key === true || key === false) {
    if (map.has(Number(key))) return Number(key);
  } else if ((key === 0 || key === 1) && map.has(key === 1)) return key === 1;
  return OBJECT_KEYS.has(map) ? scan(map, key) : undefined;
}

function scan(map: ObjMap, key: Obj): Obj | undefined {
  for (const known of map.keys()) {
    if (typeof known !== "string" || typeof key !== "string") { if (isEqual(known, key)) return known; }
  }
  return undefined;
}

/** @throws {PythonError} TypeError if Python refuses `key` as a key. */
function checkHashable(key: Obj): void {
  if (key instanceof Tuple) {
    for (const item of key) checkHashable(item);
    return;
  }
  if (Array.isArray(key)) throw pythonError("TypeError", `unhashable type: '${sequenceTypeName(key)}'`);
  if (key instanceof Map) throw pythonError("TypeError", "unhashable type: 'dict'");
  if (key instanceof PyObject) key.checkHashable();
}
