/**
 * Merges a map into another one, recursively.
 * Source: Salt 3008.3, `salt/utils/dictupdate.py` update.
 * @module
 */

import { countStep } from "./stop_word.ts";
import { copyMap } from "./dict.ts";
import { orderedAs } from "./ordered.ts";
import { isList, sequenceLike } from "./tuple.ts";
import { equals, isMap, type Value, type ValueMap } from "./value.ts";

/**
 * `dest` with what `update` has: maps are merged, and with `mergeLists` lists joined without doubles; all else is
 * replaced. Neither argument is changed.
 */
export function updateMap(
  dest: ValueMap,
  update: ValueMap,
  { mergeLists }: { readonly mergeLists: boolean },
): ValueMap {
  countStep();
  const merged = orderedAs(new Map(dest), dest);
  for (const [key, value] of update) merged.set(key, mergeValue(merged.get(key), value, mergeLists));
  return merged;
}

function mergeValue(old: Value | undefined, value: Value, mergeLists: boolean): Value {
  if (isMap(old) && isMap(value)) return updateMap(old, value, { mergeLists });
  if (!mergeLists || old === undefined || !isList(old) || !isList(value)) return value;
  // Python looks at the list as it was: doubles within the new one stay.
  return [...old, ...value.filter((item) => !old.some((known) => equals(known, item)))];
}

/**
 * Changes `dest` itself, and the maps in it, as templates expect it of `slsutil.update`.
 * @param how.recursive Whether maps below are merged; otherwise each key of `update` replaces that of `dest`.
 */
export function updateInPlace(
  dest: ValueMap,
  update: ValueMap,
  { recursive, mergeLists }: { readonly recursive: boolean; readonly mergeLists: boolean },
): ValueMap {
  for (const [key, value] of update) {
    const old = dest.get(key);
    if (recursive && isMap(old) && isMap(value)) updateInPlace(old, value, { recursive, mergeLists });
    else dest.set(key, recursive ? mergeValue(old, value, mergeLists) : value);
  }
  return dest;
}

/** A copy of a value with copies of all its lists and maps; one that occurs twice is copied once. */
export function copyDeep<T extends Value>(value: T): T {
  const copies = new Map<Value, Value>();
  const copy = (original: Value): Value => {
    if (!Array.isArray(original) && !isMap(original)) return original;
    const earlier = copies.get(original);
    if (earlier !== undefined) return earlier;
    if (Array.isArray(original)) {
      const list = sequenceLike<Value>(original, []);
      copies.set(original, list);
      for (const item of original) list.push(copy(item));
      return list;
    }
    const map = orderedAs(copyMap(original), original);
    copies.set(original, map);
    for (const [key, item] of original) map.set(key, copy(item));
    return map;
  };
  // A copy has the type of what it copies.
  return copy(value) as T;
}
