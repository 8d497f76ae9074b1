/**
 * The error that a function of a module throws for what the system refused.
 * @module
 */

import { CommandError } from "#lib/errors.ts";
import { pythonOsError } from "./deno_texts.ts";

/**
 * A {@linkcode CommandError} with Python's text of an error, `[Errno 2] No such file or directory: '/x'`, to be thrown.
 * A CommandError stays the same, and so does a refusal of Deno's, which names the missing permission.
 * @param path The file that the text names.
 * @param before Text before Python's: `Unable to open file: `.
 */
export function asCommandError(error: unknown, path: string, before = ""): unknown {
  if (!(error instanceof Error) || error instanceof CommandError || error instanceof Deno.errors.NotCapable) {
    return error;
  }
  return new CommandError(before + pythonOsError(error, path), { cause: error });
}
