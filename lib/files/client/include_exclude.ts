/**
 * Chooses paths by patterns: globs, and Python's regular expressions after `E@`. Source: Salt 3008.3,
 * `salt/utils/stringutils.py` check_include_exclude.
 * @module
 */

import { compileGlob } from "#lib/text/glob.ts";
import { pythonRegex } from "#lib/regex/regex.ts";

/** A pattern, or several; empty: none. */
export type Patterns = string | readonly string[] | undefined;

/**
 * Makes a test for paths: a path that matches `include`, if given, and does not match `exclude`.
 * @throws {Error} If an expression cannot be read.
 */
export function pathChooser(include: Patterns, exclude: Patterns): (path: string) => boolean {
  const [taken, left] = [anyOf(include), anyOf(exclude)];
  return (path) => (taken?.(path) ?? true) && !(left?.(path) ?? false);
}

function anyOf(patterns: Patterns): ((path: string) => boolean) | undefined {
  const list = typeof patterns === "string" ? [patterns] : patterns ?? [];
  const tests = list.filter((pattern) => pattern !== "").map((pattern) => {
    if (!pattern.startsWith("E@")) return compileGlob(pattern);
    const regex = pythonRegex(pattern.slice(2), { search: true });
    return (path: string) => regex.test(path);
  });
  return tests.length === 0 ? undefined : (path) => tests.some((test) => test(path));
}
