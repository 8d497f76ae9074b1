/**
 * `salt-call`: runs a function on this host with its minion's configuration, and shows the result under `local`. Exit
 * codes: 0 success; 1 the function failed, or the master refused the sign-in; 2 the key is still pending; 64 usage; 77
 * rejected, or no permission; 130 Ctrl-C; 255 unknown function. With `--retcode-passthrough` the function's own.
 * Source: Salt's `salt/cli/call.py` and `salt/cli/caller.py`.
 * @module
 */

import { isDone } from "#lib/protocol/acknowledgement.ts";
import { toWireArgs, yamlifyArg } from "#lib/yaml/arguments.ts";
import { type Failure, interruptedRun, type JobIo, runCli } from "#lib/commands/cli/run_command.ts";
import { helpText } from "#lib/commands/cli/help.ts";
import { cacheMinionJob } from "#lib/jobs/minion_jobs.ts";
import { addStdinArgs, type Parsed } from "#lib/commands/cli/command_line.ts";
import { functionArguments } from "#lib/commands/cli/function_arguments.ts";
import { becomeServiceUser } from "#lib/commands/cli/command_user.ts";
import { loadMinionConfig } from "#lib/config/load.ts";
import { isMasterless } from "#lib/config/masterless.ts";
import {
  AuthenticationError,
  KeyError,
  PreflightError,
  RequestTimeoutError,
  RequestTooLargeError,
  SignInError,
  UsageError,
  WireError,
} from "#lib/errors.ts";
import { lazyGrains } from "#lib/minion/agent/grains.ts";
import { makeJid } from "#lib/protocol/jid.ts";
import type { Catalogue } from "#lib/plugins/job_context.ts";
import { type Logger, SILENT_LOGGER } from "#lib/runtime/log.ts";
import type { ExecutionResult } from "#lib/plugins/execution.ts";
import { hideResult } from "#lib/protocol/no_log.ts";
import type { MinionOpts } from "#lib/config/options.ts";
import { oversizedFailure, withoutArguments } from "#lib/jobs/oversized_return.ts";
import type { OutputSettings, PrintResult } from "#lib/output/printer.ts";
import { absolutePathIn } from "#lib/os/root_path.ts";
import { openSharedParents } from "#lib/os/shared_parents.ts";
import { becomeRunUser, userToBecome } from "#lib/programs/run_user.ts";
import { callFailure, type CallHost, runCall } from "#lib/minion/local_call/job.ts";
import { type CallMaster, WITHOUT_MASTER } from "#lib/minion/local_call/call_master.ts";
import { CallModules } from "#lib/minion/local_call/modules.ts";
import { SALT_CALL, type SaltCallTable, type SaltCallValues } from "./salt_call_options.ts";
import { hasPillarFiles } from "#lib/pillar/has_files.ts";
import { runProfiled } from "#lib/commands/cli/profiled.ts";
import { startUp } from "#lib/commands/cli/start_up.ts";
import { withCommand } from "#lib/commands/cli/with_command.ts";
import { loadCoreGrains } from "#lib/minion/catalogue/catalogue.ts";
import { sanitize } from "#lib/text/terminal.ts";
import { tracerOf } from "#lib/tracing/late_tracer.ts";
import type { TraceContext } from "#lib/tracing/trace_context.ts";
import { map, str, type Value, type ValueMap } from "#lib/values/value.ts";

/**
 * Runs `salt-call` with the words of its command line.
 * @returns The exit code.
 */
export function runSaltCall(argv: readonly string[], io: JobIo): Promise<number> {
  const run = (parsed: Parsed<SaltCallTable>) => runParsed(parsed, io);
  return runCli({ command: SALT_CALL, owner: "the minion's user", run, failure }, argv, io);
}

function failure(error: Error): Failure | undefined {
  if (error instanceof SignInError) return { exitCode: error.exitCode, text: `${error.message}\n` };
  const expected = [
    PreflightError,
    KeyError,
    AuthenticationError,
    RequestTimeoutError,
    RequestTooLargeError,
    WireError,
  ];
  return expected.some((kind) => error instanceof kind) ? { exitCode: 1 } : undefined;
}

async function runParsed(parsed: Parsed<SaltCallTable>, io: JobIo): Promise<number> {
  const { options } = parsed;
  if (options.args_stdin) addStdinArgs(SALT_CALL, parsed, await io.readStdin());
  checkWords(parsed, io);
  const loaded = loadOptions(parsed);
  const takeRights = (opts: MinionOpts) => takeCallRights(options, opts);
  return await withCommand({ io, options, arg: wireArgs(parsed.args.slice(1), options), loaded, takeRights }, (run) => {
    for (const warning of [...run.rights, ...ignoredRoots(options)]) run.log.warning(warning);
    const place = { cachedir: run.opts.cachedir, prog: SALT_CALL.prog, io };
    return runProfiled(options, place, () => perform(parsed, { ...run, io }));
  });
}

/** The words after the function's name, in the form that is sent to a minion. */
function wireArgs(words: readonly string[], options: SaltCallValues): Value[] {
  const { args, kwargs } = functionArguments(words, options);
  return toWireArgs(args, kwargs);
}

/** Refuses options for other targets: without this the function would run on this minion. */
function checkMinion({ proxyid, resources, tgt, tgt_type }: SaltCallValues): void {
  if (proxyid !== null) throw new UsageError("--proxyid: proxy minions are not built yet");
  if (resources || tgt !== null || tgt_type !== null) {
    throw new UsageError("-r/--resources, --tgt, --tgt-type: resources are not built yet");
  }
}

function checkWords({ options, args }: Parsed<SaltCallTable>, io: JobIo): void {
  checkMinion(options);
  if (args.length === 0 && !options.grains_run && !options.doc) {
    io.write(helpText(SALT_CALL, io.columns));
    throw new UsageError("Requires function, --grains or --doc");
  }
  if (args.length > 0 && options.grains_run) throw new UsageError("-g/--grains does not accept any arguments");
  if (args.length > 1 && options.doc) {
    throw new UsageError("You can only get documentation for one method at one time");
  }
}

function loadOptions(parsed: Parsed<SaltCallTable>) {
  const { options } = parsed;
  const absolute = (paths: readonly string[]) => paths.map((path) => absolutePathIn(path, Deno.cwd()));
  const fixed: Record<string, Value> = {};
  if (options.local) fixed.file_client = "local";
  if (options.file_root.length > 0) fixed.file_roots = map({ base: absolute(options.file_root) });
  if (options.pillar_root.length > 0) fixed.pillar_roots = map({ base: absolute(options.pillar_root) });
  if (options.module_dirs.length > 0) {
    fixed.module_dirs = absolute(options.module_dirs.flatMap((path) => path.split(",")));
  }
  return startUp(SALT_CALL, parsed, {
    role: "minion",
    // A query of this host only must not leave files on it.
    load: (request) => loadMinionConfig({ ...request, cacheId: !options.local }),
    fixed,
  });
}

/** Salt's warning about options that do nothing without `--local`. */
function ignoredRoots(options: SaltCallValues): string[] {
  const given = [
    ["--file-root", options.file_root],
    ["--pillar-root", options.pillar_root],
    ["--states-dir", options.states_dir],
  ] as const;
  const idle = given.filter(([, paths]) => paths.length > 0).map(([name]) => name);
  return options.local || idle.length === 0 ? [] : [`${idle.join(", ")}: no effect without --local`];
}

interface Setting {
  readonly opts: MinionOpts;
  readonly log: Logger;
  readonly io: JobIo;
}

/**
 * Becomes the minion's user; prepares the host if a function will be run.
 * @returns Warnings.
 */
async function takeCallRights(options: SaltCallValues, opts: MinionOpts): Promise<string[]> {
  const runs = !options.doc && !options.grains_run;
  if (runs && !isMasterless(opts)) {
    const { preflightMinion } = await import("#lib/commands/daemons/preflight.ts");
    const ready = preflightMinion(opts);
    if (ready.user !== undefined) becomeRunUser(ready.user);
    return ready.finish();
  }
  if (runs) userToBecome(opts.user); // a function runs as that user or not at all
  becomeServiceUser(opts);
  if (runs) openSharedParents(opts);
  return [];
}

/** The name above the result: `salt-call` has one minion, with any id. */
const LOCAL = "local";

async function perform(
  parsed: Parsed<SaltCallTable>,
  setting: Setting & { readonly print: PrintResult; readonly output: OutputSettings },
): Promise<number> {
  const { options, args } = parsed;
  const { opts, log, io, print } = setting;
  const functionsLog = options.no_log ? SILENT_LOGGER : log;
  if (options.doc) {
    await using modules = new CallModules({ opts, log: functionsLog });
    return await printDocs(args[0] ?? "", modules.catalogue, io);
  }
  const grains: ValueMap = options.skip_grains
    ? new Map()
    : await lazyGrains(opts, { core: await loadCoreGrains(), warn: log.warning });
  await using modules = new CallModules({
    opts,
    log: functionsLog,
    ...!options.skip_grains && { grains },
    ...!options.no_log && { printed: (line: string) => io.writeError(`${sanitize(line)}\n`) },
  });
  if (options.grains_run) {
    print(new Map([[LOCAL, grains]]), { out: "grains" });
    return 0;
  }
  return await runTraced(parsed, { ...setting, grains, modules });
}

/** Runs the function, with tracing in a span below the one that the caller's environment names. */
async function runTraced(parsed: Parsed<SaltCallTable>, running: Running): Promise<number> {
  const { opts, log } = running;
  const tracer = await tracerOf(opts.tracing, `salt-minion-${opts.id}`, log);
  if (tracer === undefined) return await runFunction(parsed, running);
  const { readTrace } = await import("#lib/tracing/trace_context.ts");
  const caller = map({
    traceparent: Deno.env.get("TRACEPARENT") ?? null,
    tracestate: Deno.env.get("TRACESTATE") ?? null,
  });
  const [fun] = parsed.args;
  try {
    const start = { parent: readTrace(caller), attributes: { "salt.fun": fun } };
    return await tracer.within(`salt-call.${fun}`, start, (trace) => runFunction(parsed, { ...running, trace }));
  } finally {
    await tracer.close();
  }
}

/** What a function runs with. */
interface Running extends Setting {
  readonly print: PrintResult;
  readonly output: OutputSettings;
  readonly grains: ValueMap;
  readonly modules: CallModules;
  /** The span of the function. */
  readonly trace?: TraceContext;
}

/** The executors that the command names, and their options. */
function executorsIn({ module_executors, executor_opts }: SaltCallValues) {
  const given = (typed: string | null) => typed === null || typed === "" ? undefined : yamlifyArg(typed);
  return { moduleExecutors: given(module_executors), executorOpts: given(executor_opts) };
}

/** Runs the function, hands its result on, and shows it. */
async function runFunction({ options, args }: Parsed<SaltCallTable>, running: Running): Promise<number> {
  const { opts, log, io, output, grains, modules } = running;
  const functionsLog = options.no_log ? SILENT_LOGGER : log;
  const alone: CallHost = { opts, grains, modules, master: WITHOUT_MASTER, log: functionsLog, signal: io.signal };
  using master = await connect({ ...running, catalogue: modules.withoutPython, call: (fun) => callAlone(fun, alone) });
  const [fun, ...words] = args;
  const jid = makeJid();
  const metadata = options.metadata === null ? undefined : yamlifyArg(options.metadata);
  const { liveTerminal, watchCommands } = options.live ? await import("#lib/commands/cli/live_terminal.ts") : {};
  const { showLiveStates } = options.live ? await import("./live_states.ts") : {};
  using live = liveTerminal?.(output, io);
  const host: CallHost = {
    ...alone,
    master,
    watchCommand: live && watchCommands?.(LOCAL, live),
    watchState: showLiveStates?.(LOCAL, output, io),
  };
  const call = { fun, arg: wireArgs(words, options), jid, metadata, ...executorsIn(options) };
  const outcome = await runCall(call, host);
  if (io.signal.aborted) return interruptedRun(io);
  const shownReturn = live === undefined ? outcome.return : live.end(LOCAL, outcome.return);
  const failed = callFailure(fun, outcome);
  if (failed !== undefined) {
    io.writeError(sanitize(failed.err));
    io.write(sanitize(failed.out));
    return failed.exitCode;
  }
  const result = map({ jid, return: outcome.return, retcode: outcome.retcode });
  if (outcome.out !== undefined) result.set("out", outcome.out);
  for (const [key, value] of map({ id: opts.id, fun, fun_args: words })) result.set(key, value);
  if (metadata !== undefined) result.set("metadata", metadata);
  if (running.trace !== undefined) {
    const { writeTrace } = await import("#lib/tracing/trace_context.ts");
    writeTrace(result, running.trace);
  }
  await handOn(options.no_log ? hideResult(result) : result, { options, host, master, log });
  showOutcome(outcome, { result: options.print_metadata ? result : undefined, shownReturn }, running.print);
  if (options.retcode_passthrough) return outcome.retcode & 0xff;
  return outcome.retcode === 0 ? 0 : 1;
}

/** Gives a result to the minion's job cache, to the returners, and to the master. */
async function handOn(
  result: ValueMap,
  { options, host, master, log }: {
    readonly options: SaltCallValues;
    readonly host: CallHost;
    readonly master: CallMaster;
    readonly log: Logger;
  },
): Promise<void> {
  const { opts } = host;
  if (opts.cache_jobs) cacheMinionJob(str(result.get("jid") ?? ""), result, { cachedir: opts.cachedir, log });
  const returners = [options.return, opts.return].filter((names) => names !== null && names !== "");
  if (returners.length > 0) {
    const { giveToReturners } = await import("#lib/minion/local_call/returners.ts");
    await giveToReturners(result, returners, host);
  }
  if (!isMasterless(opts) && !options.no_return_event) await giveBack(result, { master, opts, log });
}

/**
 * Prints what a function returned.
 * @param shown The whole result, if it is asked for, and the return as it is shown.
 */
function showOutcome(
  { out, retcode, errorDetails }: ExecutionResult,
  { result, shownReturn }: { readonly result: ValueMap | undefined; readonly shownReturn: Value },
  print: PrintResult,
): void {
  if (result !== undefined) return print(new Map([[LOCAL, result]]), { out: "nested", retcode });
  print(new Map([[LOCAL, shownReturn]]), {
    out,
    retcode,
    ...errorDetails !== undefined && { errorDetails: new Map([[LOCAL, errorDetails]]) },
  });
}

/** `master_type: func`: calls the function that returns the master. */
async function callAlone(fun: string, host: CallHost): Promise<Value> {
  const outcome = await runCall({ fun, arg: [], jid: makeJid(), metadata: undefined }, host);
  if (outcome.retcode === 0) return outcome.return;
  throw new SignInError(`Failed to load module ${fun}: ${str(outcome.return)}`, 1);
}

interface Connecting extends Setting {
  readonly grains: ValueMap;
  readonly catalogue: Catalogue;
  /** Calls an execution function without a master. */
  call(fun: string): Promise<Value>;
}

async function connect({ opts, log, io, grains, catalogue, call }: Connecting): Promise<CallMaster> {
  if (isMasterless(opts)) {
    log.named("salt.minion").debug("No master is asked (file_client: local)");
    // Templates are loaded only if there is pillar, or the function asks for it: values of the caller are pillar, too.
    const compilePillar = async () => {
      const { localPillar } = await import("#lib/minion/local_call/pillar.ts");
      return await localPillar(opts, { grains, catalogue, log, signal: io.signal });
    };
    if (hasPillarFiles(opts)) return await compilePillar();
    return { ...WITHOUT_MASTER, freshPillar: async (query) => await (await compilePillar()).freshPillar(query) };
  }
  log.named("salt.minion").debug(`Connecting to the master ${opts.master}, port ${opts.master_port}`);
  // Sockets and keys are loaded only with a master.
  const { openMasterSession } = await import("#lib/minion/local_call/session.ts");
  return await openMasterSession(opts, { grains, log, signal: io.signal, call });
}

async function printDocs(prefix: string, catalogue: Catalogue, io: JobIo): Promise<number> {
  const { asDocstring, stripRst } = await import("#lib/plugins/docs.ts");
  for (const { name, fun } of await catalogue.all()) {
    const doc = asDocstring(stripRst(fun.doc));
    if (name.startsWith(prefix) && doc !== "") io.write(sanitize(`${name}:\n${doc}\n\n`));
  }
  return 0;
}

/** Returns the result to the master, as a job that the master did not publish. */
async function giveBack(
  result: ValueMap,
  { master, opts, log }: { master: CallMaster; opts: MinionOpts; log: Logger },
): Promise<void> {
  const load = new Map([...map({ cmd: "_return", id: opts.id }), ...result]).set("jid", "req");
  // The function has run, and its result is shown whatever the master says: it may have lost the key meanwhile.
  const expected = [RequestTimeoutError, RequestTooLargeError, WireError, AuthenticationError, SignInError];
  try {
    const answer = await sendFitting(load, { master, log });
    if (!isDone("_return", answer)) log.warning("The result did not get to the master, which could not store it");
  } catch (error) {
    if (!(error instanceof Error) || !expected.some((kind) => error instanceof kind)) throw error;
    log.warning(`The result did not get to the master: ${error.message}`);
  }
}

/** Sends a return, or a smaller one if it is too large. */
async function sendFitting(load: ValueMap, { master, log }: { master: CallMaster; log: Logger }): Promise<Value> {
  try {
    return await master.request(load);
  } catch (error) {
    if (!(error instanceof RequestTooLargeError)) throw error;
    const smaller = withoutArguments(load);
    if (smaller !== undefined) return await sendFitting(smaller, { master, log });
    log.warning(`The result does not get to the master, which is told that it failed: ${error.message}`);
    return await master.request(oversizedFailure(load, error, "It was shown where salt-call ran."));
  }
}
