/**
 * A runner's function as a job of the master: its events, its `proc` note, its place in the job cache, and what went
 * wrong as its result. Prints nothing.
 * Source: Salt 3008.3 `salt/client/mixins.py` and `salt/utils/job.py`.
 * @module
 */

import { invoke } from "../plugins/call.ts";
import { InvocationError, messageOf, NoMasterError, RefusedError, StoreError } from "../errors.ts";
import type { EventData } from "../bus/event.ts";
import { runEvent } from "../protocol/tags.ts";
import { asDocstring } from "../plugins/docs.ts";
import { encode, type Packable, Packed } from "../values/msgpack.ts";
import { explainUnavailable } from "../plugins/unavailable.ts";
import type { RunnerContext } from "./runner_context.ts";
import { noteRunner } from "./runner_notes.ts";
import { map, type Value, type ValueMap } from "../values/value.ts";

/** What is to be run. */
export interface RunnerCall {
  /** The function: `jobs.list_jobs`. */
  readonly fun: string;
  /** Positional arguments. */
  readonly args: readonly Value[];
  /** Keyword arguments. */
  readonly kwargs: ValueMap;
}

/** What a run needs beside what the runner itself may reach. */
export interface RunnerHost extends Omit<RunnerContext, "progress" | "setRetcode"> {
  /** Shows a progress event of the runner's. */
  showProgress(data: ValueMap): void;
}

/**
 * How a run ended: done; unknown function; invalid arguments; an error was thrown; the required master is not running;
 * the master refused.
 */
export type RunnerEnd = "done" | "unavailable" | "invalid" | "failed" | "noMaster" | "refused";

/** What came of a run. */
export interface RunnerOutcome {
  /** How it ended. */
  readonly end: RunnerEnd;
  /** The result, or the text that stands in its place; for an unknown function, what is documented under such a name. */
  readonly return: Value;
  /** What the runner set, else 0 if it ran and 1 if not. */
  readonly retcode: number;
}

/** Runs a function of a runner, start to end. Whatever it throws becomes its result. */
export async function runRunner(call: RunnerCall, host: RunnerHost): Promise<RunnerOutcome> {
  const { jid, user } = host;
  const fun = await host.catalogue.get(call.fun);
  if (fun === undefined) return await unavailable(call, host);

  const named = call.kwargs.size > 0 ? [new Map(call.kwargs)] : [];
  const data = map({ fun: `runner.${call.fun}`, jid, user, fun_args: [...call.args, ...named] });
  await host.fire(runEvent(jid, "new"), new Map(data));
  const forget = noteRunner(host.opts.cachedir, data);
  let retcode = 0;
  const context: RunnerContext = {
    ...host,
    progress: async (progress) => {
      await host.fire(runEvent(jid, "progress"), progress);
      host.showProgress(progress);
    },
    setRetcode: (given) => void (retcode = given),
  };
  let outcome: RunnerOutcome;
  try {
    const result = await invoke(fun, { name: call.fun, args: call.args, kwargs: call.kwargs, context });
    outcome = { end: "done", return: result, retcode };
  } catch (error) {
    if (error instanceof Error) host.log("debug", error.stack ?? error.message);
    outcome = { ...failure(error, { name: call.fun, doc: fun.doc }), retcode: retcode === 0 ? 1 : retcode };
  } finally {
    forget();
  }
  // Packed once, for the job cache and the bus: a list of ten thousand jobs is 2 MB.
  const packed = new Packed(encode(outcome.return, "disk"));
  const ended = new Map<Value, Packable>(data).set("return", packed).set("success", outcome.retcode === 0);
  if (outcome.end !== "done") ended.set("retcode", outcome.retcode);
  store(map({ id: host.opts.id, tgt: host.opts.id, jid, fun: data.get("fun"), user }), ended, host);
  await host.fire(runEvent(jid, "ret"), ended);
  return outcome;
}

/** Nothing was run, so only the end is published. For an incomplete name, the matching functions are shown. */
async function unavailable(call: RunnerCall, host: RunnerHost): Promise<RunnerOutcome> {
  const { error: { message }, docs, problem } = await explainUnavailable(call.fun, host.catalogue, "runner");
  const text = problem === undefined ? message : `${message} ${problem}`;
  const retcode = 254; // Salt's
  const data = { success: false, return: text, retcode, fun: call.fun, fun_args: [...call.args], jid: host.jid };
  await host.fire(runEvent(host.jid, "ret"), map(data));
  return { end: "unavailable", return: docs.size > 0 ? docs : text, retcode };
}

function failure(error: unknown, fun: { name: string; doc: string }): Pick<RunnerOutcome, "end" | "return"> {
  const message = messageOf(error);
  if (error instanceof InvocationError) {
    return { end: "invalid", return: `\nPassed invalid arguments: ${message}\n\nUsage:\n${asDocstring(fun.doc)}` };
  }
  if (error instanceof NoMasterError) return { end: "noMaster", return: message };
  if (error instanceof RefusedError) return { end: "refused", return: message };
  return { end: "failed", return: `Exception occurred in runner ${fun.name}: ${message}` };
}

/** Stores the run as a job of the master's own, which returned `ended`, as far as the options want it. */
function store(load: ValueMap, ended: EventData, { opts, jobs, jid, log }: RunnerHost): void {
  if (!opts.runner_returns || !opts.job_cache || opts.ext_job_cache !== "") return;
  try {
    jobs.prepare(jid);
    // Without the return, which Salt puts into it as well: listing jobs reads every load.
    jobs.saveLoad(jid, load);
    jobs.saveReturn(new Map<Value, Packable>(load).set("return", ended));
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
    log("error", `Could not store job cache info: ${error.message}. Job details for this run may be unavailable.`);
  }
}
