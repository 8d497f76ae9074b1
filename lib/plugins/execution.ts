/**
 * Runs the `fun` and `arg` of a job: finds the function, parses and binds the arguments, runs it, and makes the fields
 * of the return from its result or failure. Used by job workers and `salt-call`. Knows nothing of the wire, of workers
 * or of output.
 * Source: Salt 3008.3 `salt/minion.py` _thread_return, _thread_multi_return, _execute_job_function,
 * load_args_and_kwargs.
 * @module
 */

import { invoke } from "./call.ts";
import { type CallArgs, compoundArgs, fromWireArgs } from "#lib/yaml/arguments.ts";
import {
  CommandError,
  CommandNotFoundError,
  InvocationError,
  JobEndedError,
  NoMasterError,
  PluginError,
  RefusedError,
  RenderError,
  RequestTimeoutError,
  UnavailableError,
} from "#lib/errors.ts";
import { asDocstring } from "./docs.ts";
import { callThrough, type Executors } from "./executors.ts";
import type { JobContext } from "./job_context.ts";
import { refuseMisspelt, refuseUnknownKeywords } from "./keywords.ts";
import type { ModuleFunction } from "./module.ts";
import { SCHEDULED } from "#lib/protocol/own_job.ts";
import { explainUnavailable } from "./unavailable.ts";
import { equals, isMap, truthy, type Value, type ValueMap } from "#lib/values/value.ts";
import { refusedAccess } from "#lib/os/deno_texts.ts";

/** The fields of a return for one function. */
export interface ExecutionResult {
  /** The function's result, or the text of its failure. */
  return: Value;
  /** 0, or what the function set, or 1 after a failure. */
  retcode: number;
  /** Whether `retcode` is 0. */
  success: boolean;
  /** The outputter for the return: the function's own, or `nested` for the text of a failure. */
  out?: string;
  /** What people are told besides the errors that `return` lists: a text for each, empty for none. */
  errorDetails?: readonly string[];
  /** The thrown error, for `salt-call`, whose texts differ. Never sent. */
  error?: Error;
}

/** The result of a job of several functions: by function name, or in order with `multifunc_ordered`. */
export interface MultiResult {
  /** Each function's result, or the text of its failure. */
  return: Value;
  /** Each function's return code. */
  retcode: Value;
  /** Whether each return code is 0. */
  success: Value;
}

/**
 * Runs one function of a job. Never throws: a failure is an outcome.
 * @param arg The arguments of the load (positional, `name=value` strings, one `__kwarg__` map), or parsed ones.
 * @param executors Gives what calls the function; `undefined`: this program. What it throws is the outcome.
 */
export async function execute(
  name: string,
  arg: readonly Value[] | CallArgs,
  context: JobContext,
  executors?: () => Executors | undefined,
): Promise<ExecutionResult> {
  try {
    const chosen = executors?.();
    checkBlackout(name, context);
    const fun = await context.catalogue.get(name);
    if (fun === undefined) return await unavailable(name, context);
    let retcode = 0;
    let errorDetails: readonly string[] | undefined;
    const own = withOutcome(context, (code) => retcode = code, (details) => errorDetails = details);
    const given = sortArguments(fun, arg, context);
    refuseUnknownKeywords(fun, given.kwargs, name);
    refuseMisspelt(fun, given.kwargs, name);
    const call = () => invoke(fun, { name, ...given, context: own });
    const result = chosen === undefined
      ? await call()
      : await callThrough(chosen, { fun: name, ...given, context: own, call });
    if (retcode === 0 && reportsFailure(result)) retcode = 1;
    const outcome: ExecutionResult = { return: result, retcode, success: retcode === 0 };
    if (errorDetails !== undefined) outcome.errorDetails = errorDetails;
    return fun.outputter === undefined ? outcome : { ...outcome, out: fun.outputter };
  } catch (thrown) {
    const error = thrown instanceof Error ? thrown : new Error(String(thrown));
    return { return: failureText(name, error), retcode: 1, success: false, out: "nested", error };
  }
}

/** Like {@linkcode execute}; failures are logged as well. */
export async function executeLogged(
  name: string,
  arg: readonly Value[] | CallArgs,
  context: JobContext,
  executors?: () => Executors | undefined,
): Promise<ExecutionResult> {
  const outcome = await execute(name, arg, context, executors);
  if (outcome.error !== undefined) context.log("error", `Function '${name}' failed: ${outcome.error.message}`);
  return outcome;
}

/**
 * Runs the functions of a compound job one after the other.
 * @param options.ordered The option `multifunc_ordered`: lists in place of maps by function name.
 */
export async function executeMany(
  job: { readonly fun: readonly string[]; readonly arg: readonly Value[] },
  context: JobContext,
  options: { readonly ordered?: boolean; readonly executors?: () => Executors | undefined } = {},
): Promise<MultiResult> {
  const outcomes: ExecutionResult[] = [];
  for (const [i, name] of job.fun.entries()) {
    outcomes.push(await executeLogged(name, compoundArgs(job.arg, i), context, options.executors));
  }
  const gather = (field: (outcome: ExecutionResult) => Value): Value =>
    options.ordered ? outcomes.map(field) : new Map(outcomes.map((outcome, i) => [job.fun[i], field(outcome)]));
  return {
    return: gather((outcome) => outcome.return),
    retcode: gather((outcome) => outcome.retcode),
    success: gather((outcome) => outcome.success),
  };
}

/**
 * Calls a function of this minion by name, for {@linkcode JobContext.call}.
 * @throws {UnavailableError} If no module has it; else whatever the function throws.
 */
export async function callFunction(
  name: string,
  given: { readonly args?: readonly Value[]; readonly kwargs?: ValueMap; readonly context: JobContext },
): Promise<Value> {
  const { catalogue } = given.context;
  const fun = await catalogue.get(name);
  if (fun === undefined) {
    throw new UnavailableError(name, { refusal: catalogue.refusals().get(name.split(".", 1)[0]) });
  }
  const { args = [], kwargs = new Map(), context } = given;
  refuseUnknownKeywords(fun, kwargs, name);
  return await invoke(fun, { name, args, kwargs, context });
}

/** The context of one execution; `setRetcode` gets return codes, also those of nested calls. */
function withOutcome(
  context: JobContext,
  setRetcode: (retcode: number) => void,
  setErrorDetails: (details: readonly string[]) => void,
): JobContext {
  const own: JobContext = {
    opts: context.opts,
    grains: context.grains,
    pillar: context.pillar,
    job: context.job,
    catalogue: context.catalogue,
    jobs: context.jobs,
    outside: context.outside,
    signal: context.signal,
    call: (name, args, kwargs) => callFunction(name, { args, kwargs, context: own }),
    setRetcode,
    setErrorDetails,
    child: (pid, state) => context.child(pid, state),
    runChild: context.runChild,
    watchCommand: context.watchCommand,
    watchState: context.watchState,
    showsPillar: context.showsPillar,
    detachedCommands: context.detachedCommands,
    runas: context.runas,
    log: (level, message) => context.log(level, message),
  };
  return own;
}

/** @throws {InvocationError} If the minion is in blackout and `name` is not one of the allowed functions. */
function checkBlackout(name: string, context: JobContext): void {
  if (name === "saltutil.refresh_pillar") return;
  for (const source of [context.pillar, context.grains]) {
    if (!truthy(source.get("minion_blackout"))) continue;
    const whitelist = source.get("minion_blackout_whitelist");
    if (Array.isArray(whitelist) && whitelist.some((allowed) => equals(allowed, name))) continue;
    throw new InvocationError(
      "Minion in blackout mode. Set 'minion_blackout' to False in pillar or grains to resume operations. " +
        "Only saltutil.refresh_pillar allowed in blackout mode.",
    );
  }
}

/**
 * Splits the arguments of a load into positional and keyword ones, with the publication's fields if the function takes
 * them.
 */
function sortArguments(
  fun: ModuleFunction<JobContext>,
  arg: readonly Value[] | CallArgs,
  context: JobContext,
): { args: Value[]; kwargs: ValueMap } {
  const { args, kwargs } = "kwargs" in arg ? arg : fromWireArgs(arg);
  if (fun.varKwargs !== undefined) {
    for (const [field, value] of publishedFields(context.job)) kwargs.set(`__pub_${field}`, value);
  }
  return { args, kwargs };
}

/** The fields of a job that functions see as `__pub_`: those of a scheduled job are those of its return. */
function publishedFields(job: JobContext["job"]): Iterable<readonly [Value, Value]> {
  const scheduled = Object.hasOwn(job, SCHEDULED) ? job[SCHEDULED] : null;
  if (!isMap(scheduled)) return Object.entries(job);
  const names = ["id", "fun", "fun_args", "schedule", "metadata"];
  const fields = names.filter((name) => scheduled.has(name)).map((name) =>
    [name, scheduled.get(name) ?? null] as const
  );
  return [...fields, ["jid", job.jid ?? null], ["pid", Deno.pid]];
}

/** Whether a map reports a failure by its `result` or `success`. */
function reportsFailure(result: Value): boolean {
  return isMap(result) && ["result", "success"].some((key) => result.has(key) && !truthy(result.get(key)));
}

/** The outcome for an unknown function: with the documentation of functions whose names begin with it. */
async function unavailable(name: string, context: JobContext): Promise<ExecutionResult> {
  const { error, docs, problem } = await explainUnavailable(name, context.catalogue, "execution");
  const reason = problem === undefined ? error.message : `${error.message} Possible reasons: '${problem}'`;
  if (docs.size > 0) docs.set(name, error.message);
  return { return: docs.size > 0 ? docs : reason, retcode: 1, success: false, out: "nested", error };
}

/** The error text for a permission that Deno refused, with the declaration that grants it. */
function explainUndeclared(name: string, error: Error): string {
  const wanted = refusedAccess(error) ?? error.message;
  return `The permissions that the function declares do not allow this: ${wanted}. A module of your own declares what ` +
    `${name} needs in its "permissions".`;
}

function failureText(name: string, error: Error): string {
  if (error instanceof CommandNotFoundError) return `Command required for '${name}' not found: ${error.message}`;
  if (error instanceof JobEndedError) return error.message;
  if (error instanceof CommandError) return `ERROR: ${error.message}`;
  if (error instanceof Deno.errors.NotCapable) return `ERROR executing '${name}': ${explainUndeclared(name, error)}`;
  if (error instanceof InvocationError && error.usage !== undefined) {
    const usage = error.isVerbatim ? error.usage : asDocstring(error.usage);
    return `Passed invalid arguments to ${name}: ${error.message}\n${usage}`;
  }
  const kinds = [InvocationError, NoMasterError, RequestTimeoutError, RefusedError];
  if (kinds.some((kind) => error instanceof kind)) return `ERROR executing '${name}': ${error.message}`;
  // Errors in a file contain their place; the stack of this program would only hide it.
  if (error instanceof RenderError) return `The minion function caused an exception: ${error.text}`;
  if (error instanceof PluginError) return `The minion function caused an exception: ${error.trace}`;
  return `The minion function caused an exception: ${error.stack ?? error.message}`;
}
