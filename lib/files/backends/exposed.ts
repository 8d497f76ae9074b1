/**
 * White and black lists of the file server's backends: of environments, and of minions.
 * Source: Salt 3008.3 `salt/utils/stringutils.py` check_whitelist_blacklist.
 * @module
 */

import { compileMatchExpression } from "#lib/text/expr_match.ts";

/**
 * A test for names: those on the white list, if there is one, and not on the black list. Both hold globs or regular
 * expressions.
 */
export function isExposed(whitelist: readonly string[], blacklist: readonly string[]): (name: string) => boolean {
  const [white, black] = [whitelist, blacklist].map((list) => list.map(compileMatchExpression));
  return (name) => (white.length === 0 || white.some((test) => test(name))) && !black.some((test) => test(name));
}
