/**
 * The difference of two maps, as changes of states show it.
 * Source: Salt 3008.3 `salt/utils/dictdiffer.py` deep_diff.
 * @module
 */

import { equals, isMap, type Value, type ValueMap } from "#lib/values/value.ts";

/** What of `from` is not so in `other`; of maps in both, only the parts that differ. */
function partsOnlyIn(from: ValueMap, other: ValueMap): ValueMap {
  const found: ValueMap = new Map();
  for (const [key, value] of from) {
    const there = other.get(key);
    if (there !== undefined && equals(there, value)) continue;
    found.set(key, isMap(value) && isMap(there) ? partsOnlyIn(value, there) : value);
  }
  return found;
}

/** The parts of two maps that differ: `{old: …, new: …}`, each only if it has one. */
export function deepDiff(old: ValueMap, wanted: ValueMap): ValueMap {
  const sides: [string, ValueMap][] = [["old", partsOnlyIn(old, wanted)], ["new", partsOnlyIn(wanted, old)]];
  return new Map<Value, Value>(sides.filter(([, side]) => side.size > 0));
}
