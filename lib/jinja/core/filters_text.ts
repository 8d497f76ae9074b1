/**
 * Jinja's filters on texts.
 * Source: jinja2 3.1, "List of Builtin Filters".
 * @module
 */

import { wrapText } from "#lib/text/textwrap.ts";
import { methodsOf } from "#lib/python/attributes.ts";
import { placesOf } from "#lib/python/code_points.ts";
import { pythonError } from "#lib/python/errors.ts";
import { indexOf, isTruthy, lengthOf, textOf, typeNameOf } from "#lib/python/kinds.ts";
import { Markup } from "#lib/python/markup.ts";
import { native } from "#lib/python/native.ts";
import { type CallContext, NO_KWARGS, type Obj, PyObject, type Result, type Run } from "#lib/python/object.ts";
import { binary } from "#lib/python/operators.ts";
import { strOf } from "#lib/python/repr.ts";
import { replaceText } from "#lib/python/str_methods.ts";
import { splitLinesKeeping } from "#lib/python/text_split.ts";
import { upperFirst } from "#lib/text/text_case.ts";
import { Tuple } from "#lib/values/tuple.ts";
import { escapeValue, isSafe } from "./autoescape.ts";
import { filterArgumentError } from "./errors.ts";

/** A str as it is, marked or not; anything else as text. */
function softText(obj: Obj): string | Markup {
  return typeof obj === "string" || obj instanceof Markup ? obj : strOf(obj);
}

/** The text, marked if `like` is. */
function markLike(text: string, like: Obj): Obj {
  return like instanceof Markup ? new Markup(text) : text;
}

function callMethod(name: string, args: readonly Obj[], context: CallContext): Result {
  const [self, ...rest] = args;
  const text = softText(self);
  return methodsOf(text).get(name)?.([text, ...rest], NO_KWARGS, context) ?? null;
}

/** The filter that is a method of str. */
function methodFilter(name: string): [string, Run] {
  return [name, native(`do_${name}`, ["s"], (args, { context }) => callMethod(name, args, context))];
}

/**
 * A str.
 * @throws {TemplateError} For any other type.
 */
function mustBeText(obj: Obj, operation: string): string {
  const text = textOf(obj);
  if (text !== undefined) return text;
  if (obj instanceof PyObject) obj.checkOperand();
  throw pythonError("TypeError", `${operation}: '${typeNameOf(obj)}' and 'str'`);
}

/** Replaces in an escaping template. */
function replaceSafely(s: Obj, [old, by, count]: readonly Obj[], context: CallContext): Result {
  const self = isSafe(old) || (isSafe(by) && !isSafe(s)) ? escapeValue(s) : softText(s);
  return callMethod("replace", [self, softText(old), softText(by), count ?? -1], context);
}

const WORD_START = /([-\s({[<]+)/;

function title(text: string): string {
  return text.split(WORD_START).map(upperFirst).join("");
}

function indent(s: Obj, width: Obj, first: boolean, blank: boolean): Obj {
  const indention = textOf(width) ?? " ".repeat(Math.max(0, indexOf(width)));
  if (s instanceof Tuple) throw pythonError("TypeError", 'can only concatenate tuple (not "str") to tuple');
  if (Array.isArray(s)) throw pythonError("AttributeError", "'list' object has no attribute 'splitlines'");
  const lines = splitLinesKeeping(`${mustBeText(s, "unsupported operand type(s) for +=")}\n`, false);
  const indented = lines.map((line, i) => i === 0 || (line === "" && !blank) ? line : indention + line);
  return markLike((first ? indention : "") + indented.join("\n"), s);
}

interface Truncation {
  readonly length: number;
  readonly killWords: boolean;
  readonly end: string;
  readonly leeway: number;
}

function truncate(s: Obj, { length, killWords, end, leeway }: Truncation): Obj {
  const endLength = placesOf(end).length;
  if (length < endLength) throw pythonError("AssertionError", `expected length >= ${endLength}, got ${length}`);
  if (leeway < 0) throw pythonError("AssertionError", `expected leeway >= 0, got ${leeway}`);
  const text = textOf(s);
  if (text === undefined) {
    if (lengthOf(s) <= length + leeway) return s;
    throw pythonError("AttributeError", `'${typeNameOf(s)}' object has no attribute 'rsplit'`);
  }
  const places = placesOf(text);
  if (places.length <= length + leeway) return s;
  const cut = places.slice(0, length - endLength);
  const space = cut.lastIndexOf(" ");
  return markLike((killWords || space < 0 ? cut : cut.slice(0, space)) + end, s);
}

const WORD = /[\p{L}\p{N}_]+/gu;

/** Jinja's filters for texts, by name; `args[0]` is the value. */
export const TEXT_FILTERS: ReadonlyMap<string, Run> = new Map<string, Run>([
  methodFilter("capitalize"),
  ["center", native("do_center", ["value", ["width", 80]], (args, { context }) => callMethod("center", args, context))],
  ["format", (args, kwargs, context) => {
    if (args.length > 1 && kwargs.size > 0) {
      throw filterArgumentError("can't handle positional and keyword arguments at the same time");
    }
    return binary("%", softText(args[0]), kwargs.size > 0 ? new Map(kwargs) : new Tuple(args.slice(1)), context);
  }],
  [
    "indent",
    native(
      "do_indent",
      ["s", ["width", 4], ["first", false], ["blank", false]],
      ([s, width, first, blank]) => indent(s, width, isTruthy(first), isTruthy(blank)),
    ),
  ],
  methodFilter("lower"),
  [
    "replace",
    native(
      "do_replace",
      ["s", "old", "new", ["count", null]],
      ([s, old, by, count], { context }) => {
        if (context.autoescape) return replaceSafely(s, [old, by, count], context);
        return replaceText(strOf(s), strOf(old), strOf(by), count === null ? -1 : indexOf(count));
      },
    ),
  ],
  ["string", native("soft_str", ["s"], ([value]) => softText(value))],
  ["title", native("do_title", ["s"], ([s]) => title(strOf(softText(s))))],
  [
    "trim",
    native(
      "do_trim",
      ["value", ["chars", null]],
      ([value, chars], { context }) => callMethod("strip", [value, chars], context),
    ),
  ],
  [
    "truncate",
    native(
      "do_truncate",
      ["s", ["length", 255], ["killwords", false], ["end", "..."], ["leeway", null]],
      ([s, length, killWords, end, leeway]) =>
        truncate(s, {
          length: indexOf(length),
          killWords: isTruthy(killWords),
          end: textOf(end) ?? strOf(end),
          leeway: leeway === null ? 5 : indexOf(leeway),
        }),
    ),
  ],
  methodFilter("upper"),
  ["wordcount", native("do_wordcount", ["s"], ([s]) => strOf(softText(s)).match(WORD)?.length ?? 0)],
  [
    "wordwrap",
    native(
      "do_wordwrap",
      ["s", ["width", 79], ["break_long_words", true], ["wrapstring", null], ["break_on_hyphens", true]],
      ([s, width, breakLongWords, wrapString, breakOnHyphens], { context }) => {
        const size = indexOf(width);
        if (size <= 0) throw pythonError("ValueError", `invalid width ${size} (must be > 0)`);
        const options = {
          width: size,
          breakLongWords: isTruthy(breakLongWords),
          breakOnHyphens: isTruthy(breakOnHyphens),
        };
        const end = wrapString === null ? context.newline : strOf(wrapString);
        return splitLinesKeeping(mustBeText(s, "splitlines"), false).map((line) => wrapText(line, options).join(end))
          .join(end);
      },
    ),
  ],
]);
