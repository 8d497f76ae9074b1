/**
 * The methods of dict and set. They change it in place, as in Python.
 * Source: docs.python.org, "Mapping Types", "Set Types".
 * @module
 */

import { orderedAs } from "#lib/values/ordered.ts";
import { dictCopy, dictGet, dictSet, dictTake } from "./dict.ts";
import { pythonError } from "./errors.ts";
import { isIterable, toList } from "./iterate.ts";
import { native, type Param } from "./native.ts";
import { type Kwargs, type Obj, type ObjMap, type Run } from "./object.ts";
import { reprOf } from "./repr.ts";
import { asSet, PySet } from "./set.ts";
import { DictView } from "./views.ts";
import { Tuple } from "#lib/values/tuple.ts";

/** Puts what `dict.update` takes into `map`: another dict, or pairs; and keywords. */
export function updateDict(map: ObjMap, other: Obj | undefined, kwargs: Kwargs): void {
  if (other instanceof Map) { for (const [key, value] of other) dictSet(map, key, value); }
  else if (other !== undefined) {
    toList(other).forEach((pair, i) => {
      if (!isIterable(pair)) {
        throw pythonError("TypeError", `cannot convert dictionary update sequence element #${i} to a sequence`);
      }
      const items = toList(pair);
      if (items.length !== 2) {
        throw pythonError(
          "ValueError",
          `dictionary update sequence element #${i} has length ${items.length}; 2 is required`,
        );
      }
      dictSet(map, items[0], items[1]);
    });
  }
  for (const [key, value] of kwargs) dictSet(map, key, value);
}

function dictMethod(
  name: string,
  params: readonly Param[],
  body: (map: ObjMap, args: readonly Obj[]) => Obj,
): [string, Run] {
  return [name, native(name, ["self", ...params], ([self, ...args]) => body(self as ObjMap, args), "dict")];
}

/** The methods of dict; the first argument is the dict. */
export const DICT_METHODS: ReadonlyMap<string, Run> = new Map<string, Run>([
  dictMethod("clear", [], (map) => {
    map.clear();
    return null;
  }),
  dictMethod("copy", [], (map) => orderedAs(dictCopy(map), map)),
  dictMethod("fromkeys", ["iterable", ["value", null]], (_, [keys, value]) => {
    const map: ObjMap = new Map();
    for (const key of toList(keys)) dictSet(map, key, value);
    return map;
  }),
  dictMethod("get", ["key", ["default", null]], (map, [key, fallback]) => {
    const value = dictGet(map, key);
    return value === undefined ? fallback : value;
  }),
  dictMethod("items", [], (map) => new DictView(map, "items")),
  dictMethod("keys", [], (map) => new DictView(map, "keys")),
  dictMethod("pop", ["key", ["default", undefined]], (map, [key, fallback]) => {
    const value = dictTake(map, key);
    if (value !== undefined) return value;
    if (fallback === undefined) throw pythonError("KeyError", reprOf(key));
    return fallback;
  }),
  dictMethod("popitem", [], (map) => {
    const last = [...map.keys()].at(-1);
    if (last === undefined) throw pythonError("KeyError", "'popitem(): dictionary is empty'");
    return new Tuple([last, dictTake(map, last) ?? null]);
  }),
  dictMethod("setdefault", ["key", ["default", null]], (map, [key, fallback]) => {
    const value = dictGet(map, key);
    if (value !== undefined) return value;
    dictSet(map, key, fallback);
    return fallback;
  }),
  [
    "update",
    native("update", ["self", ["other", undefined], "**kwargs"], ([self, other], { kwargs }) => {
      updateDict(self as ObjMap, other, kwargs);
      return null;
    }),
  ],
  dictMethod("values", [], (map) => new DictView(map, "values")),
]);

function setMethod(
  name: string,
  params: readonly Param[],
  body: (set: PySet, args: readonly Obj[]) => Obj,
): [string, Run] {
  return [
    name,
    native(
      name,
      ["self", ...params],
      ([self, ...args], { rest }) => body(asSet(self) ?? new PySet(), [...args, ...rest]),
    ),
  ];
}

/** Makes a new set of `set` and each of the others. */
function combiningMethod(name: string, combine: (set: PySet, other: PySet) => PySet): [string, Run] {
  return setMethod(
    name,
    ["*args"],
    (set, others) => others.reduce<PySet>((left, other) => combine(left, PySet.from(other)), new PySet(set.items())),
  );
}

/** Puts the items of such a set into `set` itself. */
function updating(name: string, combine: (set: PySet, other: PySet) => PySet): [string, Run] {
  return setMethod(name, ["*args"], (set, others) => {
    const items = others.reduce<PySet>((left, other) => combine(left, PySet.from(other)), new PySet(set.items()))
      .items();
    set.clear();
    for (const item of items) set.add(item);
    return null;
  });
}

function union(a: PySet, b: PySet): PySet {
  return new PySet([...a.items(), ...b.items()]);
}

function intersection(a: PySet, b: PySet): PySet {
  return new PySet(a.items().filter((item) => b.has(item)));
}

function difference(a: PySet, b: PySet): PySet {
  return new PySet(a.items().filter((item) => !b.has(item)));
}

function symmetric(a: PySet, b: PySet): PySet {
  return union(difference(a, b), difference(b, a));
}

/** The methods of set; the first argument is the set. */
export const SET_METHODS: ReadonlyMap<string, Run> = new Map<string, Run>([
  setMethod("add", ["item"], (set, [item]) => {
    set.add(item);
    return null;
  }),
  setMethod("clear", [], (set) => {
    set.clear();
    return null;
  }),
  setMethod("copy", [], (set) => new PySet(set.items())),
  combiningMethod("difference", difference),
  updating("difference_update", difference),
  setMethod("discard", ["item"], (set, [item]) => {
    set.delete(item);
    return null;
  }),
  combiningMethod("intersection", intersection),
  updating("intersection_update", intersection),
  setMethod("isdisjoint", ["other"], (set, [other]) => intersection(set, PySet.from(other)).length() === 0),
  setMethod("issubset", ["other"], (set, [other]) => difference(set, PySet.from(other)).length() === 0),
  setMethod("issuperset", ["other"], (set, [other]) => difference(PySet.from(other), set).length() === 0),
  setMethod("pop", [], (set) => {
    const [first] = set.items();
    if (first === undefined) throw pythonError("KeyError", "'pop from an empty set'");
    set.delete(first);
    return first;
  }),
  setMethod("remove", ["item"], (set, [item]) => {
    if (!set.delete(item)) throw pythonError("KeyError", reprOf(item));
    return null;
  }),
  combiningMethod("symmetric_difference", symmetric),
  updating("symmetric_difference_update", symmetric),
  combiningMethod("union", union),
  updating("update", union),
]);
