/**
 * `obj[key]` and slices.
 * @module
 */

import { dictGet } from "./dict.ts";
import { pythonError } from "./errors.ts";
import { hasSurrogates, indexOf, intOf, typeNameOf } from "./kinds.ts";
import { Markup } from "./markup.ts";
import { type LookupResult, type Obj, PyObject } from "./object.ts";
import { sequenceLike, sequenceTypeName, ValueSet } from "#lib/values/tuple.ts";
import { PyRange } from "./views.ts";

/**
 * The item under `key`; `undefined` if there is none (Python's LookupError).
 * @throws {PythonError} TypeError if the object has no items, or none of such a key.
 */
export function getItem(obj: Obj, key: Obj): LookupResult {
  if (obj instanceof Map) return dictGet(obj, key);
  if (Array.isArray(obj)) {
    if (obj instanceof ValueSet) throw notSubscriptable(obj);
    return obj.at(place(obj.length, key, sequenceTypeName(obj)));
  }
  if (typeof obj === "string") return charAt(obj, key);
  if (obj instanceof Uint8Array) return obj.at(place(obj.length, key, "bytes"));
  if (obj instanceof Markup) {
    const char = charAt(obj.text, key);
    return char === undefined ? undefined : new Markup(char);
  }
  if (obj instanceof PyObject) return obj.getitem(key);
  throw notSubscriptable(obj);
}

function notSubscriptable(obj: Obj): Error {
  return pythonError("TypeError", `'${typeNameOf(obj)}' object is not subscriptable`);
}

/** An index for `at`. One below the range becomes `length`, for which `at` finds nothing. */
function place(length: number, key: Obj, type: string): number {
  if (intOf(key) === undefined) {
    throw pythonError(
      "TypeError",
      type === "bytes"
        ? `byte indices must be integers or slices, not ${typeNameOf(key)}`
        : `${type} indices must be integers or slices, not ${typeNameOf(key)}`,
    );
  }
  const index = indexOf(key);
  return index < -length ? length : index;
}

function charAt(text: string, key: Obj): string | undefined {
  if (intOf(key) === undefined) {
    throw pythonError("TypeError", `string indices must be integers, not '${typeNameOf(key)}'`);
  }
  if (!hasSurrogates(text)) return text.at(indexOf(key));
  return [...text].at(indexOf(key));
}

/** Python's `obj[start:stop:step]`; None stands for a missing bound. */
export function slice(obj: Obj, start: Obj, stop: Obj, step: Obj): Obj {
  if (Array.isArray(obj) && !(obj instanceof ValueSet)) {
    return sequenceLike(obj, sliceItems(obj, bounds(obj.length, start, stop, step)));
  }
  if (typeof obj === "string") return sliceText(obj, start, stop, step);
  if (obj instanceof Markup) return new Markup(sliceText(obj.text, start, stop, step));
  if (obj instanceof Uint8Array) return new Uint8Array(sliceItems([...obj], bounds(obj.length, start, stop, step)));
  if (obj instanceof PyRange) {
    const { from, to, by } = bounds(obj.count, start, stop, step);
    return new PyRange(obj.start + from * obj.step, obj.start + to * obj.step, obj.step * by);
  }
  if (obj instanceof PyObject) obj.checkOperand();
  if (obj instanceof Map) throw pythonError("TypeError", "unhashable type: 'slice'");
  throw notSubscriptable(obj);
}

function sliceText(text: string, start: Obj, stop: Obj, step: Obj): string {
  if (hasSurrogates(text)) {
    const chars = [...text];
    return sliceItems(chars, bounds(chars.length, start, stop, step)).join("");
  }
  const { from, to, by } = bounds(text.length, start, stop, step);
  if (by === 1) return text.slice(from, Math.max(from, to));
  return sliceItems(text.split(""), { from, to, by }).join("");
}

interface Bounds {
  readonly from: number;
  readonly to: number;
  readonly by: number;
}

function sliceItems<T>(items: readonly T[], { from, to, by }: Bounds): T[] {
  if (by === 1) return items.slice(from, Math.max(from, to));
  const picked: T[] = [];
  for (let i = from; by > 0 ? i < to : i > to; i += by) picked.push(items[i]);
  return picked;
}

/** The bounds of a slice of a sequence of this length. */
function bounds(length: number, start: Obj, stop: Obj, step: Obj): Bounds {
  const by = step === null ? 1 : sliceIndex(step);
  if (by === 0) throw pythonError("ValueError", "slice step cannot be zero");
  const lowest = by > 0 ? 0 : -1;
  const highest = by > 0 ? length : length - 1;
  const clamp = (obj: Obj): number => {
    const index = sliceIndex(obj);
    return Math.min(Math.max(index < 0 ? index + length : index, lowest), highest);
  };
  return {
    from: start === null ? (by > 0 ? lowest : highest) : clamp(start),
    to: stop === null ? (by > 0 ? highest : lowest) : clamp(stop),
    by,
  };
}

function sliceIndex(obj: Obj): number {
  if (intOf(obj) === undefined) {
    throw pythonError("TypeError", "slice indices must be integers or None or have an __index__ method");
  }
  return indexOf(obj);
}
