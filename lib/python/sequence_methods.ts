/**
 * The methods of list, tuple and bytes. Those of a list change it in place, as in Python.
 * Source: docs.python.org, "Sequence Types".
 * @module
 */

import { compareByOperator, sortBy } from "./compare.ts";
import { isEqual } from "./equality.ts";
import { checkItems, pythonError } from "./errors.ts";
import { toList } from "./iterate.ts";
import { indexOf, isTruthy, textOf } from "./kinds.ts";
import { native, type Param } from "./native.ts";
import { NO_KWARGS, type Obj, PyObject, type Result, type Run } from "./object.ts";
import { reprOf } from "./repr.ts";
import { strictUtf8 } from "#lib/text/strict_utf8.ts";
import { byteText } from "#lib/values/code_points.ts";
import { Tuple } from "#lib/values/tuple.ts";

function same(a: Obj, b: Obj): boolean {
  return a === b || isEqual(a, b);
}

function listMethod(
  name: string,
  params: readonly Param[],
  body: (list: Obj[], args: readonly Obj[]) => Obj,
): [string, Run] {
  return [name, native(name, ["self", ...params], ([self, ...args]) => body(self as Obj[], args), "list")];
}

function find(items: readonly Obj[], [wanted, start, end]: readonly Obj[], refusal: string): number {
  const boundIndex = (obj: Obj, missing: number): number => {
    const index = obj === null ? missing : indexOf(obj);
    return index < 0 ? Math.max(0, index + items.length) : index;
  };
  for (let i = boundIndex(start, 0); i < Math.min(boundIndex(end, items.length), items.length); i++) {
    if (same(items[i], wanted)) return i;
  }
  throw pythonError("ValueError", refusal);
}

/** Adds items at the end, in place. */
function extend(list: Obj[], items: readonly Obj[]): void {
  checkItems(list.length + items.length);
  for (const item of items) list.push(item);
}

const SEARCH: readonly Param[] = ["value", ["start", null], ["stop", null]];

/** The methods of list; the first argument is the list. */
export const LIST_METHODS: ReadonlyMap<string, Run> = new Map([
  listMethod("append", ["object"], (list, [item]) => {
    checkItems(list.length + 1);
    list.push(item);
    return null;
  }),
  listMethod("clear", [], (list) => {
    list.length = 0;
    return null;
  }),
  listMethod("copy", [], (list) => [...list]),
  listMethod("count", ["value"], (list, [wanted]) => list.filter((item) => same(item, wanted)).length),
  listMethod("extend", ["iterable"], (list, [items]) => {
    extend(list, toList(items));
    return null;
  }),
  listMethod("index", SEARCH, (list, args) => find(list, args, `${reprOf(args[0])} is not in list`)),
  listMethod("insert", ["index", "object"], (list, [index, item]) => {
    checkItems(list.length + 1);
    list.splice(indexOf(index), 0, item);
    return null;
  }),
  listMethod("pop", [["index", -1]], (list, [index]) => {
    if (list.length === 0) throw pythonError("IndexError", "pop from empty list");
    const place = indexOf(index);
    const at = place < 0 ? place + list.length : place;
    if (at < 0 || at >= list.length) throw pythonError("IndexError", "pop index out of range");
    return list.splice(at, 1)[0];
  }),
  listMethod("remove", ["value"], (list, [wanted]) => {
    const at = list.findIndex((item) => same(item, wanted));
    if (at < 0) throw pythonError("ValueError", "list.remove(x): x not in list");
    list.splice(at, 1);
    return null;
  }),
  listMethod("reverse", [], (list) => {
    list.reverse();
    return null;
  }),
  [
    "sort",
    native("sort", ["self", ["key", null], ["reverse", false]], ([self, key, reverse], { context }): Result => {
      const list = self as Obj[];
      const keyed = list.map((item) => {
        const value = key === null ? item : key instanceof PyObject ? key.call([item], NO_KWARGS, context) : item;
        if (value instanceof Promise) throw pythonError("TypeError", "the key of sort cannot wait for a function");
        return { key: value, item };
      });
      const sorted = sortBy(keyed, isTruthy(reverse));
      list.length = 0;
      extend(list, sorted);
      return null;
    }),
  ],
]);

/** The methods of tuple; the first argument is the tuple. */
export const TUPLE_METHODS: ReadonlyMap<string, Run> = new Map<string, Run>([
  [
    "count",
    native("count", ["self", "value"], ([self, wanted]) => itemsOf(self).filter((item) => same(item, wanted)).length),
  ],
  [
    "index",
    native(
      "index",
      ["self", ...SEARCH],
      ([self, ...args]) => find(itemsOf(self), args, "tuple.index(x): x not in tuple"),
    ),
  ],
]);

function itemsOf(tuple: Obj): readonly Obj[] {
  return tuple instanceof Tuple ? tuple : [];
}

function asciiText(bytes: Uint8Array, errors: string): string {
  const at = bytes.findIndex((byte) => byte >= 0x80);
  if (at >= 0 && errors === "strict") {
    const why = `can't decode byte 0x${bytes[at].toString(16)} in position ${at}: ordinal not in range(128)`;
    throw pythonError("UnicodeDecodeError", `'ascii' codec ${why}`);
  }
  return byteText(bytes).replaceAll(/[\x80-\xff]/g, () => errors === "ignore" ? "" : "\ufffd");
}

function utf8Text(bytes: Uint8Array, errors: string): string {
  const text = strictUtf8(bytes);
  if (text !== undefined) return text;
  if (errors === "strict") throw pythonError("UnicodeDecodeError", "'utf-8' codec can't decode the bytes");
  const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  if (errors !== "ignore") return decoder.decode(bytes);
  // A U+FFFD that is in the bytes stays.
  const parts = byteText(bytes).split("\xef\xbf\xbd").map((part) => Uint8Array.from(part, (at) => at.charCodeAt(0)));
  return parts.map((part) => decoder.decode(part).replaceAll("\ufffd", "")).join("\ufffd");
}

/** The methods of bytes that templates need: texts and hexadecimal digits of them. */
export const BYTES_METHODS: ReadonlyMap<string, Run> = new Map<string, Run>([
  [
    "decode",
    native("decode", ["self", ["encoding", "utf-8"], ["errors", "strict"]], ([self, encoding, errors]) => {
      const name = (textOf(encoding) ?? "").toLowerCase().replaceAll("_", "-");
      const bytes = self as Uint8Array<ArrayBuffer>, how = textOf(errors) ?? "";
      if (name === "latin-1" || name === "iso-8859-1") return byteText(bytes);
      if (name === "ascii") return asciiText(bytes, how);
      if (name === "utf-8" || name === "utf8") return utf8Text(bytes, how);
      throw pythonError("LookupError", `unknown encoding: ${name}`);
    }),
  ],
  [
    "hex",
    native(
      "hex",
      ["self"],
      ([self]) => Array.from(self as Uint8Array, (byte) => byte.toString(16).padStart(2, "0")).join(""),
    ),
  ],
]);

/** The largest or the smallest of items, of which there is one at least. */
export function extreme(kind: "min" | "max", items: readonly { readonly key: Obj; readonly item: Obj }[]): Obj {
  let best = items[0];
  for (const each of items.slice(1)) if (compareByOperator(kind === "min" ? "<" : ">", each.key, best.key)) best = each;
  return best.item;
}
