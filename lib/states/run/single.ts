/**
 * `state.single`, `state.low` and `state.sls_id`: one state.
 * Source: Salt 3008.3, `salt/modules/state.py`.
 * @module
 */

import { InvocationError } from "#lib/errors.ts";
import { stateModules } from "#lib/states/tree/state_modules.ts";
import { noArgument, ownKeywords } from "#lib/plugins/keywords.ts";
import { isKnownArgument, meantArgument } from "#lib/states/compiler/arguments.ts";
import { type Chunk, chunkTag } from "#lib/states/compiler/chunks.ts";
import { LOWSTATE, VERIFIED } from "#lib/states/compiler/stages.ts";
import { splitInput } from "#lib/values/split_input.ts";
import { str, type Value, type ValueMap } from "#lib/values/value.ts";
import { RETCODE } from "#lib/states/tree/retcode.ts";
import { retcodeOf } from "./outcome.ts";
import { RUN_KEYWORDS } from "./call_keywords.ts";
import { type ApplyCall, CallRefusal, prepare } from "./prepared.ts";
import type { StateRun } from "./run.ts";
import { openRun } from "./run_high.ts";

/** Opens a run for one chunk outside of a compilation; a chunk that cannot be called is refused. */
async function openFor(chunk: Chunk, call: ApplyCall): Promise<StateRun | CallRefusal> {
  const prepared = await prepare(call);
  if (prepared instanceof CallRefusal) return prepared;
  const { run } = openRun(undefined, prepared);
  const errors = await run.calls.verify(chunk);
  if (errors.length === 0) return run;
  call.context.setRetcode(RETCODE.compile);
  return new CallRefusal(errors);
}

/** Calls a state function with the arguments of the call. */
export async function applySingle(fun: string, name: Value, call: ApplyCall): Promise<Value> {
  const { context } = call;
  const [state, short] = fun.split(".");
  if (short === undefined) {
    context.setRetcode(RETCODE.compile);
    return "Invalid function passed";
  }
  await checkArguments(fun, call);
  const chunk: Chunk = new Map(call.kwargs);
  for (const key of [...chunk.keys()].map(str)) if (key.startsWith("__pub_")) chunk.delete(key);
  chunk.set("state", state).set("fun", short).set("__id__", name).set("name", name);
  const run = await openFor(chunk, call);
  if (run instanceof CallRefusal) return run.returned;
  await run.initialize(chunk);
  const results: ValueMap = new Map([[chunkTag(chunk), await run.alone(chunk)]]);
  context.setRetcode(retcodeOf(results));
  return results;
}

/** @throws {InvocationError} For an argument that looks like a misspelt one of the state function or of the call. */
async function checkArguments(fun: string, { context, kwargs }: ApplyCall): Promise<void> {
  const [module, short] = fun.split(".");
  const { signature } = await stateModules(new Map([[module, new Set([short])]]), context.catalogue, {
    checkArguments: context.opts.state_check_arguments,
  });
  const parameters = signature(fun);
  if (parameters === undefined) return;
  for (const name of ownKeywords(kwargs).keys()) {
    if (isKnownArgument(name, parameters) || RUN_KEYWORDS.includes(str(name))) continue;
    const meant = meantArgument(str(name), parameters, RUN_KEYWORDS);
    if (meant !== undefined) throw noArgument(fun, str(name), [meant]);
  }
}

/** Calls one low chunk. */
export async function applyLow(chunk: Chunk, call: ApplyCall): Promise<Value> {
  const { context } = call;
  const run = await openFor(chunk, call);
  if (run instanceof CallRefusal) return run.returned;
  const result = await run.alone(chunk);
  context.setRetcode(retcodeOf(result));
  return result;
}

/**
 * Runs the states of one ID of SLS files, and what they require.
 * @throws {InvocationError} If there is none.
 */
export async function applyId(id: string, mods: Value, call: ApplyCall): Promise<Value> {
  const { context } = call;
  const prepared = await prepare(call, { ofSls: true });
  if (prepared instanceof CallRefusal) return prepared.returned;
  const { states } = prepared;
  const saltenv = states.saltenv ?? "base";
  const walked = await states.walk(new Map([[saltenv, splitInput(mods)]]));
  const compiled = await states.compile(walked, walked.errors.length > 0 ? VERIFIED : LOWSTATE);
  const errors = [...walked.errors, ...compiled.errors];
  if (errors.length > 0) {
    context.setRetcode(RETCODE.compile);
    return states.refusal(errors);
  }
  const results: ValueMap = new Map();
  const { run } = openRun(compiled, prepared);
  // A chunk that others have in `prereq` comes twice: the first time it is tested.
  for (const chunk of compiled.chunks) {
    if (chunk.get("__id__") !== id) continue;
    await run.all([chunk]);
    for (const [tag, result] of run.results) results.set(tag, result);
    // The requisites of an ID with several names are run for each of them.
    run.results.clear();
  }
  context.setRetcode(retcodeOf(results));
  if (results.size > 0) return results;
  throw new InvocationError(`No matches for ID '${id}' found in SLS '${str(mods)}' within saltenv '${saltenv}'`);
}
