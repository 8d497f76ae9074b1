/**
 * Python's `str.splitlines()`: which characters end a line. Knows nothing of what the lines are for.
 * Source: docs.python.org, "str.splitlines".
 * @module
 */

// From a string: the linter refuses control characters in a regular expression literal.
const LINE_END = new RegExp("\r\n|[\n\r\v\f\x1c-\x1e\x85\u2028\u2029]");

/** The lines of `text` without their ends; a final line end adds no empty line, and an empty text has no lines. */
export function splitLines(text: string): string[] {
  const lines = text.split(LINE_END);
  if (lines.at(-1) === "") lines.pop();
  return lines;
}
