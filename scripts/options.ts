/**
 * The options of a script's command line.
 *
 * By Node's `parseArgs`, which refuses invalid command lines. `parseArgs` of `@std/cli` 1.x was tried: it takes `--out`
 * without a value as the empty text, `--nope` as an option, one word too many, and `--pack=maybe` as true, each without
 * an error; the caller would have to refuse them, and its npm build has no types.
 * @module
 */

import { parseArgs, type ParseArgsConfig } from "node:util";

/** An option that cannot be; its message is for the user, and the exit code is 64. */
export class OptionError extends Error {
  override name = "OptionError";
}

/**
 * The options and positionals of a command line.
 * @throws {OptionError} For an unknown option, or one without its value.
 */
export function parseOptions<T extends ParseArgsConfig>(config: T): ReturnType<typeof parseArgs<T>> {
  try {
    return parseArgs(config);
  } catch (error) {
    const isOption = error instanceof TypeError && "code" in error && String(error.code).startsWith("ERR_PARSE_ARGS");
    throw isOption ? new OptionError(error.message) : error;
  }
}
