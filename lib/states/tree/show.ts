/**
 * The results of the `state.show_*` functions. A list of texts instead of the data are errors, and the return code says
 * so. Source: Salt 3008.3 `salt/modules/state.py`.
 * @module
 */

import type { JobContext } from "#lib/plugins/job_context.ts";
import type { CompileError } from "#lib/states/compiler/compile_error.ts";
import { toDot } from "#lib/states/compiler/dot.ts";
import { type Compiled, GRAPH, LOW_SLS, LOWSTATE, type StageRoute, VERIFIED } from "#lib/states/compiler/stages.ts";
import { checkTop } from "./top_check.ts";
import type { WalkedStates } from "#lib/states/compiler/walk.ts";
import { listOrEmpty } from "#lib/values/shape.ts";
import { isMap, str, type Value, type ValueMap } from "#lib/values/value.ts";
import { splitInput } from "#lib/values/split_input.ts";
import { checkPillar, type HighState, openHighState } from "./high_state.ts";
import { RETCODE } from "./retcode.ts";

/** The part of a compilation that is shown. */
type Shown = (compiled: Compiled) => Value;

const HIGH: Shown = ({ high }) => high;
const CHUNKS: Shown = ({ chunks }) => [...chunks];

/** The parameters of a call. */
export interface ShowCall {
  readonly context: JobContext;
  readonly kwargs: ValueMap;
}

/** `state.show_sls`: the high data of SLS files. */
export async function showSls(mods: Value, call: ShowCall): Promise<Value> {
  return await shownSls(mods, VERIFIED, HIGH, call);
}

/** `state.show_low_sls`: their low chunks. */
export async function showLowSls(mods: Value, call: ShowCall): Promise<Value> {
  return await shownSls(mods, LOW_SLS, CHUNKS, call);
}

/** `state.graph`: the graph of their requisites. */
export async function graphSls(mods: Value, call: ShowCall): Promise<Value> {
  const state = await open(call, { ofSls: true });
  const walked = await state.walk(askedFor(mods, state));
  const verified = await state.compile(walked, VERIFIED);
  const errors = [...walked.errors, ...verified.errors];
  if (errors.length > 0) return failWith(errors, state, call);
  return toDot((await state.compile(walked, GRAPH)).graph);
}

/** `state.show_highstate`: the high data of this minion's highstate. */
export async function showHighstate(call: ShowCall): Promise<Value> {
  const state = await open(call);
  const { walked, errors } = await walkTop(state);
  if (errors.length > 0) return failWith(errors, state, call);
  // No states may be the effect of a top file that could not be read, so they are no success.
  if (walked.high.size === 0) call.context.setRetcode(RETCODE.failure);
  return walked.high;
}

/** `state.graph_highstate`: the graph of its requisites. */
export async function graphHighstate(call: ShowCall): Promise<Value> {
  const state = await open(call);
  const { walked, errors } = await walkTop(state);
  if (errors.length > 0) return failWith(errors, state, call);
  return toDot((await state.compile(walked, GRAPH)).graph);
}

/** `state.show_lowstate`: what a highstate would run, in its order. */
export async function showLowstate(call: ShowCall): Promise<Value> {
  const state = await open(call);
  const { errors, compiled } = await lowstate(state);
  return errors.length > 0 ? failWith(errors, state, call) : CHUNKS(compiled);
}

/** `state.show_states`: the SLS files whose states a highstate would run. */
export async function showStates(call: ShowCall): Promise<Value> {
  const state = await open(call);
  const { errors, compiled } = await lowstate(state);
  if (errors.length > 0) return failWith(errors, state, call);
  return [...new Set(compiled.chunks.map((chunk) => chunk.get("__sls__") ?? null))];
}

/** `state.show_top`: the SLS names that the top file assigns to this minion, by environment. */
export async function showTop(call: ShowCall): Promise<Value> {
  const state = await open(call);
  const read = await state.top();
  const errors = checkTop(read, state.ownMatchers);
  return errors.length > 0 ? failWith(errors, state, call) : new Map<Value, Value>(await state.matches(read));
}

/** `state.show_state_usage`: which SLS files of each environment the top file assigns to this minion. */
export async function showStateUsage(call: ShowCall): Promise<Value> {
  const state = await openHighState(call.context, call.kwargs);
  const read = await state.top();
  const errors = checkTop(read, state.ownMatchers);
  if (errors.length > 0) return failWith(errors, state, call);
  const matches = await state.matches(read);
  const usage: ValueMap = new Map();
  for (const env of new Set(["base", ...await state.source.envs()])) {
    const all = await state.source.available(env);
    const matched = new Set(matches.get(env));
    const used = all.filter((name) => matched.has(name)), unused = all.filter((name) => !matched.has(name));
    usage.set(
      env,
      new Map<Value, Value>([
        ["used", used],
        ["unused", unused],
        ["count_all", all.length],
        ["count_used", used.length],
        ["count_unused", unused.length],
      ]),
    );
  }
  return usage;
}

/** `state.sls_exists`: whether `state.show_sls` returns states. */
export async function slsExists(mods: Value, call: ShowCall): Promise<boolean> {
  return isMap(await showSls(mods, call));
}

/** `state.id_exists`: whether SLS files have all these IDs. */
export async function idExists(ids: Value, mods: Value, call: ShowCall): Promise<boolean> {
  const low = await showLowSls(mods, call);
  const existing = new Set(
    listOrEmpty(low).map((chunk) => isMap(chunk) ? chunk.get("__id__") : undefined),
  );
  return splitInput(ids).every((id) => existing.has(id));
}

async function open({ context, kwargs }: ShowCall, { ofSls = false } = {}): Promise<HighState> {
  const state = await openHighState(context, kwargs, { ofSls });
  checkPillar(state.pillar, kwargs);
  return state;
}

function askedFor(mods: Value, { saltenv = "base" }: HighState): Map<string, string[]> {
  return new Map([[saltenv, splitInput(typeof mods === "number" ? str(mods) : mods)]]);
}

async function shownSls(mods: Value, route: StageRoute, shown: Shown, call: ShowCall): Promise<Value> {
  const state = await open(call, { ofSls: true });
  const walked = await state.walk(askedFor(mods, state));
  // If some files cannot be rendered, the form of the others is still verified.
  const compiled = await state.compile(walked, walked.errors.length > 0 ? VERIFIED : route);
  const errors = [...walked.errors, ...compiled.errors];
  return errors.length > 0 ? failWith(errors, state, call) : shown(compiled);
}

async function walkTop(state: HighState): Promise<{ walked: WalkedStates; errors: readonly CompileError[] }> {
  const read = await state.top();
  const walked = await state.walk(await state.matches(read));
  return { walked, errors: [...checkTop(read, state.ownMatchers), ...walked.errors] };
}

async function lowstate(state: HighState): Promise<{ compiled: Compiled; errors: readonly CompileError[] }> {
  const { walked, errors } = await walkTop(state);
  const compiled = await state.compile(walked, errors.length > 0 ? [LOWSTATE[0]] : LOWSTATE);
  return { compiled, errors: [...errors, ...compiled.errors] };
}

function failWith(errors: readonly CompileError[], state: HighState, { context }: ShowCall): string[] {
  context.setRetcode(RETCODE.compile);
  return state.refusal(errors);
}
