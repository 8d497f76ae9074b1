/**
 * Python's `format(value, spec)`: `>10`, `08.3f`, `,`.
 * Source: docs.python.org, "Format Specification Mini-Language".
 * @module
 */

import { checkText, pythonError } from "./errors.ts";
import { toFloat } from "./arithmetic.ts";
import { codePointLength, floatOf, intOf, textOf, typeNameOf } from "./kinds.ts";
import { floatText, groupDigits, intDigits } from "./number_text.ts";
import type { Obj } from "./object.ts";
import { strOf } from "./repr.ts";

const SPEC = /^(?:([^])?([<>=^]))?([ +-])?(z)?(#)?(0)?(\d+)?([,_])?(?:\.(\d+))?([^])?$/u;

interface Spec {
  readonly fill: string;
  /** Empty for the default alignment of the type. */
  readonly align: string;
  readonly sign: string;
  readonly alternate: boolean;
  readonly width: number;
  readonly mark: string;
  readonly precision: number | undefined;
  readonly type: string;
}

/** Widths and precisions beyond this are refused. */
const MAX_WIDTH = 1_000_000;

/**
 * Formats `value` by `spec`.
 * @throws {PythonError} ValueError or TypeError, as Python.
 */
export function formatValue(value: Obj, spec: string): string {
  if (spec === "") return strOf(value);
  const text = textOf(value);
  const int = intOf(value), number = floatOf(value);
  if (text === undefined && int === undefined && number === undefined) {
    throw pythonError("TypeError", `unsupported format string passed to ${typeNameOf(value)}.__format__`);
  }
  const type = text !== undefined ? "str" : typeNameOf(value);
  const parsed = parseSpec(spec, type);
  if (text !== undefined) return formatText(text, parsed);
  if (number !== undefined) return formatFloat(number, parsed, type);
  return formatInt(int ?? 0, parsed, type);
}

function parseSpec(spec: string, type: string): Spec {
  const match = SPEC.exec(spec);
  if (match === null) {
    throw pythonError("ValueError", `Invalid format specifier '${spec}' for object of type '${type}'`);
  }
  const [, fill, align, sign = "", , alternate, zero, width, mark = "", precision, code = ""] = match;
  if (code === ".") throw pythonError("ValueError", "Format specifier missing precision");
  if (mark !== "" && (code === "," || code === "_")) {
    const both = code === mark ? `Cannot specify '${mark}' with '${code}'.` : "Cannot specify both ',' and '_'.";
    throw pythonError("ValueError", both);
  }
  const size = Number(width ?? 0), digits = precision === undefined ? undefined : Number(precision);
  if (size > MAX_WIDTH || (digits ?? 0) > MAX_WIDTH) {
    throw pythonError("ValueError", "Too many decimal digits in format string");
  }
  return {
    fill: fill ?? (zero === undefined ? " " : "0"),
    align: align ?? (zero === undefined || type === "str" ? "" : "="),
    sign,
    alternate: alternate !== undefined,
    width: size,
    mark,
    precision: digits,
    type: code,
  };
}

function unknownCode(code: string, type: string): Error {
  const codeText = /^[!-\x7f]$/.test(code) ? code : `\\x${(code.codePointAt(0) ?? 0).toString(16)}`;
  return pythonError("ValueError", `Unknown format code '${codeText}' for object of type '${type}'`);
}

function formatText(text: string, spec: Spec): string {
  if (spec.type !== "" && spec.type !== "s") throw unknownCode(spec.type, "str");
  if (spec.sign !== "") throw pythonError("ValueError", "Sign not allowed in string format specifier");
  if (spec.alternate) throw pythonError("ValueError", "Alternate form (#) not allowed in string format specifier");
  if (spec.align === "=") throw pythonError("ValueError", "'=' alignment not allowed in string format specifier");
  if (spec.mark !== "") throw pythonError("ValueError", `Cannot specify '${spec.mark}' with 's'.`);
  const cut = spec.precision === undefined ? text : [...text].slice(0, spec.precision).join("");
  return pad(cut, "", spec, "<");
}

function formatFloat(x: number, spec: Spec, type: string): string {
  if (!"eEfFgG%n".includes(spec.type)) throw unknownCode(spec.type, type);
  const style = { type: spec.type === "n" ? "g" : spec.type, precision: spec.precision, alternate: spec.alternate };
  const negative = x < 0 || Object.is(x, -0);
  return pad(markFloat(floatText(x, style), spec.mark), signOf(negative, spec), spec, ">");
}

function markFloat(text: string, mark: string): string {
  const whole = /^\d+/.exec(text)?.[0];
  return mark === "" || whole === undefined ? text : groupDigits(whole, mark, 3) + text.slice(whole.length);
}

function formatInt(n: number | bigint, spec: Spec, type: string): string {
  if (spec.type !== "" && "eEfFgG%".includes(spec.type)) return formatFloat(toFloat(n), spec, type);
  if (!"bcdoxXn".includes(spec.type)) throw unknownCode(spec.type, type);
  if (spec.precision !== undefined) {
    throw pythonError("ValueError", "Precision not allowed in integer format specifier");
  }
  if (spec.type === "c") return pad(charOf(n), "", spec, ">");
  const prefix = spec.alternate && "boxX".includes(spec.type) && spec.type !== "" ? `0${spec.type}` : "";
  const digits = intDigits(n, spec.type);
  const marked = spec.mark === "" ? digits : groupDigits(digits, spec.mark, "boxX".includes(spec.type || "d") ? 4 : 3);
  return pad(marked, signOf(n < 0, spec) + prefix, spec, ">");
}

function charOf(n: number | bigint): string {
  if (n < 0 || n > 0x10ffff) throw pythonError("OverflowError", "%c arg not in range(0x110000)");
  return String.fromCodePoint(Number(n));
}

function signOf(negative: boolean, { sign }: Spec): string {
  if (negative) return "-";
  return sign === "+" || sign === " " ? sign : "";
}

/** @param head The sign and the prefix, before which or after which zeros go. */
function pad(text: string, head: string, spec: Spec, side: string): string {
  const missing = spec.width - codePointLength(text) - head.length;
  if (missing <= 0) return head + text;
  checkText(spec.width);
  const align = spec.align === "" ? side : spec.align;
  if (align === "=") {
    const zeros = spec.mark !== "" && spec.fill === "0" ? zeroGroups(text, spec, missing) : spec.fill.repeat(missing);
    return head + zeros + text;
  }
  const before = align === ">" ? missing : align === "^" ? Math.floor(missing / 2) : 0;
  return spec.fill.repeat(before) + head + text + spec.fill.repeat(missing - before);
}

/** Zeros with marks between their groups. */
function zeroGroups(text: string, spec: Spec, missing: number): string {
  const whole = /^[\da-fA-F,_]+/.exec(text)?.[0] ?? "";
  const size = "boxX".includes(spec.type || "d") ? 4 : 3;
  const digits = whole.replaceAll(spec.mark, "");
  let count = digits.length;
  let out = whole;
  while (out.length - whole.length < missing) {
    count++;
    out = groupDigits(digits.padStart(count, "0"), spec.mark, size);
  }
  return out.slice(0, out.length - whole.length);
}
