/**
 * Parses the options of a script's command line.
 *
 * Node's `parseArgs` is used: it rejects invalid command lines. `parseArgs` of `@std/cli` 1.x was tried: without an
 * error, it accepts `--out` without a value as the empty text, an unknown option `--nope`, an additional argument, and
 * `--pack=maybe` as true. The caller would have to reject them, and its npm build has no types.
 * @module
 */

import { parseArgs, type ParseArgsConfig } from "node:util";

/** An invalid option. The message is for the user, and the exit code is 64. */
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
