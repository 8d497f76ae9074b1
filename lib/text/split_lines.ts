/**
 * The lines and the words of a text: Python's `str.splitlines()` with Python's line ends, lines that only a newline
 * ends, and what white space separates.
 * Source: docs.python.org, "str.splitlines".
 * @module
 */

import { LINE_ENDS } from "#lib/values/python_text.ts";

const LINE_END = new RegExp(`\r\n|[${LINE_ENDS}]`);

/** The lines of `text` without their ends. A final line end adds no empty line; an empty text has no lines. */
export function splitLines(text: string): string[] {
  const lines = text.split(LINE_END);
  if (lines.at(-1) === "") lines.pop();
  return lines;
}

/** The lines of `text` with their ends, which are `\n` alone: Python's files of bytes. */
export function linesWithEnds(text: string): string[] {
  return text.match(/[^\n]*\n|[^\n]+$/g) ?? [];
}

/** The words of a text, which white space separates. */
export function splitWhitespace(text: string): string[] {
  return text.split(/\s+/).filter((word) => word !== "");
}

/** The words of each line that has any: a table. */
export function splitRows(text: string): string[][] {
  return text.split("\n").map(splitWhitespace).filter((words) => words.length > 0);
}
