/**
 * The process that is `salt-call`. Packed executables start this file, so that the start of a command reads nothing of
 * the minion; `minion.ts` imports it where one program has both names.
 * @module
 */

import { jobIo, writeError } from "#lib/commands/cli/process_io.ts";
import { type Program, programName } from "#lib/commands/cli/program_name.ts";
import { reportUnexpected } from "#lib/commands/cli/unexpected_error.ts";
import { nameProcess } from "#lib/runtime/process_name.ts";
import { runSaltCall } from "./salt_call.ts";

/**
 * Runs `salt-call` under the name that it was started by.
 * @returns The exit code.
 */
export function saltCallProcess({ name, args }: Program): Promise<number> {
  return reportUnexpected({ name, args, writeError }, (words) => runSaltCall(words, jobIo()));
}

if (import.meta.main) {
  const program = programName(Deno.args, "salt-call");
  nameProcess(program.name, program.args);
  Deno.exit(await saltCallProcess(program));
}
