/**
 * Jinja's filters on numbers.
 * Source: jinja2 3.1, "List of Builtin Filters".
 * @module
 */

import { float, int } from "#lib/values/value.ts";
import { arithmetic, negate, toFloat } from "#lib/python/arithmetic.ts";
import { isPythonError, pythonError } from "#lib/python/errors.ts";
import { divideRounded, fixedText, roundFloat } from "#lib/python/float_text.ts";
import { floatOf, indexOf, intOf, isTruthy, textOf, typeNameOf } from "#lib/python/kinds.ts";
import { native } from "#lib/python/native.ts";
import { type Obj, PyObject, type Run } from "#lib/python/object.ts";
import { parseFloatText, parseInteger } from "#lib/python/parse_number.ts";
import { strOf } from "#lib/python/repr.ts";
import { filterArgumentError } from "./errors.ts";

/** Python's `int(x)` of a float. */
function truncate(x: number): Obj {
  if (Number.isNaN(x)) throw pythonError("ValueError", "cannot convert float NaN to integer");
  if (!Number.isFinite(x)) throw pythonError("OverflowError", "cannot convert float infinity to integer");
  return int(BigInt(Math.trunc(x)));
}

/**
 * Python's `float(obj)`.
 * @throws {TemplateError} TypeError or ValueError.
 */
function toFloatObj(obj: Obj): number {
  const number = floatOf(obj);
  if (number !== undefined) return number;
  const whole = intOf(obj);
  if (whole !== undefined) return toFloat(whole);
  if (obj instanceof PyObject) obj.checkOperand();
  const text = textOf(obj);
  const parsed = text === undefined ? undefined : floatOf(parseFloatText(text));
  if (parsed !== undefined) return parsed;
  throw text === undefined
    ? pythonError("TypeError", `float() argument must be a string or a real number, not '${typeNameOf(obj)}'`)
    : pythonError("ValueError", `could not convert string to float: '${text}'`);
}

function toInt(value: Obj, fallback: Obj, base: Obj): Obj {
  const text = textOf(value);
  const whole = text === undefined ? intOf(value) : parseInteger(text, indexOf(base));
  if (whole !== undefined) return whole;
  const number = floatOf(value);
  if (number !== undefined && !Number.isNaN(number)) return truncate(number);
  try {
    return truncate(toFloatObj(value));
  } catch (error) {
    if (isPythonError(error, "TypeError", "ValueError", "OverflowError")) return fallback;
    throw error;
  }
}

/** Python's `round(value, digits)`. */
function roundNumber(value: Obj, digits: number): Obj {
  const number = floatOf(value);
  if (number !== undefined) return float(roundFloat(number, digits));
  const whole = intOf(value);
  if (whole === undefined) {
    throw pythonError("TypeError", `type ${typeNameOf(value)} doesn't define __round__ method`);
  }
  if (digits >= 0) return int(BigInt(whole));
  if (digits < -400) return 0;
  const unit = 10n ** BigInt(-digits);
  const big = BigInt(whole);
  const size = divideRounded(big < 0n ? -big : big, unit) * unit;
  return int(big < 0n ? -size : size);
}

function roundBy(value: Obj, digits: number, method: "ceil" | "floor"): Obj {
  const unit = arithmetic("**", 10, digits) ?? 1;
  const scaled = arithmetic("*", value, unit);
  if (scaled === undefined) throw pythonError("TypeError", `must be real number, not ${typeNameOf(value)}`);
  const whole = intOf(scaled) ?? truncate(Math[method](floatOf(scaled) ?? 0));
  return arithmetic("/", whole, unit) ?? null;
}

const PREFIXES = ["k", "M", "G", "T", "P", "E", "Z", "Y"];

function fileSize(value: Obj, binary: boolean): string {
  const bytes = toFloatObj(value);
  const base = binary ? 1024 : 1000;
  if (bytes === 1) return "1 Byte";
  if (bytes < base) return `${strOf(truncate(bytes))} Bytes`;
  let at = 0;
  while (at < PREFIXES.length - 1 && bytes >= base ** (at + 2)) at++;
  const prefix = binary ? `${PREFIXES[at].toUpperCase()}i` : PREFIXES[at];
  return `${fixedText(base * bytes / base ** (at + 2), 1)} ${prefix}B`;
}

/** Jinja's filters for numbers, by name; `args[0]` is the value. */
export const NUMBER_FILTERS: ReadonlyMap<string, Run> = new Map<string, Run>([
  [
    "abs",
    native("abs", ["x"], ([value]) => {
      const number = intOf(value) ?? floatOf(value);
      if (number === undefined) throw pythonError("TypeError", `bad operand type for abs(): '${typeNameOf(value)}'`);
      const negative = number < 0 || Object.is(number, -0);
      return negative ? negate(value) ?? value : arithmetic("+", value, 0) ?? value;
    }),
  ],
  [
    "filesizeformat",
    native("do_filesizeformat", ["value", ["binary", false]], ([value, binary]) => fileSize(value, isTruthy(binary))),
  ],
  [
    "float",
    native("do_float", ["value", ["default", float(0)]], ([value, fallback]) => {
      try {
        return float(toFloatObj(value));
      } catch (error) {
        if (isPythonError(error, "TypeError", "ValueError")) return fallback;
        throw error;
      }
    }),
  ],
  [
    "int",
    native("do_int", ["value", ["default", 0], ["base", 10]], ([value, fallback, base]) => {
      if (value instanceof PyObject && textOf(value) === undefined) value.checkOperand();
      return toInt(value, fallback, base);
    }),
  ],
  [
    "round",
    native("do_round", ["value", ["precision", 0], ["method", "common"]], ([value, precision, method]) => {
      const name = textOf(method);
      if (name === "common") return roundNumber(value, indexOf(precision));
      if (name === "ceil" || name === "floor") return roundBy(value, indexOf(precision), name);
      throw filterArgumentError("method must be common, ceil or floor");
    }),
  ],
]);
