/**
 * Python's `template % values`.
 * Source: docs.python.org, "printf-style String Formatting".
 * @module
 */

import { dictGet } from "./dict.ts";
import { checkText, pythonError } from "./errors.ts";
import { codePointLength, floatOf, indexOf, intOf, textOf, typeNameOf } from "./kinds.ts";
import { floatText, intDigits } from "./number_text.ts";
import { type CallContext, type Obj, PyObject } from "./object.ts";
import { asciiRepr, reprOf, strOf } from "./repr.ts";
import { isList, Tuple } from "#lib/values/tuple.ts";

const FIELD = /%(?:\(((?:[^()]|\([^()]*\))*)\))?([#0\- +]*)(\*|\d+)?(?:\.(\*|\d*))?[hlL]?([^])?/uy;

/** Wider fields are refused. */
const MAX_WIDTH = 1_000_000;

interface Field {
  readonly flags: string;
  readonly width: number;
  readonly precision: number | undefined;
  readonly code: string;
  /** The place of the code, for messages. */
  readonly at: number;
}

/** The values, taken one after another or by name. */
class Values {
  #next = 0;
  readonly #list: readonly Obj[];

  constructor(readonly given: Obj) {
    this.#list = given instanceof Tuple ? given : [given];
  }

  take(): Obj {
    if (this.#next >= this.#list.length) throw pythonError("TypeError", "not enough arguments for format string");
    return this.#list[this.#next++];
  }

  named(name: string): Obj {
    if (!(this.given instanceof Map)) throw pythonError("TypeError", "format requires a mapping");
    const value = dictGet(this.given, name);
    if (value === undefined) throw pythonError("KeyError", reprOf(name));
    this.#next = 1; // a mapping is used up by its first name
    return value;
  }

  /** Only a mapping, a list and the like may be left over. */
  checkUsed(): void {
    if (this.#next >= this.#list.length) return;
    const left = this.given;
    const container = left instanceof Map || isList(left) ||
      (left instanceof PyObject && left.subscriptable);
    if (!container) throw pythonError("TypeError", "not all arguments converted during string formatting");
  }
}

/** @param escape Called with each formatted value; Markup escapes it. */
export function formatPercent(
  template: string,
  given: Obj,
  _context: CallContext,
  escape?: (text: string) => string,
): string {
  const values = new Values(given);
  let out = "";
  let at = 0;
  while (at < template.length) {
    const start = template.indexOf("%", at);
    if (start < 0) break;
    out += template.slice(at, start);
    FIELD.lastIndex = start;
    const match = FIELD.exec(template);
    if (match === null || match[5] === undefined) throw pythonError("ValueError", "incomplete format");
    const [whole, name, flags, width, precision, code] = match;
    at = start + whole.length;
    if (code === "%" && name === undefined) {
      out += "%";
      continue;
    }
    const named = name === undefined ? undefined : values.named(name);
    let allFlags = flags;
    let size = width === "*" ? indexOf(values.take(), "* wants int") : Number(width ?? 0);
    if (size < 0) [allFlags, size] = [`${flags}-`, -size];
    const digits = precision === undefined ? undefined : precision === "*" ? indexOf(values.take()) : Number(precision);
    if (size > MAX_WIDTH || (digits ?? 0) > MAX_WIDTH) throw pythonError("ValueError", "width too big");
    const value = named === undefined ? values.take() : named;
    const field = { flags: allFlags, width: size, precision: digits, code, at: at - code.length };
    const text = formatField(field, value);
    out += escape === undefined || (value instanceof PyObject && value.typeName === "Markup") ? text : escape(text);
    checkText(out.length);
  }
  values.checkUsed();
  return out + template.slice(at);
}

function formatField(field: Field, value: Obj): string {
  const { code } = field;
  if (code === "s" || code === "r" || code === "a") {
    const text = code === "s" ? strOf(value) : code === "r" ? reprOf(value) : asciiRepr(value);
    const cut = field.precision === undefined ? text : [...text].slice(0, field.precision).join("");
    return pad(cut, "", field, false);
  }
  if (value instanceof PyObject) value.checkOperand();
  if (code === "c") return pad(charOf(value), "", field, false);
  if ("diu".includes(code)) return formatInt(wholeOf(value, code), "d", field);
  if ("oxX".includes(code)) return formatInt(exactInt(value, code), code, field);
  if ("eEfFgG".includes(code)) return formatFloat(value, field);
  const hex = (code.codePointAt(0) ?? 0).toString(16);
  throw pythonError("ValueError", `unsupported format character '${code}' (0x${hex}) at index ${field.at}`);
}

function charOf(value: Obj): string {
  const text = textOf(value);
  if (text !== undefined && codePointLength(text) === 1) return text;
  const int = intOf(value);
  if (int === undefined) throw pythonError("TypeError", "%c requires int or char");
  if (int < 0 || int > 0x10ffff) throw pythonError("OverflowError", "%c arg not in range(0x110000)");
  return String.fromCodePoint(Number(int));
}

function wholeOf(value: Obj, code: string): number | bigint {
  const int = intOf(value);
  if (int !== undefined) return int;
  const float = floatOf(value);
  if (float === undefined) {
    throw pythonError("TypeError", `%${code} format: a real number is required, not ${typeNameOf(value)}`);
  }
  if (!Number.isFinite(float)) {
    throw Number.isNaN(float)
      ? pythonError("ValueError", "cannot convert float NaN to integer")
      : pythonError("OverflowError", "cannot convert float infinity to integer");
  }
  return BigInt(Math.trunc(float));
}

function exactInt(value: Obj, code: string): number | bigint {
  const int = intOf(value);
  if (int === undefined) {
    throw pythonError("TypeError", `%${code} format: an integer is required, not ${typeNameOf(value)}`);
  }
  return int;
}

function formatInt(n: number | bigint, code: string, field: Field): string {
  const digits = intDigits(n, code).padStart(field.precision ?? 0, "0");
  const prefix = field.flags.includes("#") && code !== "d" ? `0${code}` : "";
  return pad(digits, sign(n < 0, field) + prefix, field, true);
}

function formatFloat(value: Obj, field: Field): string {
  const int = intOf(value);
  const number = int === undefined ? floatOf(value) : Number(int);
  if (number === undefined) throw pythonError("TypeError", `must be real number, not ${typeNameOf(value)}`);
  const style = { type: field.code, precision: field.precision, alternate: field.flags.includes("#") };
  return pad(
    floatText(number, style),
    sign(number < 0 || Object.is(number, -0), field),
    field,
    Number.isFinite(number),
  );
}

function sign(negative: boolean, { flags }: Field): string {
  if (negative) return "-";
  if (flags.includes("+")) return "+";
  return flags.includes(" ") ? " " : "";
}

function pad(text: string, head: string, field: Field, zeros: boolean): string {
  const missing = field.width - codePointLength(text) - head.length;
  if (missing <= 0) return head + text;
  if (field.flags.includes("-")) return head + text + " ".repeat(missing);
  return zeros && field.flags.includes("0") ? head + "0".repeat(missing) + text : " ".repeat(missing) + head + text;
}
