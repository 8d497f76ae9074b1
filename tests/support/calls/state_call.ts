/**
 * Calls one state function as the state runtime does, without requisites: with real options and the real catalogue. The
 * execution functions that it calls are the real ones, or a test answers them.
 * @module
 */

import { invoke } from "#lib/plugins/call.ts";
import type { JobContext, StateContext } from "#lib/plugins/job_context.ts";
import { resultMap, stateResult } from "#lib/plugins/state_module.ts";
import { stateContext as contextOfRun } from "#lib/states/run/state_context.ts";
import { copyDeep } from "#lib/values/dict_update.ts";
import { isMap, map, type Value, type ValueMap } from "#lib/values/value.ts";
import { testContext } from "./job_context.ts";

/** The settings of a call. */
export interface StateSetting {
  /** Test mode. Default: false. */
  readonly test?: boolean;
  /** The job's context. Default: {@linkcode testContext}. */
  readonly job?: JobContext;
  /** Further fields of the state's context: `running`, `chunks`, `shared`, …. */
  readonly state?: Partial<StateContext>;
}

/** A context for `fun` in a run of this one state. */
export function stateContext(fun: string, args: ValueMap, setting: StateSetting = {}): StateContext {
  const job = setting.job ?? testContext();
  const test = setting.test ?? false;
  const [state, name] = fun.split(".", 2);
  const low: ValueMap = new Map<Value, Value>([
    ["state", state],
    ["__id__", args.get("name") ?? ""],
    ["__sls__", "test"],
    ["__env__", "base"],
    ["order", 10000],
    ...args,
    ["fun", name],
  ]);
  const find = (called: string) => job.catalogue.states.get(called);
  const alone = { test, low, chunks: [low], running: new Map(), shared: new Map() };
  // The test's fields are written into the same object, so calls from within the state get them too.
  return Object.assign(contextOfRun(job, { ...alone, find }), setting.state);
}

/**
 * Calls a state function.
 * @returns Its result: `name`, `result`, `comment`, `changes`, ….
 * @throws The function's own errors.
 */
export async function callState(
  fun: string,
  args: Readonly<Record<string, unknown>> | ValueMap,
  setting: StateSetting = {},
): Promise<ValueMap> {
  const given: ValueMap = args instanceof Map ? new Map(args) : map(args);
  return await call(fun, given, stateContext(fun, given, setting));
}

async function call(name: string, kwargs: ValueMap, context: StateContext): Promise<ValueMap> {
  const fun = await context.catalogue.states.get(name);
  if (fun === undefined) throw new Error(`There is no state function ${name}`);
  const result = await invoke(fun, { name, args: [], kwargs, context });
  if (!isMap(result)) throw new Error(`${name} returned no dict`);
  return resultMap(stateResult(result));
}

/** What a function returns, or what makes it out of its arguments, and may throw. */
export type Answer = Value | ((args: readonly Value[], kwargs: ValueMap) => Value);

/** What functions return, by their names. */
export type Answers = Readonly<Record<string, Answer>>;

/** What came of a state, and the functions that it called, each with its arguments. */
export interface ScriptedResult {
  readonly result: Value;
  readonly comment: Value;
  readonly changes: Value;
  readonly warnings: Value;
  readonly calls: readonly string[];
}

/** An error in place of a function's return. */
export function throwing(error: Error): Answer {
  return () => {
    throw error;
  };
}

/** Answers one after the other; the last one stays. */
export function inTurn(...answers: Answer[]): Answer {
  return (args, kwargs) => answered((answers.length > 1 ? answers.shift() : answers[0]) ?? null, args, kwargs);
}

function answered(answer: Answer, args: readonly Value[], kwargs: ValueMap): Value {
  return typeof answer === "function" ? answer(args, kwargs) : copyDeep(answer);
}

/**
 * Calls a state.
 * @throws If it calls a function that has no answer.
 */
export async function scriptedState(
  fun: string,
  args: Readonly<Record<string, unknown>>,
  answers: Answers,
  { test, job }: { readonly test?: boolean; readonly job?: JobContext } = {},
): Promise<ScriptedResult> {
  const calls: string[] = [];
  const call = (name: string, given: Value[] = [], kwargs: ValueMap = new Map()): Promise<Value> => {
    if (!Object.hasOwn(answers, name)) throw new Error(`The test has no answer of ${name}`);
    calls.push([name, ...given.map(String)].join(" "));
    return Promise.try(() => answered(answers[name], given, kwargs));
  };
  const returned = await callState(fun, args, {
    ...test !== undefined && { test },
    ...job !== undefined && { job },
    state: { call },
  });
  const [result, comment, changes, warnings] = ["result", "comment", "changes", "warnings"].map((name) =>
    returned.get(name) ?? null
  );
  return { result, comment, changes, warnings, calls };
}
