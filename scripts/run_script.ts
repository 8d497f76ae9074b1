/**
 * Runs the `main` of a script.
 * @module
 */

import { EX_USAGE } from "#lib/runtime/sysexits.ts";
import { messageOf } from "#lib/errors.ts";
import { writeError } from "#lib/commands/cli/process_io.ts";
import { OptionError } from "./options.ts";

/** How a script reports errors of its user. */
export interface ScriptErrors {
  /** The script's name, for its messages. */
  readonly name: string;
  /**
   * Its usage, printed after the message about an invalid command line.
   * @default ""
   */
  readonly usage?: string;
  /** Errors whose message is enough for the user: exit code 1. Others are faults and end the script with a stack. */
  readonly failures?: readonly (new (...args: never[]) => Error)[];
}

/**
 * Runs `main` with the words of the command line, and ends the process with the exit code that it returns; without one
 * the process goes on as long as it has work. An {@linkcode OptionError} ends it with 64.
 */
export async function runScript(
  main: (argv: string[]) => Promise<number | void>,
  { name, usage = "", failures = [] }: ScriptErrors,
): Promise<void> {
  try {
    const code = await main(Deno.args);
    if (code !== undefined) Deno.exit(code);
  } catch (error) {
    if (error instanceof OptionError) {
      writeError(`${name}: ${error.message}\n${usage}`);
      Deno.exit(EX_USAGE);
    }
    if (!failures.some((kind) => error instanceof kind)) throw error;
    writeError(`${name}: ${messageOf(error)}\n`);
    Deno.exit(1);
  }
}
