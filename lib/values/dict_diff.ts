/**
 * How one map differs from another, key by key.
 * Source: Salt 3008.3 `salt/utils/dictdiffer.py` recursive_diff.
 * @module
 */

import { equals, isMap, map, type Value, type ValueMap } from "./value.ts";

/** The placeholder of a missing value. */
const NOTHING = "<_null_>";

/**
 * The keys of `current` whose values differ, with `{new, old}`; of maps on both sides the keys in them. Keys that only
 * `past` has are left out.
 */
export function changedValues(past: ValueMap, current: ValueMap): ValueMap {
  const changes: ValueMap = new Map();
  for (const [key, value] of current) {
    const old = past.get(key);
    if (old !== undefined && equals(old, value)) continue;
    const nested = old !== undefined && isMap(old) && isMap(value)
      ? changedValues(old, value)
      : pair(value, old === undefined ? NOTHING : old);
    if (nested.size > 0) changes.set(key, nested);
  }
  return changes;
}

function pair(now: Value, old: Value): ValueMap {
  return map({ new: now, old });
}
