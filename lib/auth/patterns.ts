/**
 * The patterns for users, functions and arguments in access rules.
 * Source: Salt 3008.3 `salt/utils/stringutils.py` (`expr_match`), `salt/utils/minions.py` (`match_check`).
 * @module
 */

import { RegexError } from "#lib/errors.ts";
import { matchesGlob } from "#lib/text/glob.ts";
import { pythonRegex } from "#lib/regex/regex.ts";

/** Whether `pattern`, a glob or a regular expression, matches the whole `text`, a name of a user. */
export function matchesName(pattern: string, text: string): boolean {
  return pattern === text || matchesGlob(pattern, text) || fullMatch(pattern, text);
}

/**
 * Whether `pattern`, a regular expression, allows `text`, a function or an argument. In Salt the expression needs to
 * match only the beginning, so that `cmd.run` allows `cmd.run_all`. Here it matches the whole, or the whole as a glob
 * (`test.ver*`), and never allows what Salt's would not.
 */
export function matchesRule(pattern: string, text: string): boolean {
  return fullMatch(pattern, text) || (matchesGlob(pattern, text) && matchesBeginning(pattern, text));
}

/**
 * Whether `pattern`, a regular expression, matches the beginning of `text`: Python's `re.match`. False for an invalid
 * expression.
 */
function matchesBeginning(pattern: string, text: string): boolean {
  try {
    return pythonRegex(pattern).test(text);
  } catch (error) {
    if (error instanceof RegexError) return false;
    throw error;
  }
}

/**
 * Whether `pattern` as a regular expression matches the whole `text`; most globs are invalid expressions, which match
 * nothing.
 */
function fullMatch(pattern: string, text: string): boolean {
  return matchesBeginning(`(?:${pattern})\\Z`, text);
}
