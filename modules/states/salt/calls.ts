/**
 * State module `salt`: functions and states on minions, for an orchestration on the master.
 * Source: Salt 3008.3 `salt/states/saltmod.py`.
 * @module
 */

import { messageOf } from "#lib/errors.ts";
import type { StateContext } from "#lib/plugins/job_context.ts";
import { type ModuleFunction, p } from "#lib/plugins/module.ts";
import { failState, startResult, stateFn, type StateResult } from "#lib/plugins/state_module.ts";
import { parseInteger } from "#lib/python/parse_number.ts";
import { hasSucceeded } from "#lib/states/run/outcome.ts";
import { splitWhitespace } from "#lib/text/split_lines.ts";
import { listOrEmpty, mapOrEmpty } from "#lib/values/shape.ts";
import { isMap, map, repr, str, toNumber, truthy, type Value, type ValueMap } from "#lib/values/value.ts";
import { fireCall } from "./args_event.ts";

/** The arguments of a job on minions, for both functions. */
const JOB = {
  ssh: p.any(false),
  tgt_type: p.any("glob"),
  ret: p.any(""),
  ret_config: p.any(null),
  ret_kwargs: p.any(null),
  fail_minions: p.any(null),
  timeout: p.any(null),
  batch: p.any(null),
  subset: p.any(null),
  failhard: p.any(null),
};

const JOB_DOC = `tgt, tgt_type : glob
    The minions.

expect_minions
    Whether minions that do not answer count as failed.

fail_minions
    Minions that may fail: a list, or a text with commas.

timeout
    Seconds to wait.

batch, subset
    How many minions are at work at the same time; how many of them are chosen at random.

failhard
    Whether a batch ends with the first minion that fails.

ssh, ret, ret_config, ret_kwargs
    Salt's arguments for salt-ssh and returners.`;

/** The keyword arguments of `saltutil.cmd`. */
function jobKeywords(
  given: Readonly<Record<keyof typeof JOB | "expect_minions", Value>>,
  call: { readonly arg: Value[]; readonly kwarg: ValueMap },
  { kwargs, context }: { readonly kwargs: ValueMap; readonly context: StateContext },
): ValueMap {
  const { tgt_type, ssh, ret, timeout, expect_minions, batch, subset } = given;
  const jobOptions: ValueMap = map({ ...call, tgt_type, ssh, ret, timeout, expect_minions });
  if (batch !== null) jobOptions.set("batch", str(batch));
  if (subset !== null) jobOptions.set("subset", subset);
  if (given.failhard === true || context.opts.failhard === true) jobOptions.set("failhard", true);
  for (const name of ["ret_config", "ret_kwargs"] as const) if (truthy(given[name])) jobOptions.set(name, given[name]);
  const roster = kwargs.get("roster");
  return roster === undefined ? jobOptions : jobOptions.set("roster", roster);
}

/** The outcome of a job, by minion. */
type Returned = ReadonlyMap<string, ValueMap>;

function returnedOf(value: Value): Returned {
  const entries = isMap(value) ? [...value] : [];
  return new Map(entries.flatMap(([id, one]): [string, ValueMap][] => isMap(one) ? [[str(id), one]] : []));
}

/** The job's id, which all minions' answers have. */
function putJid(result: StateResult, returned: Returned): void {
  const jid = [...returned.values()][0]?.get("jid");
  if (typeof jid === "string") result.__jid__ = jid;
}

/** The minions that may fail; with a warning if they have another type. */
function mayFail(given: Value, result: StateResult): readonly Value[] {
  if (given === null) return [];
  if (typeof given === "string") return given.split(",").map((id) => id.trim());
  if (Array.isArray(given)) return given;
  (result.warnings ??= []).push("'fail_minions' needs to be a list or a comma separated string. Ignored.");
  return [];
}

/** A minion's own return; `undefined` if there is none. */
function returnOf(answer: ValueMap): Value | undefined {
  return answer.get(answer.has("ret") ? "ret" : "return");
}

/** Why a minion's return is no result of states, in one line; nothing for results of states. */
function failureDetail(id: string, returned: Value | undefined): string {
  if (returned === undefined) return `Minion ${id} did not return a state result.`;
  if (Array.isArray(returned)) {
    const parts = returned.filter(truthy).map(str);
    return parts.length === 0
      ? `Minion ${id} returned an empty error list.`
      : `Minion ${id} returned errors: ${parts.join("; ")}`;
  }
  return isMap(returned) ? "" : `Minion ${id} returned ${repr(returned)} instead of a state result.`;
}

function hasChanges(results: Value): boolean {
  return isMap(results) && [...results.values()].some((one) => isMap(one) && truthy(one.get("changes")));
}

/** Reports the results of states on minions. */
function judgeStates(
  result: StateResult,
  returned: Returned,
  { spared, allowed }: { readonly spared: readonly Value[]; readonly allowed: number },
): void {
  const changes: ValueMap = new Map();
  const unchanged: string[] = [];
  const failures = new Map<string, string>();
  for (const [id, answer] of returned) {
    const own = returnOf(answer);
    const fails = truthy(answer.get("failed")) || !isMap(own) || !hasSucceeded(own, true);
    if (fails) {
      if (!spared.includes(id)) failures.set(id, failureDetail(id, own));
      changes.set(id, truthy(answer.get("failed")) || own === undefined ? false : own);
    } else if (hasChanges(own)) changes.set(id, own);
    else unchanged.push(id);
  }
  if (changes.size > 0) result.changes = map({ out: "highstate", ret: changes });
  if (failures.size > allowed) {
    result.result = false;
    const details = [...failures].sort(([a], [b]) => a < b ? -1 : 1).map(([, detail]) => detail);
    const lines = details.filter((detail) => detail !== "");
    result.comment = [`Run failed on minions: ${[...failures.keys()].join(", ")}`, ...lines].join("\n");
    return;
  }
  const updated = changes.size > 0 ? ` Updating ${[...changes.keys()].map(str).join(", ")}.` : "";
  const same = unchanged.length > 0 ? ` No changes made to ${unchanged.join(", ")}.` : "";
  result.comment = `States ran successfully.${updated}${same}`;
}

/** The function that runs states, and its positional arguments; `undefined` if nothing is named. */
function wantedStates(highstate: Value, top: Value, sls: Value): { fun: string; arg: Value[] } | undefined {
  if (truthy(highstate)) return { fun: "state.highstate", arg: [] };
  if (truthy(top)) return { fun: "state.top", arg: [top] };
  if (!truthy(sls)) return undefined;
  return { fun: "state.sls", arg: [Array.isArray(sls) ? sls.map(str).join(",") : sls] };
}

/** Runs the states on this minion, which has no master: the target is ignored. */
async function runHere(
  { fun, arg }: { readonly fun: string; readonly arg: readonly Value[] },
  jobOptions: ValueMap,
  context: StateContext,
): Promise<Returned> {
  const own: ValueMap = new Map();
  const kwargs = jobOptions.get("kwarg") ?? null;
  if (fun === "state.top") own.set("topfn", arg[0]);
  if (fun === "state.sls") own.set("mods", arg[0]);
  if (isMap(kwargs)) { for (const [name, value] of kwargs) own.set(name, value); }
  const ret = await context.call(fun, [], own);
  return new Map([[context.opts.id ?? "", map({ ret, out: "highstate" })]]);
}

/**
 * Why a job returned nothing. With `expect_minions` a minion that does not answer is in the returns, so that none was
 * asked; batches and subsets are of the minions that answer.
 */
function nobody({ tgt, expect_minions, batch, subset }: Readonly<Record<string, Value>>): string {
  const target = Array.isArray(tgt) ? repr(tgt) : `'${str(tgt)}'`;
  const allCounted = truthy(expect_minions) && batch === null && subset === null;
  return `no minion matches ${target}${allCounted ? "" : ", or none of those that match answered"}`;
}

/** Whether this is a minion without a master, and not the master's own host in an orchestration. */
function isMasterless({ opts }: StateContext): boolean {
  return opts.file_client === "local" && opts.extra.get("__role") !== "master";
}

export const state: ModuleFunction<StateContext> = stateFn({
  doc: `Run states on minions.

name
    A text, unique in the run.

${JOB_DOC}

highstate, top, sls
    What to run: the highstate, a top file of that name, or SLS files.

saltenv, test, pillar, pillarenv, exclude, queue, concurrent
    Arguments of that run.

allow_fail : 0
    How many minions may fail.`,
  params: {
    name: p.str(),
    tgt: p.any(),
    ...JOB,
    highstate: p.any(null),
    sls: p.any(null),
    top: p.any(null),
    saltenv: p.any(null),
    test: p.any(null),
    pillar: p.any(null),
    pillarenv: p.any(null),
    expect_minions: p.any(true),
    exclude: p.any(null),
    allow_fail: p.any(0),
    concurrent: p.any(false),
    queue: p.any(false),
    orchestration_jid: p.any(null),
  },
  varKwargs: "kwargs",
  async run(bound, context, { kwargs }) {
    const { name, tgt, test } = bound;
    const given = bound.allow_fail;
    const allowed = typeof given === "string" ? parseInteger(given, 10) : toNumber(given);
    if (allowed === undefined) return failState(name, "Passed invalid value for 'allow_fail', must be an int");
    const wanted = wantedStates(bound.highstate, bound.top, bound.sls);
    if (wanted === undefined) return failState(name, "No highstate or sls specified, no execution made");
    const kwarg: ValueMap = new Map();
    if (test !== null || context.test) kwarg.set("test", test ?? true);
    if (truthy(bound.pillar)) kwarg.set("pillar", bound.pillar);
    for (const key of ["pillarenv", "saltenv", "exclude"] as const) if (bound[key] !== null) kwarg.set(key, bound[key]);
    kwarg.set("queue", bound.queue);
    if (typeof bound.concurrent !== "boolean") {
      return failState(name, "Must pass in boolean for value of 'concurrent'");
    }
    kwarg.set("concurrent", bound.concurrent);
    const jobOptions = jobKeywords(bound, { arg: wanted.arg, kwarg }, { kwargs, context });
    const isHere = isMasterless(context) && !truthy(bound.ssh);
    if (!isHere) await fireCall({ type: "state", tgt, name, args: jobOptions }, context);
    const returned = isHere
      ? await runHere(wanted, jobOptions, context)
      : returnedOf(await context.call("saltutil.cmd", [tgt, wanted.fun], jobOptions));
    const result = startResult(name);
    putJid(result, returned);
    const spared = mayFail(bound.fail_minions, result);
    if (returned.size === 0 && truthy(bound.expect_minions)) {
      return { ...result, result: false, comment: `No minions returned: ${nobody(bound)}` };
    }
    judgeStates(result, returned, { spared, allowed: Number(allowed) });
    if ((truthy(test) || context.test) && result.changes.size > 0 && result.result === true) result.result = null;
    return result;
  },
});

/**
 * Reports the results of a function on minions.
 * @param judge An additional check of returns.
 */
async function judgeReturns(
  result: StateResult,
  returned: Returned,
  { spared, judge }: { readonly spared: readonly Value[]; readonly judge: (returned: Value) => Promise<boolean> },
): Promise<void> {
  const changes: ValueMap = new Map();
  const failures = new Map<string, string>();
  for (const [id, answer] of returned) {
    const retcode = answer.get("retcode") ?? null;
    if (truthy(retcode)) failures.set(id, `Return code of ${id}: ${str(retcode)}`);
    const own = truthy(answer.get("failed")) ? false : returnOf(answer) ?? null;
    const good = !truthy(answer.get("failed")) && await judge(own) && own !== false;
    if (!good && !spared.includes(id) && !failures.has(id)) failures.set(id, whyBad(id, answer));
    changes.set(id, own);
  }
  result.changes = map({ ret: changes });
  if (failures.size > 0) result.result = false;
  const name = str(result.name);
  const summary = failures.size > 0
    ? `Running function ${name} failed on minions: ${[...failures.keys()].join(", ")}`
    : "Function ran successfully.";
  const ran = `${summary} Function ${name} ran on ${[...changes.keys()].map(str).join(", ")}.`;
  result.comment = [ran, ...failures.values()].join("\n");
}

/** Why a return without a return code counts as a failure. */
function whyBad(id: string, answer: ValueMap): string {
  if (truthy(answer.get("failed"))) return `Minion ${id} did not return.`;
  return returnOf(answer) === false
    ? `Minion ${id} returned False.`
    : `fail_function: the return of ${id} is a failure.`;
}

export const function_: ModuleFunction<StateContext> = stateFn({
  doc: `Run a function on minions.

name
    The function.

arg, kwarg
    Its arguments: a list, and a map.

${JOB_DOC}

fail_function
    An execution function that returns for each return whether it counts as a success.`,
  params: {
    name: p.str(),
    tgt: p.any(),
    ...JOB,
    expect_minions: p.any(false),
    fail_function: p.any(null),
    arg: p.any(null),
    kwarg: p.any(null),
  },
  varKwargs: "kwargs",
  async run(bound, context, { kwargs }) {
    const { name, tgt, arg, kwarg, fail_function } = bound;
    const result = startResult(name);
    if (typeof arg === "string") result.warnings = ["Please specify 'arg' as a list of arguments."];
    if (context.test) {
      return { ...result, result: null, comment: `Function ${name} would be executed on target ${str(tgt)}` };
    }
    const words = typeof arg === "string" ? splitWhitespace(arg) : arg;
    const call = { arg: listOrEmpty(words), kwarg: mapOrEmpty(kwarg) };
    let returned: Returned;
    try {
      const jobOptions = jobKeywords(bound, call, { kwargs, context }).set("_cmd_meta", true);
      await fireCall({ type: "function", tgt, name, args: jobOptions }, context);
      returned = returnedOf(await context.call("saltutil.cmd", [tgt, name], jobOptions));
    } catch (error) {
      return { ...result, result: false, comment: messageOf(error) };
    }
    putJid(result, returned);
    const spared = mayFail(bound.fail_minions, result);
    const judge = async (one: Value) => !truthy(fail_function) || truthy(await context.call(str(fail_function), [one]));
    if (returned.size === 0) return { ...result, result: false, comment: `No minions responded: ${nobody(bound)}` };
    await judgeReturns(result, returned, { spared, judge });
    return result;
  },
});
