/**
 * Reports an unexpected error of a command: one line for the operator, everything with `--hard-crash`.
 * @module
 */

import { EX_SOFTWARE } from "#lib/runtime/sysexits.ts";
import { sanitize } from "#lib/text/terminal.ts";

/**
 * Runs a command to its exit code; an error that it throws ends it with one line and code 70.
 * @param command.writeError Writes to standard error.
 * @throws What the command throws, if `--hard-crash` is given.
 */
export async function reportUnexpected(
  command: { readonly name: string; readonly args: readonly string[]; writeError(text: string): void },
  run: (args: readonly string[]) => Promise<number>,
): Promise<number> {
  try {
    return await run(command.args);
  } catch (error) {
    if (command.args.includes("--hard-crash")) throw error;
    const text = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
    command.writeError(sanitize(`${command.name}: ${text} (--hard-crash shows where)\n`));
    return EX_SOFTWARE;
  }
}
