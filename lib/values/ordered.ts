/**
 * Maps whose order of keys a writer keeps, where it sorts those of others: what renderer `yaml` reads, as Salt's loader
 * makes an OrderedDict of each map there and a plain dict everywhere else. The mark belongs to the object: a map that
 * came from the master has none, as in Salt.
 * Source: Salt 3008.3 `salt/utils/yamlloader.py`, `salt/utils/yamldumper.py` represent_ordereddict.
 * @module
 */

import { isMap, type Value } from "./value.ts";

type AnyMap = ReadonlyMap<unknown, unknown>;

const ordered = new WeakSet<AnyMap>();

/** Whether the order of the keys of `map` is kept. */
export function isOrdered(map: AnyMap): boolean {
  return ordered.has(map);
}

/** Marks every map in `value`. A list or map that occurs twice is looked at once. */
export function markOrdered(value: Value): void {
  const seen = new Set<Value>();
  const mark = (one: Value) => {
    if (!isMap(one) && !Array.isArray(one) || seen.has(one)) return;
    seen.add(one);
    if (isMap(one)) ordered.add(one);
    for (const item of one.values()) mark(item);
  };
  mark(value);
}

/** Marks `copy` if `original` is marked, and returns it: a copy has the class of what it copies. */
export function orderedAs<T extends AnyMap>(copy: T, original: AnyMap): T {
  if (ordered.has(original)) ordered.add(copy);
  return copy;
}
