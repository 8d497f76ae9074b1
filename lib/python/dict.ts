/**
 * Reading and changing dicts with Python's rules for keys.
 * @module
 */

import { Dict, PLAIN_ENTRIES } from "#lib/values/dict.ts";
import { checkItems } from "./errors.ts";
import { findKey, noteKey } from "./equality.ts";
import type { Obj, ObjMap } from "./object.ts";

/**
 * The value under `key`; `undefined` if there is none.
 * @throws {PythonError} TypeError for a key that cannot be one.
 */
export function dictGet(map: ObjMap, key: Obj): Obj | undefined {
  const value = map.get(key);
  if (value !== undefined) return value;
  const held = findKey(map, key);
  return held === undefined ? undefined : map.get(held);
}

/** Whether `key` is in it. */
export function dictHas(map: ObjMap, key: Obj): boolean {
  return findKey(map, key) !== undefined;
}

/** Puts a value under `key`; a key that is there stays as it is. */
export function dictSet(map: ObjMap, key: Obj, value: Obj): void {
  const held = findKey(map, key);
  if (held === undefined) {
    noteKey(map, key);
    checkItems(map.size);
  }
  map.set(held ?? key, value);
}

/**
 * Removes `key`.
 * @returns Its value; `undefined` if there is none.
 */
export function dictTake(map: ObjMap, key: Obj): Obj | undefined {
  const held = findKey(map, key);
  if (held === undefined) return undefined;
  const value = map.get(held);
  map.delete(held);
  return value;
}

/** A shallow copy; a large copy has a keyed hash. */
export function dictCopy(map: ObjMap): ObjMap {
  const copy: ObjMap = map.size > PLAIN_ENTRIES || map instanceof Dict ? newLargeDict() : new Map<Obj, Obj>();
  for (const [key, value] of map) {
    noteKey(copy, key);
    copy.set(key, value);
  }
  return copy;
}

/** A map with a keyed hash, for many untrusted keys. Keys that are objects stay rare in it. */
function newLargeDict(): ObjMap {
  return new Dict() as unknown as ObjMap;
}
