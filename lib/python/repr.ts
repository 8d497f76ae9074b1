/**
 * Python's `repr` and `str` of every object.
 * @module
 */

import { countStep } from "#lib/values/stop_word.ts";
import { Tuple, ValueSet } from "#lib/values/tuple.ts";
import { repr as valueRepr } from "#lib/values/value.ts";
import { checkText, pythonError } from "./errors.ts";
import { type Obj, PyObject } from "./object.ts";

/** Ints with more digits are not written, as in Python. */
const MAX_DIGITS = 4300;
/** More bits than 4300 digits have. */
const MAX_BITS = 14_300n;

/** The containers that are being written: one that contains itself is `[...]`. */
const active: Obj[] = [];

/** Python's `reprOf(obj)`. */
export function reprOf(obj: Obj): string {
  if (typeof obj === "string") return valueRepr(obj);
  if (obj instanceof PyObject) return obj.repr();
  if (obj instanceof Tuple) return `(${within(obj, () => reprItems(obj), "...")}${obj.length === 1 ? "," : ""})`;
  if (obj instanceof ValueSet) {
    return obj.length === 0 ? "set()" : within(obj, () => `{${reprItems(obj)}}`, "set(...)");
  }
  if (Array.isArray(obj)) return `[${within(obj, () => reprItems(obj), "...")}]`;
  if (obj instanceof Map) {
    return `{${within(obj, () => joinBounded(obj, ([key, item]) => `${reprOf(key)}: ${reprOf(item)}`), "...")}}`;
  }
  if (typeof obj === "bigint") return intText(obj);
  return valueRepr(obj);
}

/** Python's `strOf(obj)`. */
export function strOf(obj: Obj): string {
  if (typeof obj === "string") return obj;
  return obj instanceof PyObject ? obj.str() : reprOf(obj);
}

/** The items as they are between the brackets of a list. */
export function reprItems(items: Iterable<Obj>): string {
  return joinBounded(items, reprOf);
}

function joinBounded<T>(items: Iterable<T>, text: (item: T) => string): string {
  let out = "";
  for (const item of items) {
    out += out === "" ? text(item) : `, ${text(item)}`;
    checkText(out.length);
  }
  return out;
}

/** Writes a container by `write`, or `again` if it is being written already. */
export function within(container: Obj, write: () => string, again: string): string {
  countStep();
  if (active.includes(container)) return again;
  active.push(container);
  try {
    return write();
  } finally {
    active.pop();
  }
}

function intText(int: bigint): string {
  const size = int < 0n ? -int : int;
  if (size >> MAX_BITS === 0n) {
    const text = String(int);
    if (text.length <= MAX_DIGITS) return text;
  }
  throw pythonError(
    "ValueError",
    `Exceeds the limit (${MAX_DIGITS} digits) for integer string conversion; use sys.set_int_max_str_digits() to increase the limit`,
  );
}

/** `reprOf(obj)` with what is not ASCII escaped. */
export function asciiRepr(obj: Obj): string {
  return reprOf(obj).replace(/[\x80-\u{10ffff}]/gu, (char) => {
    const code = char.codePointAt(0) ?? 0;
    if (code < 0x100) return `\\x${code.toString(16).padStart(2, "0")}`;
    if (code < 0x10000) return `\\u${code.toString(16).padStart(4, "0")}`;
    return `\\U${code.toString(16).padStart(8, "0")}`;
  });
}
