/**
 * What every command does around its work once its configuration is loaded: it opens the printer, takes the rights of
 * the service's user, opens the log and logs the warnings. At the end it always closes printer and log.
 *
 * The order is important: the output file is opened with the rights of the user who gives the command, everything after
 * it with those of the service's user.
 * @module
 */

import type { CommandIo } from "./run_command.ts";
import type { LoadedConfig } from "#lib/config/load.ts";
import type { MasterOpts, MinionOpts } from "#lib/config/options.ts";
import { OUTPUTTERS } from "#lib/output/outputters.ts";
import {
  outputPlace,
  type OutputSettings,
  outputSettings,
  type OwnOutputter,
  type PrintOptions,
  type PrintResult,
  type ResultPrinter,
  resultPrinter,
} from "#lib/output/printer.ts";
import { HeldMistakes } from "#lib/runtime/held_mistakes.ts";
import type { Logger } from "#lib/runtime/log.ts";
import { openLog } from "#lib/runtime/log_sinks.ts";
import { useColours } from "#lib/text/terminal.ts";
import type { Value } from "#lib/values/value.ts";

/** A command that is about to run. */
export interface CommandStart<O extends MasterOpts | MinionOpts, R> {
  readonly io: CommandIo;
  /** The output options of the command line. */
  readonly options: PrintOptions;
  /** The arguments of the function that is called, as on the wire: two of them say how states are shown. */
  readonly arg?: readonly Value[];
  readonly loaded: LoadedConfig<O>;
  /** Takes the rights that the command runs with. Its result is passed to the command. */
  readonly takeRights: (opts: NoInfer<O>) => R | Promise<R>;
  /** Whether results are dropped, so that no output file is opened either. */
  readonly quiet?: boolean;
}

/** What a running command works with. */
export interface CommandRun<O extends MasterOpts | MinionOpts, R> {
  readonly opts: O;
  readonly log: Logger;
  /** Prints a result with the outputter of `--out`. */
  readonly print: PrintResult;
  readonly output: OutputSettings;
  /** The result of {@linkcode CommandStart.takeRights}. */
  readonly rights: R;
}

/**
 * Does the work of a command.
 * @returns The exit code that `work` gives.
 * @throws {UsageError} If the output file cannot be written; else what `takeRights` and `work` throw.
 */
export async function withCommand<O extends MasterOpts | MinionOpts, R>(
  { io, options, arg, loaded: { opts, warnings, steps = [] }, takeRights, quiet }: CommandStart<O, R>,
  work: (run: CommandRun<O, R>) => Promise<number>,
): Promise<number> {
  const output = outputSettings(options, opts, arg);
  const query = options.query ? await (await import("#lib/output/query.ts")).loadQuery(options.query) : undefined;
  // What is printed to another place than the log has not been seen there.
  const mistakes = io.isTerminal === io.isErrorTerminal ? new HeldMistakes() : undefined;
  const write = (text: string) => {
    mistakes?.printed(text);
    io.write(text);
  };
  const place = outputPlace(
    { write, isTerminal: io.isTerminal, columns: io.columns, noColor: io.noColor },
    (text) => log.error(text),
  );
  const own = quiet ? undefined : await ownOutputter(output.out, opts);
  using print = quiet ? silentPrinter() : resultPrinter(output, place, { query, own });
  const rights = await takeRights(opts);
  const { log, close } = openLog(opts, {
    terminal: (text) => io.writeError(text),
    mistakes,
    colours: useColours({
      isTerminal: io.isErrorTerminal,
      noColor: options.no_color,
      noColorVariable: io.noColor,
      configured: opts.color,
    }),
  });
  try {
    const config = log.named("salt.config");
    for (const step of steps) config.debug(step);
    for (const warning of warnings) config.warning(warning);
    return await work({ opts, log, print, output, rights });
  } finally {
    close();
  }
}

/** The outputter in Python of this name. Built-in ones win, and need no code of it. */
async function ownOutputter(name: string | null, opts: MasterOpts | MinionOpts): Promise<OwnOutputter | undefined> {
  if (name === null || OUTPUTTERS.has(name)) return undefined;
  return await (await import("./python_outputter.ts")).pythonOutputter(name, opts);
}

function silentPrinter(): ResultPrinter {
  return Object.assign(() => {}, { [Symbol.dispose]: () => {} });
}
