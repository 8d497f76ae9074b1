/**
 * Merging a map into another one, below its maps as well.
 * Source: Salt 3008.3, `salt/utils/dictupdate.py` update.
 * @module
 */

import { equals, isMap, type Value, type ValueMap } from "./value.ts";

/**
 * `dest` with what `update` has: maps are merged, and with `mergeLists` lists joined without doubles; all else is replaced. Neither argument
 * is changed.
 */
export function updateMap(
  dest: ValueMap,
  update: ValueMap,
  { mergeLists }: { readonly mergeLists: boolean },
): ValueMap {
  const merged = new Map(dest);
  for (const [key, value] of update) merged.set(key, mergeValue(merged.get(key), value, mergeLists));
  return merged;
}

function mergeValue(old: Value | undefined, value: Value, mergeLists: boolean): Value {
  if (isMap(old) && isMap(value)) return updateMap(old, value, { mergeLists });
  if (!mergeLists || !Array.isArray(old) || !Array.isArray(value)) return value;
  // Python looks at the list as it was: doubles within the new one stay.
  return [...old, ...value.filter((item) => !old.some((known) => equals(known, item)))];
}
