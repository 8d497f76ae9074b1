/**
 * Python's `re.sub`, `re.search`, `re.split` and `re.findall` with a {@linkcode PythonRegex}, also for bytes, and the
 * flags of `re`.
 *
 * Bytes are texts of the characters U+0000 to U+00FF here ({@linkcode byteText}), with the flag `a`: to Python, only
 * ASCII has letters in bytes. Source: docs.python.org, "re".
 * @module
 */

import { byteText, codePoints } from "#lib/values/code_points.ts";
import { CONTROL_ESCAPES } from "#lib/values/control_escapes.ts";
import { CommandError, RegexError } from "#lib/errors.ts";
import { type PythonRegex, pythonRegex } from "./regex.ts";
import type { Capture, Span } from "./program.ts";
import { isInt, isMap, str, type Value } from "#lib/values/value.ts";

/** Python's flags, as `re.RegexFlag` numbers them; those without a letter change nothing here. */
const FLAGS: Readonly<Record<string, readonly [bit: number, letter: string]>> = {
  ASCII: [256, "a"],
  A: [256, "a"],
  IGNORECASE: [2, "i"],
  I: [2, "i"],
  LOCALE: [4, ""],
  L: [4, ""],
  MULTILINE: [8, "m"],
  M: [8, "m"],
  DOTALL: [16, "s"],
  S: [16, "s"],
  UNICODE: [32, ""],
  U: [32, ""],
  VERBOSE: [64, "x"],
  X: [64, "x"],
  DEBUG: [128, ""],
};

/** The bit of MULTILINE. */
export const MULTILINE = 8;

/**
 * The bits of an argument `flags`: a number, a name, or a list of names.
 * @throws {CommandError} For anything else.
 */
export function regexFlags(flags: Value): number {
  if (isInt(flags)) return Number(flags);
  const names = Array.isArray(flags) ? flags : typeof flags === "string" ? [flags] : undefined;
  if (names === undefined || isMap(flags)) {
    throw new CommandError(
      `Invalid re flags: "${
        str(flags)
      }", must be given either as a single flag string, a list of strings, as an integer, or as an re flag`,
    );
  }
  return names.reduce((bits: number, name) => {
    const word = str(name).toUpperCase();
    if (!Object.hasOwn(FLAGS, word)) throw new CommandError(`Invalid re flag given: ${str(name)}`);
    return bits | FLAGS[word][0];
  }, 0);
}

/**
 * Compiles `pattern` with flags of `re` for searching.
 * @throws {RegexError}
 */
export function regexWithFlags(pattern: string, bits: number): PythonRegex {
  const letters = new Set(Object.values(FLAGS).filter(([bit]) => (bits & bit) !== 0).map(([, letter]) => letter));
  const flags = [...letters].join("");
  if (flags === "") return pythonRegex(pattern, { search: true });
  try {
    return pythonRegex(`(?${flags})${pattern}`, { search: true });
  } catch (error) {
    // Errors are reported without the flags, so that positions are counted from the beginning of the pattern.
    if (error instanceof RegexError) pythonRegex(pattern, { search: true });
    throw error;
  }
}

/**
 * Compiles `pattern` with flags of `re`, for searching {@linkcode byteText}s.
 * @throws {RegexError}
 */
export function byteRegex(pattern: string, bits: number): PythonRegex {
  return regexWithFlags(byteText(new TextEncoder().encode(pattern)), bits | FLAGS.ASCII[0]);
}

/**
 * Whether `regex` matches anywhere in `text`, however long it is.
 * @throws {RegexError}
 */
export function hasMatch(regex: PythonRegex, text: string): boolean {
  return regex.matches(codePoints(text)).next().value !== undefined;
}

/** The result of {@linkcode substitute}. */
export interface Substitution {
  readonly text: string;
  /** Number of replaced matches. */
  readonly count: number;
}

/**
 * Python's `re.subn`.
 * @param options.count How many matches to replace; 0 for all.
 * @param options.literal Whether a backslash in `replacement` means nothing.
 * @throws {RegexError} If `replacement` refers to an unknown group, or matching takes too long.
 */
export function substitute(
  regex: PythonRegex,
  { text, replacement, count = 0, literal = false }: {
    readonly text: string;
    readonly replacement: string;
    readonly count?: number;
    readonly literal?: boolean;
  },
): Substitution {
  const parts = literal ? [replacement] : readTemplate(replacement, regex);
  const codes = codePoints(text);
  const made: string[] = [];
  let at = 0, replaced = 0;
  for (const match of regex.matches(codes)) {
    made.push(slice(codes, { start: at, end: match.start }));
    for (const part of parts) {
      made.push(typeof part === "string" ? part : slice(codes, groupOf(match, part)));
    }
    at = match.end;
    replaced++;
    if (count > 0 && replaced >= count) break;
  }
  if (replaced === 0) return { text, count: 0 };
  made.push(slice(codes, { start: at, end: codes.length }));
  return { text: made.join(""), count: replaced };
}

/** Python's `re.split`: the texts between the matches, and the groups of each match. */
export function splitByRegex(regex: PythonRegex, text: string): (string | null)[] {
  const codes = codePoints(text);
  const parts: (string | null)[] = [];
  let at = 0;
  for (const match of regex.matches(codes)) {
    parts.push(slice(codes, { start: at, end: match.start }));
    for (const group of match.groups) parts.push(group === undefined ? null : slice(codes, group));
    at = match.end;
  }
  parts.push(slice(codes, { start: at, end: codes.length }));
  return parts;
}

function groupOf(match: Capture, number: number): Span {
  return number === 0 ? match : match.groups[number - 1] ?? { start: 0, end: 0 };
}

/** Maximum number of arguments for one call. */
const CHUNK = 1 << 13;

function slice(codes: readonly number[], { start, end }: Span): string {
  let text = "";
  for (let at = start; at < end; at += CHUNK) {
    text += String.fromCodePoint(...codes.slice(at, Math.min(end, at + CHUNK)));
  }
  return text;
}

/** The parts of a replacement: texts, and numbers of groups. */
function readTemplate(template: string, regex: PythonRegex): (string | number)[] {
  const parts: (string | number)[] = [];
  const refuse = (problem: string) => new RegexError(template, problem);
  let text = "";
  const group = (number: number, at: number) => {
    if (number > regex.groups) throw refuse(`invalid group reference ${number} at position ${at}`);
    parts.push(text, number);
    text = "";
  };
  for (let i = 0; i < template.length; i++) {
    if (template[i] !== "\\") {
      text += template[i];
      continue;
    }
    const rest = template.slice(i + 1);
    const octal = /^(?:0[0-7]{0,2}|[0-3][0-7]{2})/.exec(rest);
    const number = /^[1-9][0-9]?/.exec(rest);
    const reference = /^g<([^>]*)>/.exec(rest);
    if (rest === "") throw refuse("bad escape (end of pattern)");
    if (octal !== null) {
      text += String.fromCharCode(parseInt(octal[0], 8));
      i += octal[0].length;
    } else if (number !== null) {
      group(Number(number[0]), i + 1);
      i += number[0].length;
    } else if (rest[0] === "g") {
      if (reference === null) throw refuse(`missing < at position ${i + 2}`);
      const number = /^\d+$/.test(reference[1]) ? Number(reference[1]) : regex.names.get(reference[1]);
      if (number === undefined) throw refuse(`unknown group name '${reference[1]}'`);
      group(number, i + 3);
      i += reference[0].length;
    } else if (Object.hasOwn(CONTROL_ESCAPES, rest[0])) {
      text += CONTROL_ESCAPES[rest[0]];
      i++;
    } else if (/^[A-Za-z]/.test(rest)) {
      throw refuse(`bad escape \\${rest[0]} at position ${i}`);
    } else {
      text += `\\${rest[0]}`;
      i++;
    }
  }
  return [...parts, text];
}
