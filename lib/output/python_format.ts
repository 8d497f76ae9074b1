/**
 * The part of Python's `str.format` that layouts in a configuration need: `{1:>10}`, `{6[duration]!s:<7}`, `{{`.
 * Source: docs.python.org, "Format String Syntax".
 * @module
 */

import { isFloat, repr, str, toNumber, type Value } from "#lib/values/value.ts";

/** A field: number of the argument, keys to follow, conversion, and format specification. */
const FIELD = /^(\d+)((?:\[[^[\]]*\])*)(?:!([sr]))?(?::([^{}]*))?$/;
const SPEC = /^(?:(.)?([<>^]))?(\d{1,3})?(?:\.(\d{1,2}))?([sdf])?$/u;

/**
 * Formats `template` with `args`.
 * @returns `undefined` if the template asks for something that is not there, or has a form that is not supported.
 */
export function formatPython(template: string, args: readonly Value[]): string | undefined {
  let out = "";
  for (const [part, field] of template.matchAll(/\{\{|\}\}|\{([^{}]*(?:\{\})?[^{}]*)\}|[{}]|[^{}]+/g)) {
    if (part === "{{" || part === "}}") out += part[0];
    else if (field !== undefined) {
      const text = formatField(field, args);
      if (text === undefined) return undefined;
      out += text;
    } else if (part === "{" || part === "}") return undefined;
    else out += part;
  }
  return out;
}

function formatField(field: string, args: readonly Value[]): string | undefined {
  const match = FIELD.exec(field);
  if (match === null) return undefined;
  const [, number, keys, conversion, spec = ""] = match;
  let value: Value | undefined = args[Number(number)];
  for (const [, key] of keys.matchAll(/\[([^[\]]*)\]/g)) {
    if (value instanceof Map) value = value.get(key);
    else if (Array.isArray(value) && /^\d+$/.test(key)) value = value[Number(key)];
    else return undefined;
  }
  if (value === undefined) return undefined;
  if (conversion === "r") return formatSpec(repr(value), spec);
  return formatSpec(conversion === "s" ? str(value) : value, spec);
}

function formatSpec(value: Value, spec: string): string | undefined {
  const match = SPEC.exec(spec);
  if (match === null) return undefined;
  const [, fill = " ", align, width = "0", precision, type] = match;
  const text = bareText(value, precision === undefined ? undefined : Number(precision), type);
  if (text === undefined) return undefined;
  const missing = Number(width) - [...text].length;
  if (missing <= 0) return text;
  const side = align ?? (typeof value === "string" ? "<" : ">");
  const before = side === ">" ? missing : side === "^" ? Math.floor(missing / 2) : 0;
  return fill.repeat(before) + text + fill.repeat(missing - before);
}

/** The text of a value before it is padded. */
function bareText(value: Value, precision: number | undefined, type: string | undefined): string | undefined {
  if (typeof value === "string") {
    if (type !== undefined && type !== "s") return undefined;
    return precision === undefined ? value : [...value].slice(0, precision).join("");
  }
  const number = toNumber(value);
  if (type === "f" && number !== undefined) return number.toFixed(precision ?? 6);
  if (precision !== undefined || type === "s") return undefined;
  return type === "d" && (number === undefined || isFloat(value)) ? undefined : str(value);
}
