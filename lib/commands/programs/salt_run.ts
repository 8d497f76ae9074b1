/**
 * `salt-run`: runs a function of a runner on the master's host. Reads the command line and the master's configuration,
 * shows the result, and gives the exit code: 0 success; the code that the runner set; 1 it threw; 64 usage, unknown
 * function, invalid arguments; 69 no master; 77 refused, or no permission; 130 Ctrl-C. lib/client/runner.ts runs the
 * function.
 * Source: Salt's `salt/cli/run.py` and `salt/runner.py`; docs.saltproject.io, "salt-run".
 * @module
 */

import { interruptedRun, type JobIo, runCli } from "#lib/commands/cli/run_command.ts";
import { addStdinArgs, type Parsed } from "#lib/commands/cli/command_line.ts";
import { functionArguments } from "#lib/commands/cli/function_arguments.ts";
import { becomeServiceUser } from "#lib/commands/cli/command_user.ts";
import { loadClientConfig } from "#lib/config/load.ts";
import { UsageError } from "#lib/errors.ts";
import type { EventData } from "#lib/bus/event.ts";
import { interruptedCode } from "#lib/commands/cli/exit_codes.ts";
import { EX_NOPERM, EX_UNAVAILABLE, EX_USAGE } from "#lib/runtime/sysexits.ts";
import { collectDocs } from "#lib/plugins/docs.ts";
import { isJid, makeJid } from "#lib/protocol/jid.ts";
import type { Family } from "#lib/plugins/loader.ts";
import type { Logger } from "#lib/runtime/log.ts";
import type { MasterOpts } from "#lib/config/options.ts";
import { MACHINE_OUTPUTTERS } from "#lib/output/outputters.ts";
import type { PrintResult } from "#lib/output/printer.ts";
import type { LocalCommandsOptions } from "#lib/client/runner_local.ts";
import type { LocalCommands, RunnerContext } from "#lib/client/runner_context.ts";
import { type RunnerEnd, type RunnerOutcome, runRunner } from "#lib/client/runner.ts";
import { MasterPython } from "#lib/master/functions/python_functions.ts";
import { loadRunners } from "#lib/master/functions/catalogues.ts";
import { runnerHost } from "#lib/master/processes/runner_host.ts";
import { detachedWords, SALT_RUN, type SaltRunTable } from "./salt_run_options.ts";
import { runProfiled } from "#lib/commands/cli/profiled.ts";
import { openSharedParents } from "#lib/os/shared_parents.ts";
import { openSigner } from "#lib/commands/cli/open_signer.ts";
import { checkEauthOptions, credentialsBy } from "./eauth.ts";
import { startingUser } from "#lib/runtime/starting_user.ts";
import { requestRunner } from "#lib/client/runner_request.ts";
import { masterFailure } from "./master_failure.ts";
import { startUp } from "#lib/commands/cli/start_up.ts";
import { withCommand } from "#lib/commands/cli/with_command.ts";
import { sanitize } from "#lib/text/terminal.ts";
import { isMap, str, toNumber, type Value } from "#lib/values/value.ts";

/** The exit code for each end, unless the runner has set one. */
const EXIT_CODES: Readonly<Record<RunnerEnd, number>> = {
  done: 0,
  unavailable: EX_USAGE,
  invalid: EX_USAGE,
  failed: 1,
  noMaster: EX_UNAVAILABLE,
  refused: EX_NOPERM,
};

/** Input and output of `salt-run`, and its access to the master. */
export interface SaltRunIo extends JobIo {
  /**
   * Stamps an event and fires it on the bus of the master with these options.
   * @returns Whether one is running.
   */
  fire(tag: string, data: EventData, opts: MasterOpts): Promise<boolean>;
  /** Whether the reader of standard output has gone. Default: it is there. */
  outputGone?(): boolean;
  /** The minions of the master with these options. */
  local(opts: MasterOpts, options: LocalCommandsOptions): LocalCommands;
  /** Starts `salt-run` with these words in the background, for `user`. */
  startDetached(words: readonly string[], user: string): void;
}

/**
 * Runs `salt-run` with the words of its command line.
 * @returns The exit code.
 */
export function runSaltRun(argv: readonly string[], io: SaltRunIo): Promise<number> {
  const run = (parsed: Parsed<SaltRunTable>) => runParsed(parsed, io);
  return runCli({ command: SALT_RUN, owner: "the master's user", run, failure: masterFailure }, argv, io);
}

async function runParsed(parsed: Parsed<SaltRunTable>, io: SaltRunIo): Promise<number> {
  if (parsed.options.args_stdin) addStdinArgs(SALT_RUN, parsed, await io.readStdin());
  const loaded = startUp(SALT_RUN, parsed, { role: "master", load: loadClientConfig });
  const { options, args: [fun, ...words] } = parsed;
  const jid = options.jid ?? makeJid(undefined, { unique: loaded.opts.unique_jid });
  if (!isJid(jid)) throw new UsageError(`option --jid: invalid job id: '${jid}'`);
  await checkEauthOptions(options, loaded.opts);
  const start = { io, options, loaded, takeRights: becomeServiceUser, quiet: options.quiet };
  // With the rights of the calling user, whose key it is.
  using signer = await openSigner(loaded.opts.sign, io.ask);
  return await withCommand(start, async ({ opts, log, print: show, rights: user }) => {
    const printed = (line: string) => io.writeError(`${sanitize(line)}\n`);
    await using python = new MasterPython(opts, { log, signal: io.signal, printed });
    const catalogue = loadRunners(opts, log, python);
    if (options.doc || fun === undefined) return await printDocs(parsed.args, catalogue, io);
    if (options.eauth) {
      if (options.async) throw new UsageError("--async cannot go with --auth");
      const proof = await credentialsBy(options.eauth, options, { opts, io, log });
      const wanted = { fun, ...functionArguments(words, options) };
      const outcome = await requestRunner(opts, wanted, { proof, signal: io.signal });
      // The master runs it to its end.
      return io.signal.aborted ? interruptedRun(io) : conclude(outcome, { show, log });
    }
    // An unknown function is reported here, not in the log of the background process.
    if (options.async && await catalogue.get(fun) !== undefined) {
      return startInBackground(parsed, { jid, user, log, io });
    }
    openSharedParents(opts);
    const forProgram = MACHINE_OUTPUTTERS.includes(options.output ?? opts.output ?? "");
    const print: RunnerContext["print"] = (line, { isAskedFor = false } = {}) => {
      const text = `${sanitize(line)}\n`;
      const isAside = forProgram && !isAskedFor;
      if (isAside) io.writeError(text);
      else io.write(text);
      return isAside || !(io.outputGone?.() ?? false);
    };
    const forTerminal = io.isTerminal && !forProgram && options.output_file === null;
    const host = runnerHost(opts, {
      python,
      catalogue,
      jid,
      user: startingUser(user),
      log,
      signal: io.signal,
      fire: (tag, event) => io.fire(tag, event, opts),
      local: io.local(opts, { user, log, signer, signal: io.signal }),
      print,
      forTerminal,
      showProgress: (event) => show(new Map<Value, Value>([["suffix", "progress"], ["event", event]])),
    });
    await using _jobs = { [Symbol.asyncDispose]: () => host.jobs.close() };
    checkReadable(opts.cachedir);
    if (opts.show_jid && !options.quiet) io.write(`jid: ${jid}\n`);
    const place = { cachedir: opts.cachedir, prog: SALT_RUN.prog, io };
    const call = { kind: "runner", fun, ...functionArguments(words, options) } as const;
    const outcome = await runProfiled(options, place, () => runRunner(call, host));
    if (io.signal.aborted) {
      io.writeError(`\nStopped. The job was ${jid}.\n`);
      return interruptedCode(io.signal);
    }
    return conclude(outcome, { show, log });
  });
}

/**
 * Without this check, a user who may not read the master's files would see an empty result.
 * @throws {Deno.errors.PermissionDenied}
 */
function checkReadable(cachedir: string): void {
  try {
    for (const _ of Deno.readDirSync(cachedir)) break;
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
  }
}

async function printDocs(
  selectors: readonly string[],
  catalogue: Family<RunnerContext>,
  io: SaltRunIo,
): Promise<number> {
  if (selectors.length > 1) throw new UsageError("You can only get documentation for one method at one time");
  const docs = collectDocs(await catalogue.all(), selectors);
  for (const [name, doc] of docs) io.write(`${str(name)}:\n${sanitize(str(doc))}\n`);
  if (docs.size > 0) return 0;
  io.writeError(sanitize(`'${selectors[0]}' is not available.\n`));
  return EX_USAGE;
}

function startInBackground(
  parsed: Parsed<SaltRunTable>,
  { jid, user, log, io }: { jid: string; user: string; log: Logger; io: SaltRunIo },
): number {
  io.startDetached(detachedWords(parsed, jid), user);
  log.warning(
    "Running in asynchronous mode. Results of this execution may be collected by attaching to the master event bus or " +
      `by examining the master job cache, if configured. This execution is running under tag salt/run/${jid}`,
  );
  return 0;
}

/**
 * Shows the result.
 * @returns The exit code.
 */
function conclude(outcome: RunnerOutcome, { show, log }: { show: PrintResult; log: Logger }): number {
  const { end, return: result, errorDetails } = outcome;
  if (end === "noMaster" || end === "refused") {
    log.error(str(result));
    return EXIT_CODES[end];
  }
  if (isMap(result) && result.size === 2 && result.has("data") && result.has("outputter")) {
    const suggested = result.get("outputter");
    show(result.get("data") ?? null, typeof suggested === "string" ? { out: suggested } : {});
  } else {
    const suggested = isMap(result) ? result.get("outputter") : undefined;
    show(result, { errorDetails, ...typeof suggested === "string" && { out: suggested } });
  }
  if (end === "failed") return outcome.retcode || EXIT_CODES.failed;
  return end === "done" ? outcome.retcode || ownRetcode(result) : EXIT_CODES[end];
}

/** The `retcode` in a runner's result, as orchestration sets it. */
function ownRetcode(result: Value): number {
  if (!isMap(result)) return 0;
  const inner = result.get("data");
  return toNumber(result.get("retcode") ?? (isMap(inner) ? inner.get("retcode") : undefined)) ?? 0;
}
