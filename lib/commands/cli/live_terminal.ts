/**
 * Where a command shows live output, by its output options.
 * @module
 */

import type { JobIo } from "./run_command.ts";
import type { JobContext } from "#lib/plugins/job_context.ts";
import { LiveLines } from "#lib/output/live_lines.ts";
import { MACHINE_OUTPUTTERS } from "#lib/output/outputters.ts";
import { isColoured, type OutputSettings } from "#lib/output/printer.ts";
import { streamDecoder } from "#lib/text/encoding.ts";

/**
 * Lines on standard output; on standard error, if a program reads the results. A return whose output was already shown
 * is not shown in full again, unless the command line names an outputter.
 */
export function liveTerminal(output: OutputSettings, io: JobIo): LiveLines {
  const forProgram = output.out !== null && MACHINE_OUTPUTTERS.includes(output.out);
  return new LiveLines({
    write: (text) => forProgram ? io.writeError(text) : io.write(text),
    color: isColoured(output, { isTerminal: forProgram ? io.isErrorTerminal : io.isTerminal, noColor: io.noColor }),
    omitShown: output.out === null && output.file === null,
  });
}

/** Shows the output of the commands of a job in this process under `name`, one after the other. */
export function watchCommands(name: string, live: LiveLines): NonNullable<JobContext["watchCommand"]> {
  let commands = 0;
  return (encoding) => {
    const command = ++commands;
    const decoders = { stdout: streamDecoder(encoding), stderr: streamDecoder(encoding) };
    return (stream, bytes) => live.show(name, [{ command, stream, text: decoders[stream](bytes, false) }]);
  };
}
