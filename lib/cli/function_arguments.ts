/**
 * The words of a command line behind a function's name, as that function's arguments.
 * @module
 */

import { type CallArgs, parseCliArgs } from "../yaml/arguments.ts";

/** The arguments that `words` stand for; `no_parse` is what was typed after `--no-parse`: names, separated by commas. */
export function functionArguments(
  words: readonly string[],
  { no_parse }: { readonly no_parse: string | null },
): CallArgs {
  return parseCliArgs(words, { noParse: no_parse?.split(",").map((name) => name.trim()) });
}
