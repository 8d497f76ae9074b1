/**
 * Maps and lists that are joined with others of their key: those that renderer `yamlex` read with the tag `!aggregate`.
 * The mark belongs to the object, as Salt's subclasses of dict and list do; a copy that is made elsewhere has none.
 * Source: Salt 3008.3 `salt/utils/aggregation.py` aggregate.
 * @module
 */

import { equals, isMap, type Value, type ValueMap } from "./value.ts";

/** A value that can be marked. */
export type Aggregate = ValueMap | Value[];

const marked = new WeakSet<Aggregate>();

/** Marks `value`, and returns it. */
export function markAggregate<T extends Aggregate>(value: T): T {
  marked.add(value);
  return value;
}

/** How a value was made of two. */
export interface Joining {
  readonly joined: Aggregate;
  /** The value that {@linkcode joined} began as a copy of. */
  readonly base: Aggregate;
  readonly second: Aggregate;
  /** Of lists, the indexes of `second` whose items were appended, in order. */
  readonly appended: readonly number[];
}

/**
 * The value of a key that has `first` and then `second`: maps are merged, marked lists are joined without doubles, and
 * anything else is `second`. Of maps that are not both marked, only the keys of `second` are kept.
 * @param note Called with every map and list that was made.
 */
export function joinAggregates(first: Value, second: Value, note: (joining: Joining) => void = () => {}): Value {
  if (isMap(first) && isMap(second)) return joinMaps(first, second, note);
  if (Array.isArray(first) && Array.isArray(second) && marked.has(first) && marked.has(second)) {
    const appended = [...second.keys()].filter((i) => !first.some((item) => equals(item, second[i])));
    const joined = markAggregate([...first, ...appended.map((i) => second[i])]);
    note({ joined, base: first, second, appended });
    return joined;
  }
  return second;
}

function joinMaps(first: ValueMap, second: ValueMap, note: (joining: Joining) => void): ValueMap {
  const base = marked.has(first) && marked.has(second) ? first : second;
  const joined = updateJoined(new Map(base), { first, second, note });
  if (marked.has(base)) marked.add(joined);
  note({ joined, base, second, appended: [] });
  return joined;
}

/** `first` with the keys of `second`, as if both were marked: the outermost maps of files that are merged. */
export function aggregateMaps(first: ValueMap, second: ValueMap): ValueMap {
  return updateJoined(new Map(first), { first, second, note: () => {} });
}

function updateJoined(
  joined: ValueMap,
  { first, second, note }: { first: ValueMap; second: ValueMap; note: (joining: Joining) => void },
): ValueMap {
  for (const [key, value] of second) {
    const before = first.get(key);
    joined.set(key, before === undefined ? value : joinAggregates(before, value, note));
  }
  return joined;
}
