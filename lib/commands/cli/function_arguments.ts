/**
 * Parses the words after a function's name on a command line into the function's arguments.
 * @module
 */

import { type CallArgs, parseCliArgs } from "#lib/yaml/arguments.ts";

/** The arguments in `words`; `no_parse` is what was typed after `--no-parse`: names, separated by commas. */
export function functionArguments(
  words: readonly string[],
  { no_parse }: { readonly no_parse: string | null },
): CallArgs {
  return parseCliArgs(words, { noParse: no_parse?.split(",").map((name) => name.trim()) });
}
