/**
 * Runs a function of a runner or wheel module as a job of the master: fires its events, writes its `proc` file, stores
 * it in the job cache, and turns errors into its result. Prints nothing. Source: Salt 3008.3 `salt/client/mixins.py`
 * and `salt/utils/job.py`.
 * @module
 */

import { invoke } from "#lib/plugins/call.ts";
import { InvocationError, messageOf, NoMasterError, PluginError, RefusedError, StoreError } from "#lib/errors.ts";
import { functionEvent, type FunctionKind } from "#lib/protocol/tags.ts";
import { MASK } from "#lib/protocol/no_log.ts";
import type { EventData } from "#lib/bus/event.ts";
import { asDocstring } from "#lib/plugins/docs.ts";
import { encode, type Packable, Packed } from "#lib/values/msgpack.ts";
import { refuseNoParameters, refuseUnknownKeywords } from "#lib/plugins/keywords.ts";
import type { Family } from "#lib/plugins/loader.ts";
import { explainUnavailable } from "#lib/plugins/unavailable.ts";
import type { RunnerContext } from "./runner_context.ts";
import { noteRunner } from "./runner_notes.ts";
import { map, type Value, type ValueMap } from "#lib/values/value.ts";

/** A function call. */
export interface RunnerCall {
  /** The kind of module. */
  readonly kind: FunctionKind;
  /** The function: `jobs.list_jobs`. */
  readonly fun: string;
  readonly args: readonly Value[];
  readonly kwargs: ValueMap;
}

/** The parts of a run besides the runner's own context. */
export interface RunnerHost extends Omit<RunnerContext, "progress" | "setRetcode" | "setErrorDetails"> {
  /** Shows a progress event of the runner's. */
  showProgress(data: ValueMap): void;
}

/**
 * How a run ended: done; unknown function; invalid arguments; an error was thrown; the required master is not running;
 * the master refused.
 */
export type RunnerEnd = "done" | "unavailable" | "invalid" | "failed" | "noMaster" | "refused";

/** The outcome of a run. */
export interface RunnerOutcome {
  readonly end: RunnerEnd;
  /**
   * The result, or an error text in its place; for an unknown function, the documentation of functions with such a
   * name.
   */
  readonly return: Value;
  /** The code that the runner set; without one, 0 if it ran and 1 if not. */
  readonly retcode: number;
  /** What people are told besides the errors that the result lists, by the names in it. */
  readonly errorDetails?: ReadonlyMap<string, readonly string[]>;
}

/** Runs a function from start to end. If it throws, the error becomes its result. */
export async function runRunner(call: RunnerCall, host: RunnerHost): Promise<RunnerOutcome> {
  const { jid, user } = host;
  const fun = await familyOf(call.kind, host).get(call.fun);
  if (fun === undefined) return await unavailable(call, host);

  const kwargs = call.kwargs.size > 0 ? [new Map(call.kwargs)] : [];
  const fun_args = fun.secret ? [MASK] : [...call.args, ...kwargs];
  const data = map({ fun: `${call.kind}.${call.fun}`, jid, user, fun_args });
  await host.fire(functionEvent(call.kind, jid, "new"), new Map(data));
  const forget = noteRunner(host.opts.cachedir, data);
  let retcode = 0;
  const errorDetails = new Map<string, readonly string[]>();
  const context: RunnerContext = {
    ...host,
    progress: async (progress) => {
      await host.fire(functionEvent(call.kind, jid, "progress"), progress);
      host.showProgress(progress);
    },
    setRetcode: (code) => void (retcode = code),
    setErrorDetails: (name, details) => void errorDetails.set(name, details),
  };
  let outcome: RunnerOutcome;
  try {
    refuseNoParameters(fun, call.kwargs);
    refuseUnknownKeywords(fun, call.kwargs, call.fun);
    const result = await invoke(fun, { name: call.fun, args: call.args, kwargs: call.kwargs, context });
    outcome = { end: "done", return: result, retcode, errorDetails };
  } catch (error) {
    if (error instanceof Error) host.log("debug", error.stack ?? error.message);
    outcome = {
      ...failure(error, { ...call, usage: fun.docstring ?? asDocstring(fun.doc) }),
      retcode: retcode === 0 ? 1 : retcode,
    };
  } finally {
    forget();
  }
  // Packed once, for the job cache and the bus: a list of ten thousand jobs is 2 MB.
  const packed = new Packed(encode(fun.secret ? MASK : outcome.return, "disk"));
  const ended = new Map<Value, Packable>(data).set("return", packed).set("success", outcome.retcode === 0);
  if (outcome.end !== "done") ended.set("retcode", outcome.retcode);
  await store(map({ id: host.opts.id, tgt: host.opts.id, jid, fun: data.get("fun"), user }), ended, host);
  await host.fire(functionEvent(call.kind, jid, "ret"), ended);
  return outcome;
}

function familyOf(kind: FunctionKind, { catalogue, wheel }: RunnerHost): Family<RunnerContext> {
  return kind === "runner" ? catalogue : wheel;
}

/** Nothing was run, so only the end event is published. For an incomplete name, the matching functions are shown. */
async function unavailable(call: RunnerCall, host: RunnerHost): Promise<RunnerOutcome> {
  const { kind, fun } = call;
  // All of Salt's wheel functions are there.
  const salts = kind === "runner" ? kind : undefined;
  const { error: { message }, docs, problem } = await explainUnavailable(fun, familyOf(kind, host), salts);
  const text = problem === undefined ? message : `${message} ${problem}`;
  const retcode = 254; // Salt's
  const data = { success: false, return: text, retcode, fun: call.fun, fun_args: [...call.args], jid: host.jid };
  await host.fire(functionEvent(call.kind, host.jid, "ret"), map(data));
  return { end: "unavailable", return: docs.size > 0 ? docs : text, retcode };
}

function failure(
  error: unknown,
  { kind, fun, usage }: RunnerCall & { readonly usage: string },
): Pick<RunnerOutcome, "end" | "return"> {
  const message = messageOf(error);
  if (error instanceof InvocationError) {
    return { end: "invalid", return: `\nPassed invalid arguments: ${message}\n\nUsage:\n${usage}` };
  }
  if (error instanceof NoMasterError) return { end: "noMaster", return: message };
  if (error instanceof RefusedError) return { end: "refused", return: message };
  const told = error instanceof PluginError ? error.trace : message;
  return { end: "failed", return: `Exception occurred in ${kind} ${fun}: ${told}` };
}

/** Stores the run as a job of the master with the return `ended`, if the options ask for that. */
async function store(load: ValueMap, ended: EventData, { opts, jobs, jid, log }: RunnerHost): Promise<void> {
  if (!opts.runner_returns || !opts.job_cache || opts.ext_job_cache !== "") return;
  try {
    await jobs.prepare(jid);
    // Without the return, which Salt puts into it as well: listing jobs reads every load.
    await jobs.saveLoad(jid, load);
    await jobs.saveReturn(new Map<Value, Packable>(load).set("return", ended));
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
    log("error", `Could not store job cache info: ${error.message}. Job details for this run may be unavailable.`);
  }
}
