/**
 * One call of a state function: whether it can be called, its conditions, its result with what the runtime adds, its
 * retries. Source: Salt 3008.3, `State.call`, `verify_data`, `_call_parallel_target` of `salt/state.py`.
 * @module
 */

import type { ChildRunner } from "#lib/programs/child_process.ts";
import { unwrapCommand } from "#lib/programs/command_wrapper.ts";
import { bind } from "#lib/plugins/call.ts";
import type { StateContext } from "#lib/plugins/job_context.ts";
import { sleep } from "#lib/os/sleep.ts";
import { withUmask } from "#lib/os/umask.ts";
import { MASK } from "#lib/protocol/no_log.ts";
import { addFormerWork, type SurvivingCommand } from "#lib/states/control/interrupted_run.ts";
import { hideStateResult } from "#lib/states/control/hidden_result.ts";
import { isReadOnly } from "#lib/states/control/read_only_commands.ts";
import type { StateProgress, Work } from "#lib/states/control/record.ts";
import { type Chunk, field } from "#lib/states/compiler/chunks.ts";
import {
  float,
  isMap,
  map,
  str,
  toNumber,
  toValue,
  truthy,
  typeName,
  type Value,
  type ValueMap,
} from "#lib/values/value.ts";
import { nearestName } from "#lib/text/nearest_name.ts";
import { startClock } from "./clock.ts";
import { checkCommand, checkConditions, type ConditionHost, hasConditions } from "./conditions.ts";
import { GlobalConditions } from "./global_conditions.ts";
import { attemptText, pauseOf, type Retry, retryOf, wouldRetryText } from "./retry.ts";
import { thrownResult, unifyReturn } from "./results.ts";
import { slotsInKeywords } from "./slots.ts";
import { missingArguments, stateArguments } from "./state_arguments.ts";
import type { StateFunction } from "./state_context.ts";
import type { RunContext } from "./run_context.ts";

/**
 * Starts a parallel state.
 * @returns Its result until it has ended.
 */
export type StartParallel = (chunk: Chunk, name: Value, run: () => Promise<ValueMap>) => ValueMap;

/** What calls depend on. */
export interface CallSetting {
  readonly runContext: RunContext;
  /** Whether no state function is called at all. */
  readonly mocked: boolean;
  readonly startParallel: StartParallel;
  /** Called after a state that was not only tested: modules, grains and pillar may be others now. */
  refresh(chunk: Chunk, result: ValueMap): Promise<void>;
  /** Called with the state's progress before commands run that are not the state's own work. */
  progress(chunk: Chunk, progress: StateProgress): void;
  /** The return of the function before the minion ended, if only `check_cmd` is left to do; returned once. */
  unchecked(chunk: Chunk): ValueMap | undefined;
  /** A command that did work for the state has ended. */
  worked(chunk: Chunk, work: Work): void;
  /** What commands had done for the state when the minion ended; the answer is given once. */
  formerWork(chunk: Chunk): readonly SurvivingCommand[] | undefined;
}

/** Calls the states of a run one by one, and counts them. */
export class StateCalls {
  readonly #setting: CallSetting;
  readonly #conditions: GlobalConditions;
  #count = 0;

  constructor(setting: CallSetting) {
    this.#setting = setting;
    this.#conditions = new GlobalConditions(setting.runContext);
  }

  /** Counts one more result, from 0. */
  nextRunNum(): number {
    return this.#count++;
  }

  /**
   * The errors that prevent a call, in Salt's words; empty if there are none. The argument `umask` is taken from the
   * chunk.
   */
  async verify(chunk: Chunk): Promise<string[]> {
    const errors = verifyForm(chunk);
    if (errors.length > 0) return errors;
    const name = functionNameOf(chunk);
    const fun = await this.#setting.runContext.function(name);
    if (fun !== undefined) {
      return missingArguments(fun, chunk).map((missing) => `Missing parameter ${missing} for state ${name}`);
    }
    if (!chunk.has("__sls__")) {
      const near = nearestName(name, await this.#setting.runContext.names());
      this.#setting.runContext.job.setErrorDetails?.([near === undefined ? "" : `Did you mean ${near}?`]);
      return [`Specified state '${name}' was not found`];
    }
    const reason = this.#setting.runContext.whyMissing(name);
    return [`State '${name}' was not found in SLS '${field(chunk, "__sls__")}'`, `Reason: ${reason}`];
  }

  /**
   * Calls a state; in its run for `prereq`, in test mode.
   * @throws Only if the job is to end.
   */
  async call(chunk: Chunk, attempt = 1): Promise<ValueMap> {
    const { runContext } = this.#setting;
    const stop = startClock();
    const isTest = chunk.get("__prereq__") === true;
    const errors = await this.verify(chunk);
    const fun = errors.length === 0 ? await runContext.function(functionNameOf(chunk)) : undefined;
    if (fun === undefined) return await this.#refused(chunk, errors);
    const shownName = truthy(chunk.get("no_log")) ? MASK : field(chunk, "name");
    runContext.job.log("debug", `Executing state ${functionNameOf(chunk)} for [${shownName}]`);
    const result = unifyReturn(await this.#called(chunk, fun, isTest));
    if (isTest) {
      chunk.set("__prereq__", false);
      return result;
    }
    result.set("__sls__", chunk.get("__sls__") ?? null);
    result.set("__run_num__", this.nextRunNum());
    if (truthy(chunk.get("no_log"))) hideStateResult(result);
    await this.#setting.refresh(chunk, result);
    const { start_time, duration } = stop();
    result.set("start_time", start_time).set("duration", duration).set("__id__", chunk.get("__id__") ?? null);
    return chunk.has("retry") && !chunk.has("parallel") ? await this.#retried(chunk, result, attempt) : result;
  }

  async #refused(chunk: Chunk, errors: readonly string[]): Promise<ValueMap> {
    const result = map({ result: false, name: chunk.get("name") ?? null, changes: {} });
    result.set("comment", errors.map((error) => `${error}\n`).join(""));
    result.set("__run_num__", this.nextRunNum());
    await this.#setting.refresh(chunk, result);
    return result;
  }

  async #called(chunk: Chunk, fun: StateFunction, isTest: boolean): Promise<Value> {
    const { runContext } = this.#setting;
    try {
      const former = isTest ? undefined : this.#setting.unchecked(chunk);
      if (former !== undefined) return await this.#checked(chunk, fun, former);
      if (isTest) this.#setting.progress(chunk, { at: "asking" });
      const skipped = await this.#skipped(chunk);
      const result = skipped ?? await this.#run(chunk, fun, isTest);
      const isParallel = skipped === undefined && runsInParallel(chunk, isTest) && !this.#setting.mocked;
      return isParallel ? result : await this.#checked(chunk, fun, result);
    } catch (error) {
      runContext.job.signal.throwIfAborted();
      return thrownResult(chunk.get("name") ?? chunk.get("__id__") ?? null, error);
    }
  }

  /** The result of a state that its conditions skip. */
  async #skipped(chunk: Chunk): Promise<ValueMap | undefined> {
    if (!hasConditions(chunk)) return undefined;
    if (await this.#setting.runContext.function(`${field(chunk, "state")}.mod_run_check`) !== undefined) {
      return undefined;
    }
    this.#setting.progress(chunk, { at: "asking" });
    const check = await checkConditions(chunk, this.#host(chunk));
    if (!check.skip && chunk.get("__prereq__") !== true) this.#setting.progress(chunk, { at: "called" });
    if (!check.skip) return undefined;
    const result = map({ result: true, name: chunk.get("name") ?? null, changes: {}, comment: check.comment });
    for (const key of ["__sls__", "__id__"]) result.set(key, chunk.get(key) ?? null);
    if (check.skipWatch) result.set("skip_watch", true);
    return result;
  }

  async #run(chunk: Chunk, fun: StateFunction, isTest: boolean): Promise<Value> {
    const name = chunk.get("name") ?? null;
    if (this.#setting.mocked) return map({ name, comment: "Not called, mocked", changes: {}, result: true });
    const unmet = this.#conditions.unmet(chunk);
    if (unmet !== undefined) return unmet;
    if (!runsInParallel(chunk, isTest)) return await this.#invoke(chunk, fun);
    // By then the run has continued with other states, and this chunk may be changed.
    const own = new Map(chunk);
    return this.#setting.startParallel(own, name, () => this.#runParallel(own, fun));
  }

  async #invoke(chunk: Chunk, fun: StateFunction): Promise<Value> {
    const { runContext } = this.#setting;
    const kwargs = await slotsInKeywords(stateArguments(fun, chunk), this.#host(chunk));
    const { bound, rest } = bind(fun, [], kwargs, functionNameOf(chunk));
    const isTest = chunk.get("__prereq__") === true || runContext.test;
    const context = runContext.contextOf(chunk, isTest ? undefined : this.#noting(chunk));
    const result = await withUmaskOf(chunk, async () => toValue(await fun.run(bound, context, rest)));
    const former = isTest ? undefined : this.#setting.formerWork(chunk);
    if (former !== undefined && isMap(result)) addFormerWork(chunk, result, former);
    return result;
  }

  /** Runs commands of a state, and notes those that did work; `undefined` where no command outlives the minion. */
  #noting(chunk: Chunk): ChildRunner | undefined {
    const { runChild } = this.#setting.runContext.job;
    if (runChild === undefined) return undefined;
    return async (spec, care) => {
      const outcome = await runChild(spec, care);
      const { pid, retcode } = outcome;
      const words = unwrapCommand(spec.argv);
      if (!isReadOnly(words)) this.#setting.worked(chunk, { words, pid, retcode });
      return outcome;
    };
  }

  /** Runs a parallel state completely: with its retries, which are counted differently there. */
  async #runParallel(chunk: Chunk, fun: StateFunction): Promise<ValueMap> {
    const { runContext } = this.#setting;
    let result = await this.#timed(chunk, fun);
    result.set("__parallel__", true);
    const given = chunk.get("retry");
    if (given !== undefined) {
      const retry = retryOf(given, (text) => runContext.job.log("warning", text));
      if (runContext.test) addComment(result, wouldRetryText(retry));
      else {for (let tries = 1; retry.attempts >= tries && result.get("result") !== retry.until; tries++) {
          const seconds = pauseOf(retry);
          await sleep(seconds * 1000, runContext.job.signal);
          const again = await this.#timed(chunk, fun);
          const retryText = truthy(again.get("comment"))
            ? attemptText(tries, again.get("result") ?? null, again.get("comment") ?? "")
            : "";
          again.set("comment", `${str(result.get("comment") ?? "")}\n${retryText}`);
          again.set("duration", sumOf(again, result, seconds));
          if (tries === 1) again.set("start_time", result.get("start_time") ?? null);
          else again.delete("start_time");
          result = again;
        }}
    }
    if (truthy(chunk.get("no_log"))) hideStateResult(result);
    return result;
  }

  async #timed(chunk: Chunk, fun: StateFunction): Promise<ValueMap> {
    const { runContext } = this.#setting;
    const stop = startClock();
    let result: ValueMap;
    try {
      result = unifyReturn(await this.#checked(chunk, fun, await this.#invoke(chunk, fun)));
    } catch (error) {
      runContext.job.signal.throwIfAborted();
      result = thrownResult(chunk.get("name") ?? null, error);
    }
    const { start_time, duration } = stop();
    return result.set("start_time", start_time).set("duration", duration);
  }

  /** The result, with what `check_cmd` says of it, unless the function has an argument of that name and handles it. */
  async #checked(chunk: Chunk, fun: StateFunction, result: Value): Promise<Value> {
    if (!chunk.has("check_cmd")) return result;
    const module = field(chunk, "state");
    const isOwn = Object.hasOwn(fun.params, "check_cmd") &&
      await this.#setting.runContext.function(`${module}.mod_run_check_cmd`) !== undefined;
    if (isOwn) return result;
    if (!isMap(result)) throw new TypeError(`The state returned a ${typeName(result)} instead of a dict`);
    if (chunk.get("__prereq__") !== true) this.#setting.progress(chunk, { at: "checking", result });
    const check = await checkCommand(chunk, this.#host(chunk));
    for (const key of ["__sls__", "__id__", "name"]) result.set(key, chunk.get(key) ?? null);
    result.set("result", check.result);
    return check.comment === undefined ? result : result.set("comment", check.comment);
  }

  async #retried(chunk: Chunk, result: ValueMap, attempt: number): Promise<ValueMap> {
    const { runContext } = this.#setting;
    const retry = retryOf(chunk.get("retry") ?? null, (text) => runContext.job.log("warning", text));
    if (runContext.test) return addComment(result, wouldRetryText(retry));
    if (result.get("result") === retry.until || retry.attempts <= attempt) return result;
    return await this.#again(chunk, result, { retry, attempt });
  }

  async #again(
    chunk: Chunk,
    result: ValueMap,
    { retry, attempt }: { retry: Retry; attempt: number },
  ): Promise<ValueMap> {
    const { runContext } = this.#setting;
    const seconds = pauseOf(retry);
    runContext.job.log(
      "info",
      `State result does not match retry until value, state will be re-run in ${seconds} seconds`,
    );
    await sleep(seconds * 1000, runContext.job.signal);
    const last = await this.call(chunk, attempt + 1);
    const retryText = attemptText(attempt, result.get("result") ?? null, result.get("comment") ?? null);
    const comment = last.get("comment") ?? "";
    last.set("comment", `${retryText}\n${truthy(comment) ? str(comment) : ""}`);
    last.set("duration", sumOf(last, result, seconds));
    if (attempt === 1) last.set("start_time", result.get("start_time") ?? null);
    return last;
  }

  #host(chunk: Chunk): ConditionHost {
    const { runContext } = this.#setting;
    return {
      grains: runContext.job.grains,
      has: (name) => runContext.has(name),
      call: (name, args, kwargs) => runContext.call(chunk, name, args, kwargs),
      log: (level, text) => runContext.job.log(level, text),
      get retcode() {
        return runContext.retcode;
      },
      set retcode(code) {
        runContext.retcode = code;
      },
    };
  }
}

/** The full name of a chunk's function. */
export function functionNameOf(chunk: Chunk): string {
  return `${field(chunk, "state")}.${field(chunk, "fun")}`;
}

function verifyForm(chunk: Chunk): string[] {
  const errors: string[] = [];
  for (const key of ["state", "fun", "name"]) if (!chunk.has(key)) errors.push(`Missing "${key}" data`);
  const name = chunk.get("name") ?? null;
  if (truthy(name) && typeof name !== "string") {
    const where = chunk.has("__sls__") ? `in SLS '${field(chunk, "__sls__")}' ` : "";
    errors.push(`ID '${str(name)}' ${where}is not formed as a string, but is a ${typeName(name)}`);
  }
  const umask = chunk.get("umask");
  if (umask === undefined) return errors;
  chunk.delete("umask");
  const text = str(umask);
  if (/^\s*(0o)?[0-7]+\s*$/i.test(text)) chunk.set("__umask__", parseInt(text.trim().replace(/^0o/i, ""), 8));
  else errors.push(`Invalid umask: ${text}`);
  return errors;
}

function runsInParallel(chunk: Chunk, isTest: boolean): boolean {
  return !isTest && truthy(chunk.get("parallel"));
}

/** Runs `run` with the chunk's `umask`, if it has one. */
async function withUmaskOf<T>(chunk: Chunk, run: () => Promise<T>): Promise<T> {
  const mask = chunk.get("__umask__");
  return typeof mask === "number" ? await withUmask(mask, run) : await run();
}

function addComment(result: ValueMap, text: string): ValueMap {
  const comment = result.get("comment") ?? "";
  return result.set("comment", `${truthy(comment) ? str(comment) : ""}  ${text}`);
}

function sumOf(last: ValueMap, first: ValueMap, seconds: number): Value {
  return float((toNumber(last.get("duration")) ?? 0) + (toNumber(first.get("duration")) ?? 0) + seconds * 1000);
}

/** Calls a function of a state module that is not a state: `mod_init`, `mod_aggregate`. */
export async function callHook(
  fun: StateFunction,
  context: StateContext,
  bound: Readonly<Record<string, unknown>>,
): Promise<Value> {
  return toValue(await fun.run(bound, context, { args: [], kwargs: new Map() }));
}
