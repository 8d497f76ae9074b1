/**
 * Salt's filters for dicts: paths, entries, differences, queries.
 * Source: Salt 3008.3, `salt/utils/data.py`, `salt/utils/dictupdate.py`.
 * @module
 */

import { InvocationError } from "#lib/errors.ts";
import { Undefined } from "#lib/jinja/core/undefined.ts";
import { dictGet, dictHas, dictSet } from "#lib/python/dict.ts";
import { dictOf } from "./dict_of.ts";
import { isEqual } from "#lib/python/equality.ts";
import { pythonError } from "#lib/python/errors.ts";
import { isIterable, toList } from "#lib/python/iterate.ts";
import { intOf, isTruthy, textOf, typeNameOf } from "#lib/python/kinds.ts";
import { native } from "#lib/python/native.ts";
import { type CallContext, type Obj, type ObjMap, PyObject, type Result, type Run } from "#lib/python/object.ts";
import { reprOf } from "#lib/python/repr.ts";
import { toPlain } from "#lib/python/plain.ts";
import { loadQuery } from "#lib/output/query.ts";
import { yamlifyArg } from "#lib/yaml/arguments.ts";
import { isList, ValueSet } from "#lib/values/tuple.ts";
import type { Value } from "#lib/values/value.ts";
import { classText, needText, refuseUndefined, sequenceOf } from "./arguments.ts";

function needMap(obj: Obj): ObjMap {
  if (obj instanceof Map) return obj;
  refuseUndefined(obj);
  throw pythonError("AttributeError", `'${typeNameOf(obj)}' object has no attribute 'items'`);
}

/** Salt's `traverse_dict_and_list`: a step into a list is an index, or a key of one of the dicts in it. */
function traverse(data: Obj, key: Obj, delimiter: string): Obj | undefined {
  const text = textOf(key);
  const steps = text !== undefined ? text.split(delimiter) : intOf(key) !== undefined ? [key] : toList(key);
  let at: Obj | undefined = data;
  for (const step of steps) {
    at = isList(at) ? stepIntoList(at, step) : stepInto(at, step);
    if (at === undefined) return undefined;
  }
  return at;
}

function stepIntoList(list: readonly Obj[], step: Obj): Obj | undefined {
  const word = textOf(step);
  const index = word === undefined ? intOf(step) : /^\s*[+-]?\d+\s*$/.test(word) ? Number(word) : undefined;
  const key = index ?? step;
  for (const item of list) if (item instanceof Map && dictHas(item, key)) return dictGet(item, key);
  return index === undefined ? undefined : list.at(Number(index));
}

function stepInto(at: Obj, step: Obj): Obj | undefined {
  if (at instanceof Map) {
    if (dictHas(at, step)) return dictGet(at, step);
    // Salt tries the text as YAML: `1` finds the key 1.
    const word = textOf(step);
    return word === undefined ? undefined : dictGet(at, yamlifyArg(word));
  }
  refuseUndefined(at);
  const index = intOf(step);
  const items = textOf(at) ?? sequenceOf(at);
  return index === undefined || items === undefined ? undefined : [...items].at(Number(index));
}

/** The dict with the last key of the path `keys`, created if it does not exist, and that key. */
function lastDict(data: Obj, keys: string, delimiter: string): { readonly dict: ObjMap; readonly key: string } {
  const steps = keys.split(delimiter);
  let dict = needMap(data);
  for (const step of steps.slice(0, -1)) {
    const next = dictGet(dict, step);
    if (next instanceof Map) dict = next;
    else {
      const made: ObjMap = new Map();
      dictSet(dict, step, made);
      dict = made;
    }
  }
  return { dict, key: steps[steps.length - 1] };
}

type Put = (old: Obj | undefined, value: Obj) => Obj;

/** A filter that changes the value at the end of a path, and returns the whole dict. */
function atPath(name: string, put: Put): [string, Run] {
  return [
    name,
    native(name, ["in_dict", "keys", "value", ["delimiter", ":"], ["ordered_dict", false]], (
      [data, keys, value, delimiter],
    ) => {
      const { dict, key } = lastDict(data, needText(keys), needText(delimiter));
      dictSet(dict, key, put(dictGet(dict, key), value));
      return data;
    }),
  ];
}

function needListAt(old: Obj | undefined, what: string): Obj[] {
  if (old === undefined || old === null) return [];
  if (isList(old)) return old;
  throw new InvocationError(`The last key contains a ${classText(old)}, which cannot ${what}.`);
}

function updateDict(old: Obj | undefined, value: Obj): Obj {
  const dict: Obj = old === undefined || old === null ? new Map() : old;
  if (!(dict instanceof Map)) {
    throw new InvocationError(`The last key contains a ${classText(dict)}, which cannot update.`);
  }
  const pairs = value instanceof Map ? [...value] : pairsOf(value);
  if (pairs === undefined) {
    throw new InvocationError(`Cannot update ${classText(dict)} with a ${classText(value)}.`);
  }
  for (const [key, item] of pairs) dictSet(dict, key, item);
  return dict;
}

function pairsOf(value: Obj): [Obj, Obj][] | undefined {
  if (!isIterable(value)) return undefined;
  const pairs = toList(value).map((pair) => isIterable(pair) ? toList(pair) : []);
  return pairs.every((pair) => pair.length === 2) ? pairs.map(([key, item]) => [key, item]) : undefined;
}

function compareDicts(old: Obj, now: Obj): ObjMap {
  const before = old === null ? new Map<Obj, Obj>() : needMap(old);
  const after = now === null ? new Map<Obj, Obj>() : needMap(now);
  const changes: ObjMap = new Map();
  for (const [key, value] of after) {
    const old = dictGet(before, key);
    if (old === undefined) dictSet(changes, key, dictOf([["old", ""], ["new", value]]));
    else if (!isEqual(old, value)) dictSet(changes, key, dictOf([["old", old], ["new", value]]));
  }
  for (const [key, value] of before) {
    if (!dictHas(after, key)) dictSet(changes, key, dictOf([["new", ""], ["old", value]]));
  }
  return changes;
}

function toEntries(data: Obj): Obj {
  const entry = (key: Obj, value: Obj) => dictOf([["key", key], ["value", value]]);
  if (data instanceof Map) return Array.from(data, ([key, value]) => entry(key, value));
  if (Array.isArray(data) && !(data instanceof ValueSet)) return data.map((value, i) => entry(i, value));
  refuseUndefined(data);
  throw pythonError("RuntimeError", "Input data must be a dict or list");
}

function fromEntries(entries: Obj): ObjMap {
  const dict: ObjMap = new Map();
  for (const entry of toList(entries)) {
    if (!isIterable(entry)) throw pythonError("TypeError", `'${typeNameOf(entry)}' object is not iterable`);
    const lower = dictOf(Array.from(needMap(entry), ([key, value]) => [textOf(key)?.toLowerCase() ?? key, value]));
    const key = [dictGet(lower, "key"), dictGet(lower, "name")].find((one) => one !== undefined && isTruthy(one));
    if (key !== undefined) dictSet(dict, key, dictGet(lower, "value") ?? null);
  }
  return dict;
}

/** Maximum depth for converting texts. */
const DEEPEST = 200;

/** Salt's `encode_dict` and `encode_list`: every str, keys too, becomes bytes; tuples become lists. */
function encodeObject(obj: Obj, depth = 0): Obj {
  if (depth > DEEPEST) throw pythonError("RecursionError", "maximum recursion depth exceeded");
  const text = textOf(obj);
  if (text !== undefined) return new TextEncoder().encode(text);
  if (obj instanceof Map) {
    return dictOf(
      Array.from(obj, ([key, value]) => [encodeObject(key, depth + 1), encodeObject(value, depth + 1)] as const),
    );
  }
  return sequenceOf(obj)?.map((item) => encodeObject(item, depth + 1)) ?? obj;
}

const encodeDict: Run = native("encode_dict", ["data"], ([data]) => encodeObject(needMap(data)));
const encodeList: Run = native("encode_list", ["data"], ([data]) => encodeObject(toList(data)));

function mysqlRows(lines: Obj, key: Obj, context: CallContext): Result {
  const rows: ObjMap = new Map();
  let headers: readonly string[] = [];
  for (const item of toList(lines)) {
    const line = needText(item);
    if (line === "" || line.startsWith("+")) continue;
    const cells = line.split("|").map((cell) => cell.trim());
    if (headers.length < 2) {
      headers = cells;
      continue;
    }
    const row: ObjMap = new Map();
    for (let i = 1; i < headers.length - 1; i++) {
      if (i >= cells.length) throw pythonError("IndexError", "list index out of range");
      const number = context.filter("to_num", [cells[i]], new Map());
      dictSet(row, headers[i], number instanceof Promise ? cells[i] : number);
    }
    const own = dictGet(row, key);
    if (own === undefined) throw pythonError("KeyError", reprOf(key));
    dictSet(rows, own, row);
  }
  return rows;
}

/** JMESPath's library is loaded with the first query. */
async function jsonQuery(data: Obj, expression: string): Promise<Value> {
  const query = await loadQuery(expression, { asker: "json_query", onlyLists: true });
  return query(toPlain(data));
}

/** The filters by name. */
export const DICT_FILTERS: ReadonlyMap<string, Run> = new Map<string, Run>([
  [
    "traverse",
    native("traverse_dict_and_list", ["data", "key", ["default", null], ["delimiter", ":"]], (
      [data, key, fallback, delimiter],
    ) => {
      const value = traverse(data, key, needText(delimiter));
      return value === undefined ? fallback : value;
    }),
  ],
  atPath("set_dict_key_value", (_old, value) => value),
  atPath("update_dict_key_value", updateDict),
  atPath("append_dict_key_value", (old, value) => {
    const list = needListAt(old, "append");
    list.push(value);
    return list;
  }),
  atPath("extend_dict_key_value", (old, value) => {
    const list = needListAt(old, "extend");
    if (!isIterable(value)) throw new InvocationError(`Cannot extend ${classText(list)} with a ${classText(value)}.`);
    for (const item of toList(value)) list.push(item);
    return list;
  }),
  ["compare_dicts", native("compare_dicts", [["old", null], ["new", null]], ([old, now]) => compareDicts(old, now))],
  ["to_entries", native("to_entries", ["data"], ([data]) => toEntries(data))],
  ["from_entries", native("from_entries", ["entries"], ([entries]) => fromEntries(entries))],
  ["json_encode_dict", encodeDict],
  ["json_decode_dict", encodeDict],
  ["json_encode_list", encodeList],
  ["json_decode_list", encodeList],
  [
    "mysql_to_dict",
    native("mysql_to_dict", ["data", "key"], ([data, key], { context }) => mysqlRows(data, key, context)),
  ],
  ["json_query", native("json_query", ["data", "expr"], ([data, expr]) => jsonQuery(data, needText(expr)))],
  [
    "method_call",
    native("method_call", ["obj", "f_name", "*args", "**kwargs"], ([obj, name], { rest, kwargs, context }) => {
      const method = context.attribute(obj, needText(name));
      const call = (method: Obj): Result =>
        method instanceof PyObject && !(method instanceof Undefined) ? method.call(rest, kwargs, context) : null;
      return method instanceof Promise ? method.then(call) : call(method);
    }),
  ],
]);
