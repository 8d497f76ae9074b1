/**
 * The control characters that Python writes as a backslash and one letter, in string literals and in replacements of
 * `re`. Source: docs.python.org, "String and Bytes literals", "re".
 * @module
 */

/** The characters by the letter after the backslash; a second backslash is itself. */
export const CONTROL_ESCAPES: Readonly<Record<string, string>> = {
  a: "\x07",
  b: "\b",
  f: "\f",
  n: "\n",
  r: "\r",
  t: "\t",
  v: "\v",
  "\\": "\\",
};
