/**
 * Converts a job's arguments to arguments of git: options as a text or a list, names, lists with commas.
 * Source: Salt 3008.3, `salt/modules/git.py`.
 * @module
 */

import { checkedWord } from "#lib/programs/run_program.ts";
import { shlexSplit } from "#lib/text/shlex.ts";
import { str, truthy, type Value } from "#lib/values/value.ts";

/** Options: a text that is split as a shell would, or a list of words. A `--` at the end of a text is left out. */
export function gitOptionWords(options: Value): string[] {
  if (options === null) return [];
  if (Array.isArray(options)) return options.map(str);
  const words = typeof options === "string" ? shlexSplit(options) : [str(options)];
  return words.at(-1) === "--" ? words.slice(0, -1) : words;
}

/** Words of a list, or of a text with commas. */
export function listedWords(value: Value): string[] {
  return Array.isArray(value) ? value.map(str) : str(value).split(",");
}

/**
 * A name of a revision, a remote or the like, which must not be an option of git.
 * @throws {InvocationError} If it begins with `-` (but for `-` itself, the branch before), or is empty or several
 * lines.
 */
export function revisionWord(value: string, what = "revision"): string {
  return value === "-" ? value : checkedWord(value, what);
}

/** {@linkcode revisionWord} as a list, empty for an empty argument. */
export function revisionWords(...values: readonly Value[]): string[] {
  return values.filter(truthy).map((one) => revisionWord(str(one)));
}
