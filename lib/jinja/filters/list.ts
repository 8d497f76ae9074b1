/**
 * Salt's filters for lists: sets of items, order, samples, counting.
 * Source: Salt 3008.3, `salt/utils/jinja.py`, `salt/utils/data.py`.
 * @module
 */

import { countStep } from "#lib/values/stop_word.ts";
import { PythonRandom } from "#lib/crypto/python_random.ts";
import { hashHex } from "#lib/crypto/hash.ts";
import { compareByOperator, contains, sortBy } from "#lib/python/compare.ts";
import { dictSet } from "#lib/python/dict.ts";
import { isEqual } from "#lib/python/equality.ts";
import { checkItems, pythonError } from "#lib/python/errors.ts";
import { isIterable, toList } from "#lib/python/iterate.ts";
import { floatOf, indexOf, intOf, isTruthy, textOf, typeNameOf } from "#lib/python/kinds.ts";
import { native } from "#lib/python/native.ts";
import type { CallContext, Obj, ObjMap, Run } from "#lib/python/object.ts";
import { binary } from "#lib/python/operators.ts";
import { reprOf } from "#lib/python/repr.ts";
import { asSet, PySet } from "#lib/python/set.ts";
import { isList } from "#lib/values/tuple.ts";
import { float } from "#lib/values/value.ts";
import { needBytes, needText, refuseUndefined } from "./arguments.ts";

/** Whether it is hashable in Python: Salt's filters return sets for hashable items, and lists for others. */
function isHashable(obj: Obj): boolean {
  return !isList(obj) && !(obj instanceof Map) && asSet(obj) === undefined;
}

function uniqueItems(items: readonly Obj[]): Obj[] {
  const unique: Obj[] = [];
  // Most lists hold texts and ints, which a set finds at once.
  const seen = new Set<Obj>();
  for (const item of items) {
    if (seen.has(item)) continue;
    if (typeof item !== "string" && unique.some((known) => isEqual(known, item))) continue;
    seen.add(item);
    unique.push(item);
  }
  return unique;
}

function unique(values: Obj): Obj {
  refuseUndefined(values);
  return isHashable(values) ? PySet.from(values) : uniqueItems(toList(values));
}

/** A filter of two lists: `sets` where both are hashable, else `lists`. */
function ofTwo(
  name: string,
  sets: (a: PySet, b: PySet) => readonly Obj[],
  lists: (a: Obj, b: Obj, context: CallContext) => readonly Obj[],
): [string, Run] {
  return [
    name,
    native(name, ["lst1", "lst2"], ([a, b], { context }) => {
      if (isHashable(a) && isHashable(b)) return new PySet(sets(PySet.from(a), PySet.from(b)));
      return uniqueItems(lists(a, b, context));
    }),
  ];
}

/** The list or tuple `a + b`. */
function joinLists(a: Obj, b: Obj, context: CallContext): Obj[] {
  return toList(binary("+", a, b, context));
}

function extreme(obj: Obj, better: "<" | ">"): Obj {
  const items = toList(obj);
  if (items.length === 0) {
    throw pythonError("ValueError", `${better === "<" ? "min" : "max"}() arg is an empty sequence`);
  }
  return items.reduce((best, item) => compareByOperator(better, item, best) ? item : best);
}

function average(values: Obj, context: CallContext): Obj {
  if (isHashable(values)) {
    const number = intOf(values) ?? floatOf(values);
    const text = textOf(values);
    if (number !== undefined) return float(Number(number));
    if (text !== undefined && /^\s*[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?\s*$/.test(text)) {
      return float(Number(text));
    }
    if (text !== undefined) throw pythonError("ValueError", `could not convert string to float: ${reprOf(values)}`);
    refuseUndefined(values);
    throw pythonError("TypeError", `float() argument must be a string or a real number, not '${typeNameOf(values)}'`);
  }
  const items = toList(values);
  return binary("/", items.reduce((sum, item) => binary("+", sum, item, context), 0), items.length, context);
}

/** Maximum nesting of lists. */
const DEEPEST = 200;

function flatten(data: Obj, levels: number | undefined, keepNulls: boolean, outer: readonly Obj[]): Obj[] {
  if (outer.includes(data) || outer.length > DEEPEST) {
    throw pythonError("RecursionError", "Reference cycle detected. Check input list.");
  }
  const flat: Obj[] = [];
  for (const item of toList(data)) {
    countStep();
    if (!keepNulls && (item === null || textOf(item) === "None" || textOf(item) === "null")) continue;
    if (textOf(item) !== undefined || !isIterable(item) || (levels !== undefined && levels < 1)) flat.push(item);
    else {
      const inner = flatten(item, levels === undefined ? undefined : levels - 1, keepNulls, [...outer, data]);
      checkItems(flat.length + inner.length);
      for (const one of inner) flat.push(one);
    }
  }
  return flat;
}

/** `size` of the items, each at most once; with a seed those that Python's generator of that seed chooses. */
function sample(value: Obj, size: number, seed: Obj): Obj[] {
  const items = textOf(value) !== undefined ? [...needText(value)] : value;
  if (!Array.isArray(items) || asSet(items) !== undefined) {
    throw pythonError("TypeError", "Population must be a sequence.  For dicts or sets, use sorted(d).");
  }
  if (size < 0 || size > items.length) throw pythonError("ValueError", "Sample larger than population or is negative");
  if (seed !== null) return new PythonRandom(hashHex(needBytes(seed), "sha512")).sample(items, size);
  const [high, low] = crypto.getRandomValues(new BigUint64Array(2));
  return new PythonRandom((high << 64n) | low).sample(items, size);
}

/** How many of the items, taken from left to right, count as true: exactly `amount`. */
function exactly(items: Obj, amount: number): boolean {
  return toList(items).filter(isTruthy).length === amount;
}

function compareLists(old: Obj, now: Obj): ObjMap {
  const changes: ObjMap = new Map();
  const added = toList(now).filter((item) => !contains(old, item));
  const removed = toList(old).filter((item) => !contains(now, item));
  if (added.length > 0) dictSet(changes, "new", added);
  if (removed.length > 0) dictSet(changes, "old", removed);
  return changes;
}

/** The filters by name. */
export const LIST_FILTERS: ReadonlyMap<string, Run> = new Map<string, Run>([
  ["sequence", native("ensure_sequence_filter", ["data"], ([data]) => isSequence(data) ? data : [data])],
  ["unique", native("unique", ["values"], ([values]) => unique(values))],
  ["min", native("lst_min", ["obj"], ([obj]) => extreme(obj, "<"))],
  ["max", native("lst_max", ["obj"], ([obj]) => extreme(obj, ">"))],
  ["avg", native("lst_avg", ["lst"], ([lst], { context }) => average(lst, context))],
  ofTwo("union", (a, b) => [...a.items(), ...b.items()], joinLists),
  ofTwo(
    "intersect",
    (a, b) => a.items().filter((item) => b.has(item)),
    (a, b) => toList(a).filter((item) => contains(b, item)),
  ),
  ofTwo(
    "difference",
    (a, b) => a.items().filter((item) => !b.has(item)),
    (a, b) => toList(a).filter((item) => !contains(b, item)),
  ),
  ofTwo(
    "symmetric_difference",
    (a, b) => [...a.items().filter((item) => !b.has(item)), ...b.items().filter((item) => !a.has(item))],
    (a, b, context) => joinLists(a, b, context).filter((item) => !contains(a, item) || !contains(b, item)),
  ),
  ["is_list", native("is_list", ["value"], ([value]) => isList(value))],
  [
    "is_iter",
    native("is_iter", ["thing", ["ignore", null]], ([thing]) => typeof thing !== "string" && isIterable(thing)),
  ],
  [
    "sorted_ignorecase",
    native("sorted_ignorecase", ["to_sort"], ([list]) => {
      return sortBy(toList(list).map((item) => ({ key: lowerCase(item), item })), false);
    }),
  ],
  [
    "flatten",
    native("flatten", ["data", ["levels", null], ["preserve_nulls", false]], ([data, levels, keepNulls]) => {
      return flatten(data, levels === null ? undefined : indexOf(levels), isTruthy(keepNulls), []);
    }),
  ],
  [
    "random_sample",
    native("sample", ["value", "size", ["seed", null]], ([value, size, seed]) => sample(value, indexOf(size), seed)),
  ],
  [
    "random_shuffle",
    native("shuffle", ["value", ["seed", null]], ([value, seed]) => sample(value, toList(value).length, seed)),
  ],
  [
    "exactly_n_true",
    native("exactly_n", ["iterable", ["amount", 1]], ([items, amount]) => exactly(items, indexOf(amount))),
  ],
  ["exactly_one_true", native("exactly_one", ["iterable"], ([items]) => exactly(items, 1))],
  ["compare_lists", native("compare_lists", [["old", null], ["new", null]], ([old, now]) => compareLists(old, now))],
]);

function lowerCase(item: Obj): string {
  const text = textOf(item);
  if (text !== undefined) return text.toLowerCase();
  refuseUndefined(item);
  throw pythonError("AttributeError", `'${typeNameOf(item)}' object has no attribute 'lower'`);
}

/** Values that Salt's filter `sequence` does not change. */
function isSequence(data: Obj): boolean {
  return Array.isArray(data) || data instanceof Map || asSet(data) !== undefined;
}

/** Salt's test `list`: of all sequences, lists alone. */
export const listTest: Run = native("is_list", ["value"], ([value]) => {
  return isList(value);
});
