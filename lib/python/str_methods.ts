/**
 * The methods of str.
 * Source: docs.python.org, "String Methods".
 * @module
 */

import { findLastText, findText, splitAtText } from "./find_text.ts";
import { placesOf } from "./code_points.ts";
import { dictGet } from "./dict.ts";
import { checkText, pythonError } from "./errors.ts";
import { isIterable, toList } from "./iterate.ts";
import { indexOf, intOf, isTruthy, textOf, typeNameOf } from "./kinds.ts";
import { type Body, native, type Param } from "./native.ts";
import type { Kwargs, Obj, Run } from "./object.ts";
import { formatString } from "./str_format.ts";
import { capitalize, type CharKind, isAll, isLower, isTitle, isUpper, swapCase, title } from "#lib/text/text_case.ts";
import { type Ends, expandTabs, splitLinesKeeping, splitRight, splitText, stripText } from "./text_split.ts";
import { Tuple } from "#lib/values/tuple.ts";

/**
 * The text of an argument.
 * @throws {PythonError} TypeError for anything but a str.
 */
function textArg(obj: Obj, refuse: (type: string) => string): string {
  const text = textOf(obj);
  if (text !== undefined) return text;
  throw pythonError("TypeError", refuse(typeNameOf(obj)));
}

function mustBeStr(type: string): string {
  return `must be str, not ${type}`;
}

function optionalText(obj: Obj, refuse: (type: string) => string): string | undefined {
  return obj === null ? undefined : textArg(obj, refuse);
}

/** A method whose first argument is the text itself. */
function method(
  name: string,
  params: readonly Param[],
  body: (self: string, args: readonly Obj[], kwargs: Kwargs) => Obj,
): [string, Run] {
  const run: Body = ([self, ...args], { kwargs }) => body(textOf(self) ?? "", args, kwargs);
  return [name, native(name, ["self", ...params], run, "str")];
}

function stripMethod(name: string, ends: Ends): [string, Run] {
  return method(
    name,
    [["chars", null]],
    (text, [chars]) => stripText(text, ends, optionalText(chars, () => `${name} arg must be None or str`)),
  );
}

function kindMethod(kind: CharKind): [string, Run] {
  return method(`is${kind}`, [], (text) => isAll(text, kind));
}

function padMethod(name: string, before: (missing: number, width: number) => number): [string, Run] {
  return method(name, ["width", ["fillchar", " "]], (text, [width, fill]) => {
    const char = textArg(fill, (type) => `The fill character must be a unicode character, not ${type}`);
    if ([...char].length !== 1) throw pythonError("TypeError", "The fill character must be exactly one character long");
    const size = indexOf(width);
    const missing = size - placesOf(text).length;
    if (missing <= 0) return text;
    checkText(size);
    const left = before(missing, size);
    return char.repeat(left) + text + char.repeat(missing - left);
  });
}

/** `str.center` puts the odd blank on the left if the width is odd. */
function leftMargin(missing: number, width: number): number {
  return Math.floor(missing / 2) + (missing & width & 1);
}

/** The part of a text from `start` to `end`, and its offset; `undefined` if it begins after the end. */
function part(text: string, start: Obj, end: Obj): { readonly text: string; readonly from: number } | undefined {
  const places = placesOf(text);
  const clamp = (obj: Obj, missing: number): number => {
    if (obj === null) return missing;
    const index = indexOf(obj, "slice indices must be integers or None or have an __index__ method");
    return index < 0 ? Math.max(0, index + places.length) : index;
  };
  const from = clamp(start, 0), to = Math.min(clamp(end, places.length), places.length);
  return from > places.length || from > to ? undefined : { text: places.slice(from, to), from };
}

const RANGE: readonly Param[] = ["sub", ["start", null], ["end", null]];

function findMethod(name: string, last: boolean, strict: boolean): [string, Run] {
  return method(name, RANGE, (text, [sub, start, end]) => {
    const wanted = textArg(sub, mustBeStr);
    const within = part(text, start, end);
    const unit = within === undefined ? -1 : last ? findLastText(within.text, wanted) : findText(within.text, wanted);
    if (unit >= 0 && within !== undefined) return within.from + placesOf(within.text).ofUnit(unit);
    if (strict) throw pythonError("ValueError", "substring not found");
    return -1;
  });
}

function affixMethod(name: string, matches: (text: string, affix: string) => boolean): [string, Run] {
  return method(name, RANGE, (text, [sub, start, end]) => {
    const within = part(text, start, end);
    const one = (affix: Obj): boolean => {
      const wanted = textArg(
        affix,
        (type) =>
          sub instanceof Tuple
            ? `tuple for ${name} must only contain str, not ${type}`
            : `${name} first arg must be str or a tuple of str, not ${type}`,
      );
      return within !== undefined && matches(within.text, wanted);
    };
    return sub instanceof Tuple ? sub.some(one) : one(sub);
  });
}

function splitMethod(name: string, cut: typeof splitText): [string, Run] {
  return method(
    name,
    [["sep", null], ["maxsplit", -1]],
    (text, [separator, max]) =>
      cut(text, optionalText(separator, (type) => `must be str or None, not ${type}`), indexOf(max)),
  );
}

function partitionMethod(name: string, last: boolean): [string, Run] {
  return method(name, ["sep"], (text, [sep]) => {
    const separator = textArg(sep, mustBeStr);
    if (separator === "") throw pythonError("ValueError", "empty separator");
    const at = last ? findLastText(text, separator) : findText(text, separator);
    if (at < 0) return new Tuple(last ? ["", "", text] : [text, "", ""]);
    return new Tuple([text.slice(0, at), separator, text.slice(at + separator.length)]);
  });
}

/**
 * `str.replace(old, new, count)`.
 * @param count Negative: all.
 */
export function replaceText(text: string, old: string, by: string, count: number): string {
  if (count === 0) return text;
  if (old === "") {
    const chars = [...text];
    const max = count < 0 ? chars.length + 1 : count;
    checkText(text.length + by.length * Math.min(max, chars.length + 1));
    return chars.map((char, i) => i < max ? by + char : char).join("") + (chars.length < max ? by : "");
  }
  const parts = splitText(text, old, count < 0 ? -1 : count);
  checkText(text.length + (parts.length - 1) * (by.length - old.length));
  return parts.join(by);
}

/** `separator.join(items)`. */
export function joinTexts(separator: string, items: readonly Obj[]): string {
  let length = 0;
  const texts = items.map((item, i) => {
    const text = textArg(item, (type) => `sequence item ${i}: expected str instance, ${type} found`);
    length += text.length + separator.length;
    checkText(length);
    return text;
  });
  return texts.join(separator);
}

function countIn(text: string, sub: string): number {
  if (sub === "") return placesOf(text).length + 1;
  return splitAtText(text, sub).length - 1;
}

function translate(text: string, table: Obj): string {
  let out = "";
  for (const char of text) {
    const mapped = table instanceof Map ? dictGet(table, char.codePointAt(0) ?? 0) : undefined;
    const code = intOf(mapped);
    out += mapped === undefined
      ? char
      : mapped === null
      ? ""
      : code === undefined
      ? textOf(mapped) ?? ""
      : String.fromCodePoint(Number(code));
  }
  return out;
}

function zeroFilled(text: string, width: number): string {
  const missing = width - placesOf(text).length;
  if (missing <= 0) return text;
  checkText(width);
  const sign = /^[+-]/.exec(text)?.[0] ?? "";
  return sign + "0".repeat(missing) + text.slice(sign.length);
}

/** @param errors `ignore` and `replace` are Python's; others are as `strict`. */
function encode(text: string, encoding: string, errors: string): Uint8Array {
  const name = encoding.toLowerCase().replaceAll("_", "-");
  if (name === "utf-8" || name === "utf8") return new TextEncoder().encode(text);
  const limit = name === "ascii" || name === "us-ascii"
    ? 0x80
    : name === "latin-1" || name === "iso-8859-1"
    ? 0x100
    : 0;
  if (limit === 0) throw pythonError("LookupError", `unknown encoding: ${encoding}`);
  const codes = Array.from(text, (char) => char.codePointAt(0) ?? 0);
  if (errors === "ignore") return new Uint8Array(codes.filter((code) => code < limit));
  if (errors === "replace") return new Uint8Array(codes.map((code) => code < limit ? code : 0x3f));
  const at = codes.findIndex((code) => code >= limit);
  if (at >= 0) {
    const code = codes[at].toString(16);
    const escape = codes[at] < 0x100
      ? `\\x${code}`
      : codes[at] < 0x10000
      ? `\\u${code.padStart(4, "0")}`
      : `\\U${code.padStart(8, "0")}`;
    throw pythonError(
      "UnicodeEncodeError",
      `'${name}' codec can't encode character '${escape}' in position ${at}: ordinal not in range(${limit})`,
    );
  }
  return new Uint8Array(codes);
}

/** The methods, by name; the first argument of each is the text. */
export const STR_METHODS: ReadonlyMap<string, Run> = new Map([
  method("capitalize", [], capitalize),
  method("casefold", [], (text) => text.toLowerCase().replaceAll("ß", "ss").replaceAll("ς", "σ")),
  padMethod("center", leftMargin),
  method("count", RANGE, (text, [sub, start, end]) => {
    const wanted = textArg(sub, mustBeStr);
    const within = part(text, start, end);
    return within === undefined ? 0 : countIn(within.text, wanted);
  }),
  method(
    "encode",
    [["encoding", "utf-8"], ["errors", "strict"]],
    (text, [encoding, errors]) => encode(text, textArg(encoding, mustBeStr), textArg(errors, mustBeStr)),
  ),
  affixMethod("endswith", (text, affix) => text.endsWith(affix)),
  method("expandtabs", [["tabsize", 8]], (text, [size]) => expandTabs(text, indexOf(size))),
  findMethod("find", false, false),
  ["format", (args, kwargs, context) => formatString(textOf(args[0]) ?? "", { args: args.slice(1), kwargs, context })],
  [
    "format_map",
    ([self, ...args], kwargs, context) => {
      if (kwargs.size > 0) throw pythonError("TypeError", "format_map() takes no keyword arguments");
      if (args.length !== 1) {
        throw pythonError("TypeError", `format_map() takes exactly one argument (${args.length} given)`);
      }
      return formatString(textOf(self) ?? "", { args: [], kwargs, mapping: args[0], context });
    },
  ],
  findMethod("index", false, true),
  ...(["alnum", "alpha", "ascii", "decimal", "digit", "identifier", "numeric", "printable", "space"] as const).map(
    kindMethod,
  ),
  method("islower", [], isLower),
  method("istitle", [], isTitle),
  method("isupper", [], isUpper),
  method("join", ["iterable"], (text, [items]) => {
    if (!isIterable(items)) throw pythonError("TypeError", "can only join an iterable");
    return joinTexts(text, toList(items));
  }),
  padMethod("ljust", () => 0),
  method("lower", [], (text) => text.toLowerCase()),
  stripMethod("lstrip", "left"),
  partitionMethod("partition", false),
  method("removeprefix", ["prefix"], (text, [prefix]) => {
    const wanted = textArg(prefix, mustBeStr);
    return text.startsWith(wanted) ? text.slice(wanted.length) : text;
  }),
  method("removesuffix", ["suffix"], (text, [suffix]) => {
    const wanted = textArg(suffix, mustBeStr);
    return wanted !== "" && text.endsWith(wanted) ? text.slice(0, -wanted.length) : text;
  }),
  method("replace", ["old", "new", ["count", -1]], (text, [old, by, count]) =>
    replaceText(
      text,
      textArg(old, (type) => `replace() argument 1 must be str, not ${type}`),
      textArg(by, (type) => `replace() argument 2 must be str, not ${type}`),
      indexOf(count),
    )),
  findMethod("rfind", true, false),
  findMethod("rindex", true, true),
  padMethod("rjust", (missing) => missing),
  partitionMethod("rpartition", true),
  splitMethod("rsplit", splitRight),
  stripMethod("rstrip", "right"),
  splitMethod("split", splitText),
  method("splitlines", [["keepends", false]], (text, [keep]) => splitLinesKeeping(text, isTruthy(keep))),
  affixMethod("startswith", (text, affix) => text.startsWith(affix)),
  stripMethod("strip", "both"),
  method("swapcase", [], swapCase),
  method("title", [], title),
  method("translate", ["table"], (text, [table]) => translate(text, table)),
  method("upper", [], (text) => text.toUpperCase()),
  method("zfill", ["width"], (text, [width]) => zeroFilled(text, indexOf(width))),
]);
