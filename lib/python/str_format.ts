/**
 * Python's `str.format`, whose fields read attributes and items as a template does.
 * Source: docs.python.org, "Format String Syntax".
 * @module
 */

import { checkText, pythonError } from "./errors.ts";
import { formatValue } from "./format_spec.ts";
import { type CallContext, type Kwargs, type Obj, PyObject } from "./object.ts";
import { asciiRepr, reprOf, strOf } from "./repr.ts";
import { getItem } from "./subscript.ts";

/** The arguments that fields of a template can refer to. */
export interface FormatArguments {
  readonly args: readonly Obj[];
  readonly kwargs: Kwargs;
  /** The one argument of `format_map`, in place of keywords: a map, or what cannot be one. */
  readonly mapping?: Obj;
  readonly context: CallContext;
  /** Called with each formatted field: Markup escapes it. */
  readonly escape?: (text: string) => string;
}

/** The numbering of fields: manual or automatic, never both. */
class Numbering {
  #next = 0;
  #manual: boolean | undefined;

  /** The key of a field: its number, or its name. */
  key(name: string): string | number {
    const number = /^\d+$/.test(name);
    if (name !== "" && !number) return name;
    if (this.#manual !== undefined && this.#manual !== number) {
      throw pythonError(
        "ValueError",
        number
          ? "cannot switch from automatic field numbering to manual field specification"
          : "cannot switch from manual field specification to automatic field numbering",
      );
    }
    this.#manual = number;
    return number ? Number(name) : this.#next++;
  }
}

/** Fields may contain fields, one level deep. */
const DEEPEST = 2;

/**
 * Formats `template`.
 * @throws {PythonError} As Python does.
 */
export function formatString(template: string, given: FormatArguments): string {
  return formatDeep(template, given, new Numbering(), DEEPEST);
}

function formatDeep(template: string, given: FormatArguments, numbering: Numbering, depth: number): string {
  if (depth === 0) throw pythonError("ValueError", "Max string recursion exceeded");
  let out = "";
  for (let at = 0; at < template.length;) {
    const char = template[at];
    if (char !== "{" && char !== "}") {
      const next = /[{}]/.exec(template.slice(at));
      const end = next === null ? template.length : at + next.index;
      out += template.slice(at, end);
      at = end;
      continue;
    }
    if (template[at + 1] === char) {
      out += char;
      at += 2;
      continue;
    }
    if (char === "}") throw pythonError("ValueError", "Single '}' encountered in format string");
    if (at + 1 === template.length) throw pythonError("ValueError", "Single '{' encountered in format string");
    const end = fieldEnd(template, at);
    out += formatField(template.slice(at + 1, end), given, numbering, depth);
    checkText(out.length);
    at = end + 1;
  }
  return out;
}

/** The place of the brace that ends the field. */
function fieldEnd(template: string, start: number): number {
  let open = 0;
  for (let i = start; i < template.length; i++) {
    if (template[i] === "{") open++;
    if (template[i] === "}" && --open === 0) return i;
  }
  throw pythonError("ValueError", "expected '}' before end of string");
}

const FIELD = /^([^!:[{}]*(?:\[[^\]]*\](?:\.[^!:[{}]*)?)*)(?:!([^:]?))?(?::([^]*))?$/;

function formatField(field: string, given: FormatArguments, numbering: Numbering, depth: number): string {
  const match = FIELD.exec(field);
  // Python takes the `:` for the conversion, and wants another.
  if (match === null || /^[^:]*!:/.test(field)) {
    throw pythonError("ValueError", "expected ':' after conversion specifier");
  }
  const [, path, conversion, spec = ""] = match;
  const value = readPath(path, given, numbering);
  const converted = conversion === undefined ? value : convert(value, conversion);
  const text = formatValue(converted, spec.includes("{") ? formatDeep(spec, given, numbering, depth - 1) : spec);
  return given.escape === undefined || (converted instanceof PyObject && converted.typeName === "Markup")
    ? text
    : given.escape(text);
}

function convert(value: Obj, conversion: string): Obj {
  if (conversion === "s") return strOf(value);
  if (conversion === "r") return reprOf(value);
  if (conversion === "a") return asciiRepr(value);
  if (conversion === "") throw pythonError("ValueError", "unmatched '{' in format spec");
  throw pythonError("ValueError", `Unknown conversion specifier ${conversion}`);
}

function readPath(path: string, given: FormatArguments, numbering: Numbering): Obj {
  const first = /^[^.[]*/.exec(path)?.[0] ?? "";
  let value = argument(first === "" && path !== "" ? "" : numbering.key(first), given);
  for (const [, attribute, item, end] of path.slice(first.length).matchAll(/\.([^.[]*)|\[([^\]]*)(\]|$)/g)) {
    if (end === "") throw pythonError("ValueError", "expected '}' before end of string");
    if ((attribute ?? item) === "") throw pythonError("ValueError", "Empty attribute in format string");
    const read = attribute === undefined
      ? given.context.item(value, /^\d+$/.test(item) ? Number(item) : item)
      : given.context.attribute(value, attribute);
    value = atOnce(read);
  }
  return value;
}

function atOnce<T>(result: T | Promise<T>): T {
  if (result instanceof Promise) {
    throw pythonError("TypeError", "a field of a format string cannot wait for a function");
  }
  return result;
}

function argument(key: string | number, { args, kwargs, mapping }: FormatArguments): Obj {
  if (typeof key === "number") {
    if (key < args.length) return args[key];
    throw pythonError("IndexError", "tuple index out of range");
  }
  const value = mapping === undefined ? kwargs.get(key) : atOnce(getItem(mapping, key));
  if (value === undefined) throw pythonError("KeyError", reprOf(key));
  return value;
}
