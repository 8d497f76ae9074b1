/**
 * Salt's filters for texts: regular expressions, quoting, numbers in texts, names.
 * Source: Salt 3008.3, `salt/utils/jinja.py`, `salt/utils/stringutils.py`; Python 3.11's `re.escape`, `shlex.quote`.
 * @module
 */

import { escapeRegex } from "#lib/regex/escape.ts";
import { isIterable, toList } from "#lib/python/iterate.ts";
import { isTruthy, lengthOf, textOf, typeNameOf } from "#lib/python/kinds.ts";
import { native } from "#lib/python/native.ts";
import { pythonError } from "#lib/python/errors.ts";
import { type Obj, PyObject, type Run } from "#lib/python/object.ts";
import { strOf } from "#lib/python/repr.ts";
import { isList, Tuple } from "#lib/values/tuple.ts";
import { contains } from "#lib/python/compare.ts";
import { compileMatchExpression } from "#lib/text/expr_match.ts";
import { quoteShellWord } from "#lib/text/shell_words.ts";
import { MULTILINE, regexWithFlags, substitute } from "#lib/regex/replace.ts";
import { codePoints } from "#lib/values/code_points.ts";
import type { Capture, Span } from "#lib/regex/program.ts";
import { upperFirst } from "#lib/text/text_case.ts";
import { int, isFloat, isInt, toNumber, type Value } from "#lib/values/value.ts";
import { numberOfText, SPACE, strip } from "#lib/values/python_text.ts";
import { needBytes, needText, patternList, refuseUndefined } from "./arguments.ts";
import { uuid5 } from "./uuid.ts";

const IGNORECASE = 2;
const REGEX_FLAGS: readonly (string | readonly [string, Value])[] = [["ignorecase", false], ["multiline", false]];

function flagsOf(ignorecase: Obj, multiline: Obj): number {
  return (isTruthy(ignorecase) ? IGNORECASE : 0) | (isTruthy(multiline) ? MULTILINE : 0);
}

/** The first match of `pattern` in `text`, with the code points of the text. */
function firstMatch(
  [text, pattern, ignorecase, multiline]: readonly Obj[],
): { match: Capture; codes: number[] } | undefined {
  const regex = regexWithFlags(needText(pattern), flagsOf(ignorecase, multiline));
  const codes = codePoints(needText(text));
  const match = regex.matches(codes).next().value;
  return match === undefined ? undefined : { match, codes };
}

/** The groups of a match as a tuple, or the whole match if the expression has none. */
function groupsOf({ match, codes }: { readonly match: Capture; readonly codes: readonly number[] }): Tuple<Obj> {
  const part = (span: Span | undefined): Obj =>
    span === undefined ? null : codes.slice(span.start, span.end).map((code) => String.fromCodePoint(code)).join("");
  return new Tuple(match.groups.length === 0 ? [part(match)] : match.groups.map(part));
}

/** Whether `pattern` matches at the start of `text`: Salt's test `match`. */
export const matchTest: Run = native("test_match", ["txt", "rgx", ...REGEX_FLAGS], (args) => {
  return firstMatch(args)?.match.start === 0;
});

const toNum: Run = native("to_num", ["text"], ([value]) => {
  const text = value instanceof Uint8Array ? new TextDecoder("latin1").decode(value) : textOf(value);
  if (text !== undefined) return numberOfText(text) ?? value;
  refuseUndefined(value);
  if (typeof value === "boolean") return Number(value);
  if (typeof value === "number" || typeof value === "bigint") return isFloat(value) ? Math.trunc(Number(value)) : value;
  const number = value instanceof PyObject ? undefined : toNumber(value as Value);
  if (number !== undefined) return int(BigInt(Math.trunc(number)));
  throw pythonError(
    "TypeError",
    `int() argument must be a string, a bytes-like object or a real number, not '${typeNameOf(value)}'`,
  );
});

const UNITS = "bkmgtpezy";

/** Salt's `human_to_bytes`: 0 for what is no size. */
export function humanToBytes(size: string, defaultUnit: string, metric: boolean): Value {
  const [, digits, unitText] = /^([0-9.]*)\s*(.*)$/s.exec(strip(size)) ?? ["", "", ""];
  const value = numberOfText(digits);
  const unit = (unitText || defaultUnit).toLowerCase();
  if (value === undefined || unitText.includes("\n")) return 0;
  const decimal = /^[kmgtpezy]b$/.test(unit);
  if (!decimal && !/^(?:b|[kmgtpezy](?:ib)?)$/.test(unit)) return 0;
  const power = UNITS.indexOf(unit[0]);
  const factor = decimal && metric ? 10n ** BigInt(power * 3) : 2n ** BigInt(power * 10);
  if (isInt(value)) return int(BigInt(value) * factor);
  return int(BigInt(Math.trunc((toNumber(value) ?? 0) * Number(factor))));
}

function isUpper(char: string | undefined): boolean {
  return char !== undefined && char !== char.toLowerCase() && char === char.toUpperCase();
}

function isLower(char: string | undefined): boolean {
  return char !== undefined && char !== char.toUpperCase() && char === char.toLowerCase();
}

function snakeCase(text: string): string {
  const chars = [...text];
  if (chars.length === 0) throw pythonError("IndexError", "string index out of range");
  return chars.map((char, i) => {
    const begins = i > 0 && isUpper(char) && (isLower(chars[i - 1]) || (i < chars.length - 1 && isLower(chars[i + 1])));
    return (begins ? "_" : "") + char.toLowerCase();
  }).join("");
}

function allows(value: Obj, whitelist: readonly string[], blacklist: readonly string[]): boolean {
  // An expression that is not a text, or a value that is none, matches nothing, as in Salt.
  const text = textOf(value);
  const matches = (list: readonly string[]) =>
    text !== undefined && list.some((expression) => compileMatchExpression(expression)(text));
  if (blacklist.length > 0 && matches(blacklist)) return false;
  return whitelist.length === 0 || matches(whitelist);
}

const ALPHABET_BYTES = 0x3fff_ffff;

/** Random bytes in base64, with this number of characters. */
function randomText(size: number): string {
  if (size < 0 || size > ALPHABET_BYTES) throw pythonError("ValueError", "negative argument not allowed");
  const bytes = new Uint8Array(size);
  for (let at = 0; at < size; at += 65_536) crypto.getRandomValues(bytes.subarray(at, at + 65_536));
  return bytes.toBase64().slice(0, size);
}

const WHITE = new RegExp(`[${SPACE}]`);

/** The filters by name. */
export const SALT_TEXT_FILTERS: ReadonlyMap<string, Run> = new Map<string, Run>([
  ["skip", native("skip_filter", ["data"], () => "")],
  ["to_bool", native("to_bool", ["val"], ([value]) => toBool(value))],
  ["quote", native("quote", ["txt"], ([text]) => isTruthy(text) ? quoteShellWord(needText(text)) : "''")],
  [
    "regex_escape",
    native("regex_escape", ["value"], ([text]) => {
      return escapeRegex(needText(text));
    }),
  ],
  [
    "regex_search",
    native("regex_search", ["txt", "rgx", ...REGEX_FLAGS], (args) => {
      const match = firstMatch(args);
      return match === undefined ? null : groupsOf(match);
    }),
  ],
  [
    "regex_match",
    native("regex_match", ["txt", "rgx", ...REGEX_FLAGS], (args) => {
      const match = firstMatch(args);
      return match === undefined || match.match.start !== 0 ? null : groupsOf(match);
    }),
  ],
  [
    "regex_replace",
    native("regex_replace", ["txt", "rgx", "val", ...REGEX_FLAGS], ([text, pattern, by, ignorecase, multiline]) => {
      const regex = regexWithFlags(needText(pattern), flagsOf(ignorecase, multiline));
      return substitute(regex, { text: needText(text), replacement: needText(by) }).text;
    }),
  ],
  ["uuid", native("uuid_", ["val"], ([value]) => uuid5(needBytes(value)))],
  ["to_num", toNum],
  ["str_to_num", toNum],
  [
    "is_hex",
    native("is_hex", ["value"], ([value]) => {
      const text = value instanceof Uint8Array ? new TextDecoder().decode(value) : textOf(value);
      return text !== undefined && /^[+-]?(?:0[xX]_?)?[0-9a-fA-F]+(?:_[0-9a-fA-F]+)*$/.test(strip(text));
    }),
  ],
  ["random_str", native("random", [["size", 32]], ([size]) => randomText(Number(size)))],
  [
    "contains_whitespace",
    native("contains_whitespace", ["text"], ([text]) => toList(text).some((char) => WHITE.test(needText(char)))),
  ],
  [
    "human_to_bytes",
    native("human_to_bytes", ["size", ["default_unit", "B"], ["handle_metric", false]], ([size, unit, metric]) => {
      refuseUndefined(size);
      return humanToBytes(strOf(size), needText(unit), isTruthy(metric));
    }),
  ],
  [
    "check_whitelist_blacklist",
    native(
      "check_whitelist_blacklist",
      ["value", ["whitelist", null], ["blacklist", null]],
      ([value, white, black]) => {
        for (const [name, list] of [["blacklist", black], ["whitelist", white]] as const) {
          if (isTruthy(list) && !isIterable(list)) {
            throw pythonError("TypeError", `Expecting iterable ${name}, but got ${typeNameOf(list)} (${strOf(list)})`);
          }
        }
        return allows(value, isTruthy(white) ? patternList(white) : [], isTruthy(black) ? patternList(black) : []);
      },
    ),
  ],
  ["to_snake_case", native("camel_to_snake_case", ["camel_input"], ([text]) => snakeCase(needText(text)))],
  [
    "to_camelcase",
    native("snake_to_camel_case", ["snake_input", ["uppercamel", false]], ([text, upper]) => {
      const [first, ...rest] = needText(text).split("_");
      return (isTruthy(upper) ? upperFirst(first) : first) + rest.map(upperFirst).join("");
    }),
  ],
  [
    "substring_in_list",
    native("substr_in_list", ["string_to_search_for", "list_to_search"], ([part, list]) => {
      return toList(list).some((text) => contains(text, part));
    }),
  ],
  ["to_bytes", native("to_bytes", ["s", ["encoding", null], ["errors", "strict"]], ([text]) => needBytes(text))],
]);

/** Salt's `to_bool`: of texts only `yes`, `1` and `true` are true, and of containers those that are not empty. */
function toBool(value: Obj): boolean {
  if (value === null) return false;
  if (typeof value === "boolean") return value;
  const text = textOf(value);
  if (text !== undefined) return ["yes", "1", "true"].includes(text.toLowerCase());
  if (typeof value === "bigint" || (typeof value === "number" && Number.isInteger(value))) return value > 0;
  const hashable = !isList(value) && !(value instanceof Map) && typeNameOf(value) !== "set";
  return !hashable && lengthOf(value) > 0;
}
