/**
 * The edits of whole texts: `file.replace`, `file.comment_line`, `file.psed`. Bytes are texts of bytes
 * (lib/regex/replace.ts); nothing here reads or writes files. Source: Salt 3008.3, `salt/modules/file.py`.
 * @module
 */

import { rstripChars } from "#lib/values/python_text.ts";
import { linesWithEnds } from "#lib/text/split_lines.ts";
import { escapeRegex } from "#lib/regex/escape.ts";
import { CommandError } from "#lib/errors.ts";
import { byteRegex, hasMatch, regexWithFlags, splitByRegex, substitute } from "#lib/regex/replace.ts";
import { pythonRegex } from "#lib/regex/regex.ts";
import { byteText } from "#lib/values/code_points.ts";
import { universalLines } from "./contents.ts";

/** The arguments of `file.replace` that determine the new text. */
export interface Replacing {
  readonly pattern: string;
  readonly repl: string;
  /** How many matches to replace; 0 for all. */
  readonly count?: number;
  /** Bits of Python's flags. */
  readonly flags: number;
  readonly appendIfNotFound?: boolean;
  readonly prependIfNotFound?: boolean;
  /** The text to add if nothing matched; `repl` by default. */
  readonly notFoundContent?: string | null;
  /** Whether a backslash in `repl` is one. */
  readonly backslashLiteral?: boolean;
}

/** The lines before and after, with their ends. */
export interface Replaced {
  readonly before: readonly string[];
  readonly after: readonly string[];
  /** Whether something is to be written. */
  readonly changed: boolean;
}

/** Whether the file is handled as characters or as bytes. */
export type TextKind = "bytes" | "text";

/**
 * Whether the pattern is anywhere in `text`.
 * @throws {RegexError}
 */
export function searchIn(text: string, { pattern, flags, kind }: Replacing & { readonly kind: TextKind }): boolean {
  return hasMatch(kind === "bytes" ? byteRegex(pattern, flags) : regexWithFlags(pattern, flags), text);
}

/**
 * Replaces the matches of a pattern; adds content if there are none and the request says so.
 * @throws {RegexError}
 */
export function replaceIn(text: string, request: Replacing, kind: TextKind): Replaced {
  const compile = kind === "bytes" ? byteRegex : regexWithFlags;
  const native = (given: string) => kind === "bytes" ? byteText(new TextEncoder().encode(given)) : given;
  const { text: result, count } = substitute(compile(request.pattern, request.flags), {
    text,
    replacement: native(request.repl),
    count: request.count ?? 0,
    literal: request.backslashLiteral === true,
  });
  const before = universalLines(text);
  const after = universalLines(result);
  const putsIn = request.appendIfNotFound === true || request.prependIfNotFound === true;
  const content = request.notFoundContent || request.repl;
  const there = count > 0 ||
    (putsIn && hasMatch(compile(`^${escapeRegex(content)}($|(?=\r\n))`, request.flags), text));
  if (there || !putsIn) return { before, after, changed: count > 0 && result !== text };
  const line = `${native(request.notFoundContent ?? request.repl)}\n`;
  if (request.prependIfNotFound) return { before, after: [line, ...after], changed: true };
  const last = after.at(-1);
  if (last !== undefined && !last.endsWith("\n")) after[after.length - 1] = `${last}\n`;
  return { before, after: [...after, line], changed: true };
}

/** What `file.comment_line` finds and makes. */
export interface Commented {
  /** The lines that are changed, before and after. */
  readonly before: readonly string[];
  readonly after: readonly string[];
  readonly text: string;
}

/**
 * Puts `char` before the lines that `regex` matches, or takes it off those that it makes comments of.
 * @returns `undefined` if no line matches.
 * @throws {RegexError}
 */
export function commentLines(
  text: string,
  { regex, char, comment }: { readonly regex: string; readonly char: string; readonly comment: boolean },
): Commented | undefined {
  const core = rstripChars(regex.replace(/^\^+/, ""), "$");
  const end = regex.endsWith("$") ? "$" : "";
  const whole = comment ? `${regex.startsWith("^") ? "^" : ""}(${core})${end}` : `^${char}\\s*(${core})${end}`;
  const compiled = pythonRegex(whole);
  const before: string[] = [], after: string[] = [];
  const lines = linesWithEnds(text).map((line) => {
    if (!compiled.test(line)) return line;
    const changed = comment ? char + line : withoutLeading(line, char);
    before.push(line);
    after.push(changed);
    return changed;
  });
  return before.length === 0 ? undefined : { before, after, text: lines.join("") };
}

/** Python's `text.lstrip(chars)`. */
export function withoutLeading(text: string, chars: string): string {
  let at = 0;
  while (at < text.length && chars.includes(text[at])) at++;
  return text.slice(at);
}

/** Salt's escaping for `sed`: quotes and slashes, and with `all` the special characters of expressions. */
export function sedEscape(text: string, all: boolean): string {
  const quoted = text.replaceAll("'", `'"'"'`).replaceAll("/", "\\/");
  return all ? quoted.replace(/[\^.[$()|*+?{]/g, "\\$&") : quoted;
}

/** The letters of Python's flags that `file.psed` takes. */
const PSED_FLAGS: Readonly<Record<string, number>> = { I: 2, L: 4, M: 8, S: 16, U: 32, X: 64 };

/**
 * `file.psed`: replaces in the text after the matches of `limit`, or everywhere.
 * @throws {CommandError} For a letter that is not a flag.
 * @throws {RegexError}
 */
export function replaceByPsed(
  text: string,
  { before, after, limit, flags }: {
    readonly before: string;
    readonly after: string;
    readonly limit: string;
    readonly flags: string;
  },
): string {
  const bits = [...flags.replaceAll("g", "")].reduce((all, letter) => {
    if (!Object.hasOwn(PSED_FLAGS, letter)) {
      throw new CommandError(`'${letter}' is no flag: it is one of g, I, L, M, S, U, X`);
    }
    return all | PSED_FLAGS[letter];
  }, 0);
  const rest = limit === ""
    ? text
    : splitByRegex(regexWithFlags(limit, 0), text).slice(1).map((part) => part ?? "").join("");
  return substitute(regexWithFlags(before, bits), {
    text: rest,
    replacement: after,
    count: flags.includes("g") ? 0 : 1,
  })
    .text;
}
