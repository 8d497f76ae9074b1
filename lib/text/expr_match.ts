/**
 * Salt's expressions that are globs or regular expressions, whichever matches: event tags, ids in white lists.
 * Source: Salt 3008.3 `salt/utils/stringutils.py` expr_match.
 * @module
 */

import { compileGlob } from "./glob.ts";
import { type PythonRegex, pythonRegex } from "#lib/regex/regex.ts";
import { RegexError } from "#lib/errors.ts";

/** A test for texts that `expression` matches as a glob, or as a regular expression from start to end. */
export function compileMatchExpression(expression: string): (text: string) => boolean {
  return globOrRegex(expression, readRegex(expression));
}

/**
 * A test for texts that `glob` matches as a glob, or that `regex` matches. An expression that takes too many steps on a
 * text does not match it.
 * @param regex `undefined` if the expression is no valid one.
 */
export function globOrRegex(glob: string, regex: PythonRegex | undefined): (text: string) => boolean {
  const matchesGlob = compileGlob(glob);
  return (text) => matchesGlob(text) || (regex !== undefined && matches(regex, text));
}

/** Most globs are no valid regular expressions, or ones that match something else. */
function readRegex(expression: string): PythonRegex | undefined {
  try {
    return pythonRegex(`\\A${expression}\\Z`);
  } catch (error) {
    if (error instanceof RegexError) return undefined;
    throw error;
  }
}

function matches(regex: PythonRegex, text: string): boolean {
  try {
    return regex.test(text);
  } catch (error) {
    if (error instanceof RegexError) return false;
    throw error;
  }
}

/** The characters that are special in a glob or in a regular expression. */
const SPECIAL = /[*?[\]{}()^$+.\\]/;
/** Those that make the character before them optional in a regular expression. */
const OPTIONAL = /[*?{]/;

/**
 * The beginning that every text has which {@linkcode compileMatchExpression} accepts; empty if there is none in common.
 * `salt/job/*` gives `salt/job`, because as a regular expression it also matches without the last slash.
 */
export function commonPrefix(expression: string): string {
  // Alternatives have nothing in common, and have no brackets around them here.
  if (expression.includes("|")) return "";
  const at = expression.search(SPECIAL);
  if (at < 0) return expression;
  const prefix = expression.slice(0, at);
  if (!OPTIONAL.test(expression[at])) return prefix;
  return [...prefix].slice(0, -1).join("");
}
