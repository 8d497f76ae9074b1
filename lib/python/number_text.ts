/**
 * Formats numbers by type code, precision and sign, for both of Python's format languages.
 * @module
 */

import { rstripChars } from "#lib/values/python_text.ts";
import { floatRepr } from "#lib/values/value.ts";
import { exponentDigits, fixedText } from "./float_text.ts";

/** How a float is written. */
export interface FloatStyle {
  /** One of `e E f F g G %`; empty for `str` alike. */
  readonly type: string;
  /** Digits; `undefined` for the type's own. */
  readonly precision: number | undefined;
  /** Whether the point and the zeros after it are kept. */
  readonly alternate: boolean;
}

/** The digits of `x` without its sign. */
export function floatText(x: number, { type, precision, alternate }: FloatStyle): string {
  const lower = type.toLowerCase();
  const text = Number.isFinite(x)
    ? finiteText(Math.abs(x), lower, precision, alternate)
    : Number.isNaN(x)
    ? "nan"
    : "inf";
  const cased = type !== "" && type !== lower ? text.toUpperCase() : text;
  return type === "%" ? `${cased}%` : cased;
}

function finiteText(x: number, type: string, precision: number | undefined, alternate: boolean): string {
  const point = alternate ? "." : "";
  if (type === "f" || type === "%") {
    const digits = precision ?? 6;
    const scaled = type === "%" ? x * 100 : x;
    return fixedText(scaled, digits) + (digits === 0 ? point : "");
  }
  if (type === "e") {
    const digits = precision ?? 6;
    const { text, exponent } = exponentDigits(x, digits);
    return mantissa(text, digits === 0 ? point : "") + exponentText(exponent);
  }
  if (type === "" && precision === undefined) return floatRepr(x);
  return generalText(x, Math.max(precision ?? 6, 1), { bare: type === "", alternate });
}

function mantissa(digits: string, point: string): string {
  return digits.length === 1 ? digits + point : `${digits[0]}.${digits.slice(1)}`;
}

function exponentText(exponent: number): string {
  return `e${exponent < 0 ? "-" : "+"}${String(Math.abs(exponent)).padStart(2, "0")}`;
}

/** `%g`; `bare` is the format without a type, which keeps one digit after the point. */
function generalText(
  x: number,
  precision: number,
  how: { readonly bare: boolean; readonly alternate: boolean },
): string {
  const { text, exponent } = exponentDigits(x, precision - 1);
  // Without a type, `1e5` with five digits is written with an exponent already.
  const scientific = exponent < -4 || exponent >= (how.bare ? precision - 1 : precision);
  if (scientific && !(how.bare && exponent >= -4 && exponent < precision - 1)) {
    return mantissa(how.alternate ? text : rstripChars(text, "0") || "0", how.alternate ? "." : "") +
      exponentText(exponent);
  }
  const fixed = fixedText(x, Math.max(precision - 1 - exponent, 0));
  if (how.alternate) return fixed.includes(".") ? fixed : `${fixed}.`;
  const trimmed = fixed.includes(".") ? rstripChars(rstripChars(fixed, "0"), ".") : fixed;
  return how.bare && !trimmed.includes(".") ? `${trimmed}.0` : trimmed;
}

/** The digits of an int without its sign, in the base of the type code. */
export function intDigits(n: number | bigint, type: string): string {
  const size = n < 0 ? -n : n;
  const base = { b: 2, o: 8, x: 16, X: 16 }[type] ?? 10;
  const text = size.toString(base);
  return type === "X" ? text.toUpperCase() : text;
}

/** `digits` with `mark` between groups, from the right. */
export function groupDigits(digits: string, mark: string, size: number): string {
  let out = "";
  for (let i = 0; i < digits.length; i++) {
    if (i > 0 && (digits.length - i) % size === 0) out += mark;
    out += digits[i];
  }
  return out;
}
