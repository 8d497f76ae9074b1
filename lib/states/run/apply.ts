/**
 * `state.sls`, `state.highstate`, `state.top` and `state.high`: states of files, of the top file, of a call's own data.
 * Source: Salt 3008.3, `salt/modules/state.py`, `BaseHighState.call_highstate` of `salt/state.py`.
 * @module
 */

import { optionValue } from "#lib/config/option_sources.ts";
import { CommandError } from "#lib/errors.ts";
import { checkTop } from "#lib/states/tree/top_check.ts";
import type { ReadTop } from "#lib/states/compiler/top_files.ts";
import type { WalkedStates } from "#lib/states/compiler/walk.ts";
import { splitInput } from "#lib/values/split_input.ts";
import { isMap, map, str, truthy, type Value, type ValueMap } from "#lib/values/value.ts";
import { disabledTexts } from "#lib/states/control/disabling.ts";
import { cachedHigh, keepHigh } from "./high_cache.ts";
import { refuseTexts, RETCODE } from "#lib/states/tree/retcode.ts";
import { asList, listUnder } from "#lib/values/shape.ts";
import { terse } from "./outcome.ts";
import { type ApplyCall, CallRefusal, prepare, type Prepared } from "./prepared.ts";
import { runData, runHigh } from "./run_high.ts";
import { syncForHighstate, syncNamed } from "./syncing.ts";

/** Applies SLS files. */
export async function applySls(mods: Value, call: ApplyCall): Promise<Value> {
  const { context, kwargs } = call;
  const disabled = disabledTexts(asList(mods).map(str), context);
  if (disabled.length > 0) return refuseTexts(disabled, call.context);
  const prepared = await prepare(call, { ofSls: true });
  if (prepared instanceof CallRefusal) return prepared.returned;
  const { states } = prepared;
  const saltenv = states.saltenv ?? "base";
  await syncNamed(kwargs.get("sync_mods") ?? null, saltenv, context);
  const cached = cachedHigh(call);
  if (cached !== undefined) return await runData(cached, prepared);
  const names = splitInput(typeof mods === "number" ? str(mods) : mods);
  const walked = await states.walk(new Map([[saltenv, names]]));
  if (walked.errors.length > 0) return refuseTexts(states.refusal(walked.errors), call.context);
  addExcludes(walked, kwargs.get("exclude") ?? null);
  if (!prepared.test) keepHigh(walked.high, call);
  return shortenReturn(await runHigh(walked, prepared), call);
}

/** Applies the SLS files that the top file assigns to this minion. */
export async function applyHighstate(call: ApplyCall): Promise<Value> {
  if (disabledTexts(["highstate"], call.context).length > 0) {
    return map({
      name: "Salt highstate run is disabled. To re-enable, run state.enable highstate",
      result: "False",
      comment: "Disabled",
    });
  }
  const prepared = await prepare(call);
  if (prepared instanceof CallRefusal) return prepared.returned;
  return shortenReturn(await runTop(prepared), call);
}

/** Applies the SLS files of another top file. */
export async function applyTopFile(name: string, call: ApplyCall): Promise<Value> {
  const options: Record<string, Value> = { state_top: name };
  const saltenv = call.kwargs.get("saltenv") ?? null;
  if (saltenv !== null) options.state_top_saltenv = saltenv;
  const prepared = await prepare(call, { options });
  return prepared instanceof CallRefusal ? prepared.returned : await runTop(prepared);
}

async function runTop(prepared: Prepared): Promise<Value> {
  const { states, call } = prepared;
  const cached = cachedHigh(call);
  if (cached !== undefined) return await runData(cached, prepared);
  const read = await states.top().catch((error: unknown) => {
    if (error instanceof CommandError) return error;
    throw error;
  });
  if (read instanceof CommandError) return noStates(`Unable to render top file: ${read.message}`, call);
  const errors = checkTop(read, states.ownMatchers);
  const matches = await states.matches(read);
  if (matches.size === 0) {
    // Salt says so of a top file that is wrong, too, or fails.
    if (errors.length > 0) return refuseTexts(states.refusal(errors), call.context);
    return noStates(`No Top file or master_tops data matches found. ${whyNoStates(read, prepared)}`, call);
  }
  const wanted = selectWhitelisted(matches, call.kwargs.get("whitelist") ?? null);
  await syncForHighstate([...wanted.keys()], prepared.job);
  const walked = await states.walk(wanted);
  addExcludes(walked, call.kwargs.get("exclude") ?? null);
  const all = [...errors, ...walked.errors];
  if (all.length > 0) return refuseTexts(states.refusal(all), call.context);
  if (walked.high.size === 0) return noStates("No states found for this minion", call);
  if (!prepared.test) keepHigh(walked.high, call);
  return await runHigh(walked, prepared);
}

/** Where to read why: the master's log, as in Salt; without a master the reason itself. */
function whyNoStates({ top, unreadable }: ReadTop, { states, job }: Prepared): string {
  if (job.opts.file_client !== "local") return "Please see master log for details.";
  if (unreadable.length > 0) return states.texts(unreadable).join("\n");
  const name = `${states.topName.replaceAll(".", "/")}.sls`;
  return top.size === 0 ? `No environment has a file ${name} with states.` : `${name} gives nothing to this minion.`;
}

/** Applies high data of the call. */
export async function applyHigh(data: ValueMap, call: ApplyCall): Promise<Value> {
  const prepared = await prepare(call);
  return prepared instanceof CallRefusal ? prepared.returned : await runData(data, prepared);
}

/** Only the SLS names that the argument `whitelist` names. */
function selectWhitelisted(matches: Map<string, string[]>, whitelist: Value): Map<string, string[]> {
  if (!truthy(whitelist)) return matches;
  const names = Array.isArray(whitelist) ? whitelist.map(str) : str(whitelist).split(",");
  const left = [...matches].map(([env, all]): [string, string[]] => [env, all.filter((name) => names.includes(name))]);
  return new Map(left.filter(([, all]) => all.length > 0));
}

/** Adds the argument `exclude` to what the files exclude: SLS names, or maps with `sls` or `id`. */
function addExcludes({ high }: WalkedStates, exclude: Value): void {
  if (!truthy(exclude)) return;
  const items = Array.isArray(exclude) ? exclude : splitInput(exclude);
  listUnder(high, "__exclude__").push(...items);
}

/** With `terse`, or the option `state_data: terse`, only what failed or changed something. */
function shortenReturn(returned: Value, { kwargs, context }: ApplyCall): Value {
  if (!isMap(returned)) return returned;
  const isTerse = truthy(kwargs.get("terse")) || optionValue("state_data", context) === "terse";
  if (!isTerse) return returned;
  const left = terse(returned);
  if (left.size === 0) context.setRetcode(RETCODE.failure);
  return left;
}

/** The result of a minion that has no states: a failure. */
function noStates(comment: string, { context }: ApplyCall): ValueMap {
  context.setRetcode(RETCODE.failure);
  const result = { result: false, comment, name: "No States", changes: {}, __run_num__: 0 };
  return map({ "no_|-states_|-states_|-None": result });
}

/** Applies SLS files, or the highstate if `mods` names none. */
export function applyBoth(mods: Value, call: ApplyCall): Promise<Value> {
  return truthy(mods) ? applySls(mods, call) : applyHighstate(call);
}
