/**
 * The functions that a list of rules allows: functions on minions, runners and wheel functions, by function, target and
 * argument. The lists come from `publisher_acl`, `external_auth`, tokens, `peer`. Pure: the caller passes the target
 * minions.
 *
 *     - test.*                        # a function, on any minion
 *     - web*: [cmd.run]               # on the minions of a compound target
 *     - web*: [{pkg.install: {args: [nginx.*], kwargs: {refresh: .*}}}]
 *     - '@runner'                     # every runner; '@wheel', '@jobs'
 *     - '@jobs': [list_jobs]
 *
 * Source: Salt 3008.3 `salt/utils/minions.py` (`auth_check`, `spec_check`); tests/corpus/auth_rules.json has its
 * answers.
 * @module
 */

import { FIND_JOB } from "#lib/protocol/about_jobs.ts";
import { asList } from "#lib/values/shape.ts";
import { matchesRule } from "./patterns.ts";
import { compoundArgs, fromWireArgs, type ReadArgs } from "#lib/yaml/arguments.ts";
import { isMap, str, type Value, type ValueMap } from "#lib/values/value.ts";

/** A function that is published, and its arguments as minions get them. */
export interface PublishedCall {
  readonly fun: string;
  readonly arg: readonly Value[];
}

/** A function, and its arguments as it gets them. */
interface Call extends ReadArgs {
  readonly fun: string;
}

/** The minions that a job is for. */
export interface JobTarget {
  /** Their ids. */
  readonly minions: readonly string[];
  /** The ids that a compound expression means. */
  matching(expression: string): ReadonlySet<string>;
}

/** A call that runs on the master: its kind, function and arguments. */
export interface MasterCall extends Call {
  readonly form: "runner" | "wheel";
}

/** The calls of a publish: `arg` is the arguments, or a list of arguments for each function of a compound job. */
export function publishCalls(fun: Value, arg: readonly Value[]): PublishedCall[] {
  if (!Array.isArray(fun)) return [{ fun: str(fun), arg }];
  return fun.map((name, i) => ({ fun: str(name), arg: compoundArgs(arg, i) }));
}

/**
 * Whether `rules` allow to publish `calls`. Each of them must be allowed: Salt allows a compound job if one is. Their
 * arguments are those that the minion will run them with, and have no second meaning.
 */
export function allowsJob(rules: readonly Value[], calls: readonly PublishedCall[], target: JobTarget): boolean {
  return allowsEach(
    calls,
    // Every user who may publish may call it: commands ask whether their jobs still run.
    (call) => call.fun === FIND_JOB || rules.some((rule) => allowsOnMinions(rule, call, target)),
  );
}

/**
 * Whether `rules` allow minions to publish `calls`: as {@linkcode allowsJob}, without the functions that the commands
 * need.
 */
export function allowsPeers(rules: readonly Value[], calls: readonly PublishedCall[], target: JobTarget): boolean {
  return allowsEach(calls, (call) => rules.some((rule) => allowsOnMinions(rule, call, target)));
}

function allowsEach(calls: readonly PublishedCall[], allows: (call: Call) => boolean): boolean {
  const read = calls.map(({ fun, arg }) => ({ fun, ...fromWireArgs(arg) }));
  return read.length > 0 && read.every((call) => call.ambiguity === undefined && allows(call));
}

function allowsOnMinions(rule: Value, call: Call, { minions, matching }: JobTarget): boolean {
  if (typeof rule === "string") return matchesRule(rule, call.fun);
  const only = onlyEntry(rule);
  if (only === undefined) return false;
  const [expression, conditions] = only;
  return isMeant(expression, minions, matching) && meetsOne(conditions, call);
}

function isMeant(expression: string, minions: readonly string[], matching: JobTarget["matching"]): boolean {
  if (expression === "*") return true;
  if (expression.startsWith("@") || minions.length === 0) return false;
  const matchingIds = matching(expression);
  return minions.every((id) => matchingIds.has(id));
}

/** Whether `rules` allow a runner's or a wheel function. `syntax`: it is not `module.function`. */
export function allowsMasterCall(rules: readonly Value[], call: MasterCall): boolean | "syntax" {
  if (rules.length === 0 || call.ambiguity !== undefined) return false;
  const [module, name, ...more] = call.fun.split(".");
  if (name === undefined || more.length > 0) return "syntax";
  const all = [call.form, `${call.form}s`];
  return rules.some((rule) => {
    if (typeof rule === "string") return rule.startsWith("@") && [module, ...all].includes(rule.slice(1));
    const [key, conditions] = onlyEntry(rule) ?? ["", null];
    if (!key.startsWith("@")) return false;
    const what = key.slice(1);
    return (what === module && meetsOne(conditions, { ...call, fun: name })) ||
      (all.includes(what) && meetsOne(conditions, call));
  });
}

/** The entry of a rule that is a map of one: Salt takes no other. */
function onlyEntry(rule: Value): [string, Value] | undefined {
  if (!isMap(rule) || rule.size !== 1) return undefined;
  const [[key, value]] = rule;
  return typeof key === "string" ? [key, value] : undefined;
}

/** Whether one of `conditions` allows the call: a function, or a function with conditions on its arguments. */
function meetsOne(conditions: Value, call: Call): boolean {
  return asList(conditions).some((condition) => {
    if (typeof condition === "string") return matchesRule(condition, call.fun);
    const [fun, wanted] = onlyEntry(condition) ?? [];
    return fun !== undefined && wanted !== undefined && matchesRule(fun, call.fun) &&
      asList(wanted).some((one) => isMap(one) && meetsArguments(one, call));
  });
}

/** Whether the call has every argument that `wanted` names, with a value that its pattern allows; None allows any. */
function meetsArguments(wanted: ValueMap, { args, kwargs }: Call): boolean {
  const positional = wanted.get("args") ?? [];
  const kwargsWanted = wanted.get("kwargs") ?? new Map();
  if (!Array.isArray(positional) || !isMap(kwargsWanted)) return false;
  return positional.every((pattern, i) => i < args.length && allowsValue(pattern, args[i])) &&
    [...kwargsWanted].every(([name, pattern]) => kwargs.has(name) && allowsValue(pattern, kwargs.get(name) ?? null));
}

function allowsValue(pattern: Value, value: Value): boolean {
  return pattern === null || (typeof pattern === "string" && matchesRule(pattern, str(value)));
}
