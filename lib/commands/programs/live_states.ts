/**
 * Shows the states of a run in this process as they finish, like `salt --live` shows those of minions.
 * @module
 */

import type { JobIo } from "#lib/commands/cli/run_command.ts";
import { MACHINE_OUTPUTTERS } from "#lib/output/outputters.ts";
import { isColoured, type OutputSettings } from "#lib/output/printer.ts";
import type { JobContext } from "#lib/plugins/job_context.ts";
import { stateLines } from "#lib/commands/report/state_lines.ts";

/** Shows states under `name`: on standard output; on standard error, if a program reads the results. */
export function showLiveStates(name: string, output: OutputSettings, io: JobIo): NonNullable<JobContext["watchState"]> {
  const forProgram = output.out !== null && MACHINE_OUTPUTTERS.includes(output.out);
  const color = isColoured(output, {
    isTerminal: forProgram ? io.isErrorTerminal : io.isTerminal,
    noColor: io.noColor,
  });
  const show = stateLines({ color, io, forProgram });
  return (ret, len) => show(name, { ret, len });
}
