/**
 * From high data to results: compiles them, runs the states, and those that listen.
 * Source: Salt 3008.3, `State.call_high` of `salt/state.py`.
 * @module
 */

import { type Compiled, RUN } from "../states/stages.ts";
import type { Walked } from "../states/walk.ts";
import { Places } from "../states/place.ts";
import { truthy, type Value, type ValueMap } from "../values/value.ts";
import { Dependencies } from "./dependencies.ts";
import { listening } from "./listen.ts";
import { retcodeOf } from "./outcome.ts";
import type { Prepared } from "./prepared.ts";
import { maxParallelOf, StateRun } from "./run.ts";
import { RunWorld } from "./world.ts";

/** Compiles high data and runs them. @returns The results by tag, or a list of what is wrong. Sets the return code. */
export async function runHigh(walked: Pick<Walked, "high" | "places">, prepared: Prepared): Promise<Value> {
  const { states } = prepared;
  const compiled = await states.compile(walked, RUN);
  const returned = compiled.errors.length > 0 ? states.refusal(compiled.errors) : await runCompiled(compiled, prepared);
  prepared.call.context.setRetcode(retcodeOf(returned));
  return returned;
}

/** The same of data that come from no file. */
export async function runData(high: ValueMap, prepared: Prepared): Promise<Value> {
  return await runHigh({ high, places: new Places() }, prepared);
}

/** A run of what was compiled, which has not begun. */
export function openRun(compiled: Compiled | undefined, prepared: Prepared): StateRun {
  const { job, test, states, call } = prepared;
  const option = (name: string): Value => states.opts.get(name) ?? null;
  return new StateRun({
    world: new RunWorld({ context: job, test }),
    dependencies: new Dependencies(compiled?.graph, compiled?.aggregates),
    failhard: truthy(option("failhard")),
    maxParallel: maxParallelOf(option("state_max_parallel")),
    mocked: truthy(call.kwargs.get("mock")),
  });
}

async function runCompiled(compiled: Compiled, prepared: Prepared): Promise<ValueMap> {
  const run = openRun(compiled, prepared);
  await run.all(compiled.chunks);
  const { chunks, errors } = listening(compiled.chunks, run.results);
  if (chunks.length > 0) await run.all(chunks);
  const results: ValueMap = new Map<Value, Value>(run.results);
  for (const [tag, error] of errors) results.set(tag, error.set("__run_num__", run.calls.nextRunNum()));
  return results;
}
