/**
 * Jinja's filters on lists and maps. Those that give generators in Python go through their input at once here: an error
 * in it is raised by the filter, not by what reads its result. Source: jinja2 3.1, "List of Builtin Filters".
 * @module
 */

import { sortBy } from "#lib/python/compare.ts";
import { isEqual } from "#lib/python/equality.ts";
import { checkItems, pythonError } from "#lib/python/errors.ts";
import { isIterable, iterate, toList } from "#lib/python/iterate.ts";
import { indexOf, isTruthy, lengthOf, textOf, typeNameOf } from "#lib/python/kinds.ts";
import { Markup } from "#lib/python/markup.ts";
import { native } from "#lib/python/native.ts";
import { type CallContext, type Obj, PyObject, type Result, type Run } from "#lib/python/object.ts";
import { binary } from "#lib/python/operators.ts";
import { strOf } from "#lib/python/repr.ts";
import { extreme } from "#lib/python/sequence_methods.ts";
import { PySet } from "#lib/python/set.ts";
import { joinTexts } from "#lib/python/str_methods.ts";
import { getItem } from "#lib/python/subscript.ts";
import { NamedTuple, Tuple, ValueSet } from "#lib/values/tuple.ts";
import { DictView, PyIterator, PyRange } from "#lib/python/views.ts";
import { escapeValue, isSafe } from "./autoescape.ts";
import { filterArgumentError } from "./errors.ts";
import { mapAll, then } from "./results.ts";
import { Undefined } from "./undefined.ts";

/** A closure that reads an attribute of an item: `a.b`, `a.0`, an index. */
type Getter = (item: Obj, context: CallContext) => Result;

function attributeParts(attribute: Obj): Obj[] {
  const text = textOf(attribute);
  if (text === undefined) return attribute === null ? [] : [attribute];
  return text.split(".").map((part) => /^\d+$/.test(part) ? Number(part) : part);
}

/** @param fallback For an attribute that is not defined; None: there is none. */
function attributeGetter(attribute: Obj, fallback: Obj = null): Getter {
  const parts = attributeParts(attribute);
  return (item, context) => {
    const step = (value: Obj, i: number): Result =>
      i === parts.length
        ? value
        : then(context.item(value, parts[i]), (item) =>
          step(fallback !== null && item instanceof Undefined ? fallback : item, i + 1));
    return step(item, 0);
  };
}

function ignoreCase(value: Obj): Obj {
  return textOf(value)?.toLowerCase() ?? value;
}

interface Keyed {
  readonly key: Obj;
  readonly item: Obj;
}

/** The items with their keys. */
function withKeys(items: Obj, keyOf: (item: Obj) => Result): Keyed[] | Promise<Keyed[]> {
  const list = toList(items);
  return then(mapAll(list[Symbol.iterator](), keyOf), (keys) => list.map((item, i) => ({ item, key: keys[i] })));
}

/** A closure that makes the key of an item from one attribute. */
function keyBy(attribute: Obj, caseSensitive: Obj, context: CallContext, fallback: Obj = null): (item: Obj) => Result {
  const getter = attributeGetter(attribute, fallback);
  return (item) => then(getter(item, context), (value) => isTruthy(caseSensitive) ? value : ignoreCase(value));
}

function sortFilter(
  value: Obj,
  how: { reverse: Obj; caseSensitive: Obj; attribute: Obj },
  context: CallContext,
): Result {
  const names = textOf(how.attribute)?.split(",") ?? [how.attribute];
  const keys = names.map((name) => keyBy(name, how.caseSensitive, context));
  const keyOf = keys.length === 1
    ? keys[0]
    : (item: Obj): Result => mapAll(keys[Symbol.iterator](), (key) => key(item));
  return then(withKeys(value, keyOf), (items): Obj => sortBy(items, isTruthy(how.reverse)));
}

function groupBy(value: Obj, how: { attribute: Obj; fallback: Obj; caseSensitive: Obj }, context: CallContext): Result {
  const keyOf = keyBy(how.attribute, how.caseSensitive, context, how.fallback);
  const nameOf = attributeGetter(how.attribute, how.fallback);
  return then(withKeys(value, keyOf), (items) => {
    const groups: { key: Obj; items: Obj[] }[] = [];
    for (const { key, item } of sortBy(items.map((each) => ({ key: each.key, item: each })), false)) {
      const last = groups.at(-1);
      if (last !== undefined && isEqual(last.key, key)) last.items.push(item);
      else groups.push({ key, items: [item] });
    }
    return mapAll(
      groups[Symbol.iterator](),
      (group) =>
        then(
          isTruthy(how.caseSensitive) ? group.key : nameOf(group.items[0], context),
          (name) => new NamedTuple([name, group.items], ["grouper", "list"]),
        ),
    );
  });
}

function unique(value: Obj, keyOf: (item: Obj) => Result): Result {
  return then(withKeys(value, keyOf), (items) => {
    const seen = new PySet();
    return new PyIterator(
      items.filter(({ key }) => {
        if (seen.has(key)) return false;
        seen.add(key);
        return true;
      }).map(({ item }) => item),
    );
  });
}

function extremeFilter(kind: "min" | "max"): [string, Run] {
  const params = ["value", ["case_sensitive", false], ["attribute", null]] as const;
  return [
    kind,
    native(
      `do_${kind}`,
      params,
      ([value, caseSensitive, attribute], { context }) =>
        then(
          withKeys(value, keyBy(attribute, caseSensitive, context)),
          (items) =>
            items.length === 0 ? context.undefined("No aggregated item, sequence was empty.") : extreme(kind, items),
        ),
    ),
  ];
}

/** Whether Python can go through it backwards. */
function isReversible(obj: Obj): boolean {
  if (obj instanceof PyObject) {
    return obj instanceof PyRange || obj instanceof DictView || obj instanceof Markup;
  }
  if (obj instanceof ValueSet) return false;
  return Array.isArray(obj) || obj instanceof Map || typeof obj === "string" || obj instanceof Uint8Array;
}

function reverse(value: Obj): Obj {
  const text = textOf(value);
  if (text !== undefined) {
    const reversed = [...text].reverse().join("");
    return value instanceof Markup ? new Markup(reversed) : reversed;
  }
  if (!isIterable(value)) throw filterArgumentError("argument must be iterable");
  const items = toList(value).reverse();
  return isReversible(value) ? new PyIterator(items, "list_reverseiterator") : items;
}

function last(value: Obj, context: CallContext): Obj {
  if (value instanceof Undefined) value.length();
  if (!isReversible(value) && !(value instanceof Undefined)) {
    throw pythonError("TypeError", `'${typeNameOf(value)}' object is not reversible`);
  }
  const item = toList(value).at(-1);
  return item === undefined ? context.undefined("No last item, sequence was empty.") : item;
}

/** Chunks of `count` items. */
function batch(value: Obj, count: number, fill: Obj): Obj {
  const rows: Obj[][] = [];
  for (const item of toList(value)) {
    const row = rows.at(-1);
    if (row === undefined || row.length === count) rows.push([item]);
    else row.push(item);
  }
  const lastRow = rows.at(-1);
  if (fill !== null && lastRow !== undefined && lastRow.length < count) {
    checkItems(count);
    while (lastRow.length < count) lastRow.push(fill);
  }
  return new PyIterator(rows);
}

/** Splits a value into `count` lists of about the same length. */
function slices(value: Obj, count: number, fill: Obj): Obj {
  const items = toList(value);
  if (count === 0) throw pythonError("ZeroDivisionError", "integer division or modulo by zero");
  checkItems(count);
  const size = Math.floor(items.length / count), longer = items.length % count;
  const rows: Obj[] = [];
  let at = 0;
  for (let i = 0; i < count; i++) {
    const end = at + size + (i < longer ? 1 : 0);
    const row = items.slice(at, end);
    if (fill !== null && i >= longer) row.push(fill);
    rows.push(row);
    at = end;
  }
  return new PyIterator(rows);
}

function dictSort(value: Obj, how: { caseSensitive: Obj; by: Obj; reverse: Obj }): Obj {
  const by = textOf(how.by);
  if (by !== "key" && by !== "value") throw filterArgumentError('You can only sort by either "key" or "value"');
  if (!(value instanceof Map)) {
    if (value instanceof PyObject) value.checkOperand();
    throw pythonError("AttributeError", `'${typeNameOf(value)}' object has no attribute 'items'`);
  }
  const items = Array.from(value, ([key, item]) => {
    const wanted = by === "key" ? key : item;
    return { key: isTruthy(how.caseSensitive) ? wanted : ignoreCase(wanted), item: new Tuple([key, item]) };
  });
  return sortBy(items, isTruthy(how.reverse));
}

/** `map`: a filter, or an attribute, of each item. */
const mapFilter: Run = (args, kwargs, context) => {
  const [value, name, ...rest] = args;
  if (!isTruthy(value)) return new PyIterator([]);
  let make: (item: Obj) => Result;
  if (name === undefined && kwargs.has("attribute")) {
    const extra = [...kwargs.keys()].find((key) => key !== "attribute" && key !== "default");
    if (extra !== undefined) throw filterArgumentError(`Unexpected keyword argument '${extra}'`);
    const getter = attributeGetter(kwargs.get("attribute") ?? null, kwargs.get("default") ?? null);
    make = (item) => getter(item, context);
  } else {
    const filter = name === undefined ? undefined : textOf(name);
    if (filter === undefined) throw filterArgumentError("map requires a filter argument");
    make = (item) => context.filter(filter, [item, ...rest], kwargs);
  }
  return then(mapAll(iterate(value), make), (items) => new PyIterator(items));
};

/** `select`, `reject`, `selectattr`, `rejectattr`. */
function selectFilter(wanted: boolean, byAttribute: boolean): Run {
  return (args, kwargs, context) => {
    const [value, ...filterArgs] = args;
    if (!isTruthy(value)) return new PyIterator([]);
    if (byAttribute && filterArgs.length === 0) throw filterArgumentError("Missing parameter for attribute name");
    const getter = byAttribute ? attributeGetter(filterArgs[0]) : (item: Obj): Result => item;
    const [name, ...rest] = byAttribute ? filterArgs.slice(1) : filterArgs;
    const test = name === undefined ? undefined : strOf(name);
    const list = toList(value);
    const decide = (item: Obj): Result =>
      then(getter(item, context), (value) => test === undefined ? value : context.test(test, [value, ...rest], kwargs));
    return then(
      mapAll(list[Symbol.iterator](), decide),
      (answers) => new PyIterator(list.filter((_, i) => isTruthy(answers[i]) === wanted)),
    );
  };
}

function sum(items: readonly Obj[], start: Obj, context: CallContext): Obj {
  if (textOf(start) !== undefined) throw pythonError("TypeError", "sum() can't sum strings [use ''.join(seq) instead]");
  return items.reduce((total, item) => binary("+", total, item, context), start);
}

function randomItem(seq: Obj, context: CallContext): Result {
  const length = lengthOf(seq);
  if (length === 0) return context.undefined("No random item, sequence was empty.");
  return then(getItem(seq, Math.floor(Math.random() * length)), (item): Obj => item ?? null);
}

/**
 * Joins texts in an escaping template: if one text is marked as safe, the others are escaped and the result is marked.
 */
function joinSafely(separator: Obj, items: readonly Obj[]): Obj {
  if (!isSafe(separator) && !items.some(isSafe)) return joinTexts(strOf(separator), items.map(strOf));
  return new Markup(joinTexts(escapeValue(separator).text, items.map((item) => escapeValue(item).text)));
}

/** Jinja's filters for lists and maps, by name; `args[0]` is the value. */
export const SEQUENCE_FILTERS: ReadonlyMap<string, Run> = new Map<string, Run>([
  [
    "batch",
    native(
      "do_batch",
      ["value", "linecount", ["fill_with", null]],
      ([value, count, fill]) => batch(value, indexOf(count), fill),
    ),
  ],
  ["count", native("len", ["obj"], ([value]) => lengthOf(value))],
  [
    "dictsort",
    native(
      "do_dictsort",
      ["value", ["case_sensitive", false], ["by", "key"], ["reverse", false]],
      ([value, caseSensitive, by, reversed]) => dictSort(value, { caseSensitive, by, reverse: reversed }),
    ),
  ],
  [
    "first",
    native("do_first", ["seq"], ([seq], { context }) => {
      const next = iterate(seq).next();
      return next.done === true ? context.undefined("No first item, sequence was empty.") : next.value;
    }),
  ],
  [
    "groupby",
    native(
      "do_groupby",
      ["value", "attribute", ["default", null], ["case_sensitive", false]],
      ([value, attribute, fallback, caseSensitive], { context }) =>
        groupBy(value, { attribute, fallback, caseSensitive }, context),
    ),
  ],
  [
    "items",
    native("do_items", ["value"], ([value]) => {
      if (value instanceof Undefined) return new PyIterator([]);
      if (!(value instanceof Map)) throw pythonError("TypeError", "Can only get item pairs from a mapping.");
      return new PyIterator(toList(new DictView(value, "items")));
    }),
  ],
  [
    "join",
    native("do_join", ["value", ["d", ""], ["attribute", null]], ([value, separator, attribute], { context }) => {
      const getter = attributeGetter(attribute);
      return then(
        mapAll(iterate(value), (item) => getter(item, context)),
        (items) => context.autoescape ? joinSafely(separator, items) : joinTexts(strOf(separator), items.map(strOf)),
      );
    }),
  ],
  ["last", native("do_last", ["seq"], ([seq], { context }) => last(seq, context))],
  ["length", native("len", ["obj"], ([value]) => lengthOf(value))],
  ["list", native("do_list", ["value"], ([value]) => toList(value))],
  ["map", mapFilter],
  extremeFilter("max"),
  extremeFilter("min"),
  ["random", native("do_random", ["seq"], ([seq], { context }) => randomItem(seq, context))],
  ["reject", selectFilter(false, false)],
  ["rejectattr", selectFilter(false, true)],
  ["reverse", native("do_reverse", ["value"], ([value]) => reverse(value))],
  ["select", selectFilter(true, false)],
  ["selectattr", selectFilter(true, true)],
  [
    "slice",
    native(
      "do_slice",
      ["value", "slices", ["fill_with", null]],
      ([value, count, fill]) => slices(value, indexOf(count), fill),
    ),
  ],
  [
    "sort",
    native(
      "do_sort",
      ["value", ["reverse", false], ["case_sensitive", false], ["attribute", null]],
      ([value, reversed, caseSensitive, attribute], { context }) =>
        sortFilter(value, { reverse: reversed, caseSensitive, attribute }, context),
    ),
  ],
  [
    "sum",
    native("do_sum", ["iterable", ["attribute", null], ["start", 0]], ([value, attribute, start], { context }) => {
      const getter = attributeGetter(attribute);
      return then(mapAll(iterate(value), (item) => getter(item, context)), (items) => sum(items, start, context));
    }),
  ],
  [
    "unique",
    native(
      "do_unique",
      ["value", ["case_sensitive", false], ["attribute", null]],
      ([value, caseSensitive, attribute], { context }) => unique(value, keyBy(attribute, caseSensitive, context)),
    ),
  ],
]);
