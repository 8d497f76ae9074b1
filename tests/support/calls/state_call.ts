/**
 * Calls one state function as the state runtime does, without requisites: with real options and the real catalogue.
 * @module
 */

import { invoke } from "#lib/plugins/call.ts";
import type { JobContext, StateContext } from "#lib/plugins/job_context.ts";
import { resultMap, stateResult } from "#lib/plugins/state_module.ts";
import { stateContext as contextOfRun } from "#lib/states/run/state_context.ts";
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
