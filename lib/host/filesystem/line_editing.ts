/**
 * `file.line`: one line of a text, put in, ensured, replaced or deleted. Works on lines with their ends.
 * Source: Salt 3008.3, `salt/modules/file.py` line, _set_line.
 * @module
 */

import { CommandError, messageOf, RegexError } from "#lib/errors.ts";
import { hasMatch, regexWithFlags } from "#lib/regex/replace.ts";
import { rstrip, rstripChars } from "#lib/values/python_text.ts";
import type { PythonRegex } from "#lib/regex/regex.ts";
import { universalLines } from "./contents.ts";

/** The action on the line. */
export type LineMode = "insert" | "ensure" | "delete" | "replace";

/** The arguments of `file.line` that say what to do. */
export interface LineEdit {
  readonly content: string | null;
  /** Which line to replace or delete: an expression, or a part of it. Default: `content`. */
  readonly match?: string | null;
  readonly mode: LineMode;
  /** `start` or `end`, for insert. */
  readonly location?: string | null;
  readonly before?: string | null;
  readonly after?: string | null;
  /** Whether the line gets the indentation of its neighbour. */
  readonly indent?: boolean;
}

const DOTALL = 16;

/**
 * Reads Salt's `mode`.
 * @throws {CommandError} If there is none, or no such.
 */
export function lineMode(mode: string | null): LineMode {
  if (mode === null || mode === "") throw new CommandError("Mode was not defined. How to process the file?");
  const lower = mode.toLowerCase();
  if (lower === "insert" || lower === "ensure" || lower === "delete" || lower === "replace") return lower;
  throw new CommandError(`Unknown mode: "${lower}"`);
}

/**
 * The text with the line edited.
 * @throws {CommandError} If the edit says too little, or the place is not found, or found more than once.
 */
export function editLine(text: string, edit: LineEdit): string[] {
  const { content, mode, before = null, after = null } = edit;
  if (mode !== "delete" && content === null) throw new CommandError('Content can only be empty if mode is "delete"');
  const lines = universalLines(text);
  if (lines.length > 0 && endOf(lines[lines.length - 1]) !== "") lines.push("");
  const match = !edit.match && before === null && after === null ? content : edit.match ?? null;
  const edited = placeLine(lines, { ...edit, match });
  edited.forEach((line, i) => {
    if (endOf(line) !== "" || i + 1 >= edited.length) return;
    edited[i] = withEnd(line, edited[i > 1 ? i - 1 : 1]);
  });
  if (edited.at(-1) === "") edited.pop();
  return edited;
}

/**
 * The lines that an expression matches, or that contain its text; `undefined` if there are no lines or no expression.
 */
function selectLines(lines: readonly string[], regex: string | null): string[] | undefined {
  if (lines.length === 0 || !regex) return undefined;
  let compiled: PythonRegex;
  try {
    compiled = regexWithFlags(regex, DOTALL);
    return lines.filter((line) => hasMatch(compiled, line) || line.includes(regex));
  } catch (error) {
    throw new CommandError(`${error instanceof RegexError ? error.problem : messageOf(error)}: '${regex}'`);
  }
}

function requireOne(lines: readonly string[], name: string): void {
  if (lines.length === 1) return;
  const what = lines.length > 1 ? "more than" : "less than";
  throw new CommandError(`Found ${what} expected occurrences in "${name}" expression`);
}

function placeLine(all: readonly string[], edit: LineEdit): string[] {
  const lines = [...all];
  const content = edit.content ?? "";
  const [after, before, match] = [edit.after, edit.before, edit.match].map((regex) =>
    selectLines(lines, regex ?? null)
  );
  const indented = (neighbour: string) => edit.indent === false ? content : withIndent(content, neighbour);
  switch (edit.mode) {
    case "delete":
      return match === undefined || match.length === 0 ? lines : lines.filter((line) => line !== match[0]);
    case "replace": {
      if (match === undefined || match.length === 0) return lines;
      const at = lines.indexOf(match[0]);
      return lines.with(at, indented(lines[at]));
    }
    case "insert":
      return insertLine(lines, { edit, after, before, indented });
    case "ensure":
      return ensureLine(lines, { content, after, before, indented });
  }
}

interface Placing {
  readonly after: readonly string[] | undefined;
  readonly before: readonly string[] | undefined;
  readonly indented: (neighbour: string) => string;
}

function insertLine(
  lines: string[],
  { edit, after, before, indented }: Placing & { readonly edit: LineEdit },
): string[] {
  const content = edit.content ?? "";
  if (before === undefined && after === undefined && (edit.location ?? null) === null) {
    throw new CommandError('On insert either "location" or "before/after" conditions are required.');
  }
  if (edit.location) {
    if (edit.location === "end") return [...lines, lines.length > 0 ? indented(lines[lines.length - 1]) : content];
    if (edit.location !== "start") return lines;
    return lines.length > 0 ? [withEnd(content, lines[0]), ...lines] : [`${content}\n`];
  }
  if (before?.length && after?.length) {
    requireOne(before, "before");
    requireOne(after, "after");
    const at = lines.indexOf(before[0]);
    return lines.toSpliced(at, 0, indented(lines[at]));
  }
  if (after?.length) {
    requireOne(after, "after");
    const at = lines.indexOf(after[0]);
    const next: string | undefined = lines[at + 1];
    if (next !== undefined && bare(next) === bare(content)) return lines;
    return lines.toSpliced(at + 1, 0, indented(lines[at]));
  }
  if (before?.length) {
    requireOne(before, "before");
    const at = lines.indexOf(before[0]);
    if (bare(lines.at(at - 1) ?? "") === bare(content)) return lines;
    return lines.toSpliced(at, 0, indented(lines[at]));
  }
  throw new CommandError("Neither before or after was found in file");
}

function ensureLine(
  lines: string[],
  { content, after, before, indented }: Placing & { readonly content: string },
): string[] {
  if (before?.length && after?.length) {
    requireOne(after, "after");
    requireOne(before, "before");
    const first = lines.indexOf(after[0]), last = lines.indexOf(before[0]);
    if (lines.some((line) => line.trimStart() === content)) return lines;
    if (first + 1 === last) return lines.toSpliced(first + 1, 0, indented(lines[first]));
    if (first + 2 === last) return lines.with(first + 1, indented(lines[first]));
    throw new CommandError('Found more than one line between boundaries "before" and "after".');
  }
  if (before?.length) {
    requireOne(before, "before");
    const at = lines.indexOf(before[0]);
    if (at > 0 && bare(lines[at - 1]) === bare(content)) return lines;
    return lines.toSpliced(at, 0, indented(lines.at(at - 1) ?? ""));
  }
  if (after?.length) {
    requireOne(after, "after");
    const at = lines.indexOf(after[0]);
    if (at + 1 < lines.length && bare(lines[at + 1]) === bare(content)) return lines;
    return lines.toSpliced(at + 1, 0, indented(lines[at]));
  }
  throw new CommandError(
    "Wrong conditions? Unable to ensure line without knowing where to put it before and/or after.",
  );
}

/** A line without its end. */
function bare(line: string): string {
  return rstripChars(line, "\r\n");
}

/** The end of a line: `\n`, `\r`, `\r\n` or nothing. */
function endOf(line: string): string {
  return /(?:\r\n|\n|\r)$/.exec(line)?.[0] ?? "";
}

function withIndent(line: string, neighbour: string): string {
  return (/^[\t ]*/.exec(neighbour)?.[0] ?? "") + line.trimStart();
}

function withEnd(line: string, neighbour: string): string {
  return rstrip(line) + (endOf(neighbour) || "\n");
}
