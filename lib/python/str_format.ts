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
    const field = parseField(template, at + 1);
    out += formatField(field, given, numbering, depth);
    checkText(out.length);
    at = field.end + 1;
  }
  return out;
}

/** A field: `{path!conversion:spec}`. */
interface Field {
  readonly path: string;
  readonly conversion?: string;
  readonly spec: string;
  /** The place of the brace that ends it. */
  readonly end: number;
}

/** Reads the field that begins at `start`, after its brace, as `parse_field` of CPython's `unicode_format.h`. */
function parseField(template: string, start: number): Field {
  let at = start;
  for (; at < template.length && !"}:!".includes(template[at]); at++) {
    if (template[at] === "{") throw pythonError("ValueError", "unexpected '{' in field name");
    // What is between brackets is a key, whatever it has.
    if (template[at] === "[") at = (template.indexOf("]", at) + 1 || template.length + 1) - 1;
  }
  const path = template.slice(start, at);
  if (at >= template.length) throw pythonError("ValueError", "expected '}' before end of string");
  if (template[at] === "}") return { path, spec: "", end: at };
  const conversion = template[at] === "!" ? readConversion(template, at + 1) : undefined;
  if (conversion !== undefined) {
    at += 1 + conversion.length;
    if (template[at] === "}") return { path, conversion, spec: "", end: at };
    if (at < template.length && template[at] !== ":") {
      throw pythonError("ValueError", "expected ':' after conversion specifier");
    }
  }
  for (let open = 1, end = at + 1; end < template.length; end++) {
    if (template[end] === "{") open++;
    if (template[end] === "}" && --open === 0) return { path, conversion, spec: template.slice(at + 1, end), end };
  }
  throw pythonError("ValueError", "unmatched '{' in format spec");
}

/** One character, whatever it is: that it is a known one is checked later. */
function readConversion(template: string, at: number): string {
  const code = template.codePointAt(at);
  if (code !== undefined) return String.fromCodePoint(code);
  throw pythonError("ValueError", "end of string while looking for conversion specifier");
}

function formatField(
  { path, conversion, spec }: Field,
  given: FormatArguments,
  numbering: Numbering,
  depth: number,
): string {
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
  throw pythonError("ValueError", `Unknown conversion specifier ${conversion}`);
}

function readPath(path: string, given: FormatArguments, numbering: Numbering): Obj {
  const first = /^[^.[]*/.exec(path)?.[0] ?? "";
  let value = argument(first === "" && path !== "" ? "" : numbering.key(first), given);
  for (const [, attribute, item] of path.slice(first.length).matchAll(/\.([^.[]*)|\[([^\]]*)\]|[^]/g)) {
    if (attribute === undefined && item === undefined) {
      throw pythonError("ValueError", "Only '.' or '[' may follow ']' in format field specifier");
    }
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
