/**
 * How `module.run` hands arguments to a function of an execution module: in its new form as a list of values and of
 * maps, in its old form by the names of the function's parameters. Source: Salt 3008.3 `salt/utils/functools.py`
 * call_function, `salt/states/module.py` _legacy_run.
 * @module
 */

import { InvocationError } from "#lib/errors.ts";
import type { JobContext } from "#lib/plugins/job_context.ts";
import type { ModuleFunction } from "#lib/plugins/module.ts";
import { isMap, str, typeName, type Value, type ValueMap } from "#lib/values/value.ts";

/** Arguments for {@linkcode JobContext.call}. */
export interface CallArguments {
  readonly args: Value[];
  readonly kwargs: ValueMap;
}

type Function = ModuleFunction<JobContext>;

/** The parameters that must be given. */
function requiredNames({ params }: Function): string[] {
  return Object.entries(params).flatMap(([name, { default: value }]) => value === undefined ? [name] : []);
}

/** The parameters that have a default, with it. */
function defaults({ params }: Function): ValueMap {
  return new Map(
    Object.entries(params).flatMap(([name, { default: value }]) => value === undefined ? [] : [[name, value]]),
  );
}

/**
 * The arguments that a list means: maps in it are keywords, the rest is positional. Each default is handed over too, so
 * a positional value for a parameter that has one is refused, as by Salt.
 * @param given None, or anything that Python iterates over.
 * @throws {InvocationError} If an argument is missing, or `given` is not a list.
 */
export function listedArguments(fun: Function, given: Value): CallArguments {
  const needed = requiredNames(fun);
  const kwargs = defaults(fun);
  const args: Value[] = [];
  const keywords: ValueMap = new Map();
  for (const one of elements(given).reverse()) {
    if (!isMap(one)) {
      args.push(one);
      continue;
    }
    for (const [key, value] of one) {
      if (needed.includes(str(key))) keywords.set(key, value);
      // Salt takes the whole map as soon as one of its keys is no required parameter.
      else for (const [each, item] of one) kwargs.set(each, item);
    }
  }
  args.reverse();
  for (const name of needed) if (keywords.has(name)) args.push(keywords.get(name) ?? null);
  const missing = Object.keys(fun.params).slice(args.length).filter((name) => !kwargs.has(name));
  if (needed.length > args.length && missing.length > 0) {
    throw new InvocationError(`Missing arguments: ${missing.join(", ")}`);
  }
  return { args, kwargs };
}

/** What Python's `*given` yields. */
function elements(given: Value): Value[] {
  if (given === null) return [];
  if (Array.isArray(given)) return [...given];
  if (isMap(given)) return [...given.keys()];
  if (typeof given === "string") return [...given];
  throw new InvocationError(`Value after * must be an iterable, not ${typeName(given)}`);
}

/** Parameters that a state has itself: in its old form `module.run` wants them with `m_` before them. */
const TAKEN: readonly string[] = ["name", "fun", "names", "state", "saltenv"];

function keywordOf(parameter: string): string {
  return TAKEN.includes(parameter) ? `m_${parameter}` : parameter;
}

/** The arguments from the keywords of the old form. */
export type NamedArguments =
  | (CallArguments & { /** Keywords that the function has no use for. */ readonly left: readonly string[] })
  | { /** Why the function cannot be called, in Salt's words. */ readonly problem: string };

/** The arguments that the keywords of the old form mean: a parameter each, `*args` as a list, `**kwargs` as a map. */
export function namedArguments(fun: Function, given: ValueMap): NamedArguments {
  const left = new Map(given);
  const take = (key: string): Value | undefined => {
    const value = left.get(key);
    left.delete(key);
    return value;
  };
  const args: Value[] = [];
  const missing: string[] = [];
  for (const [parameter, { default: value }] of Object.entries(fun.params)) {
    const keyword = keywordOf(parameter);
    const optional = value !== undefined;
    // Of an optional `names` Salt knows no other word.
    const own = optional ? take(parameter) ?? (parameter === "names" ? undefined : take(keyword)) : take(keyword);
    if (own === undefined && !optional) missing.push(keyword);
    args.push(own ?? value ?? null);
  }
  if (missing.length > 0) return { problem: `The following arguments are missing: ${missing.join(" ")}` };
  if (fun.varArgs !== undefined) {
    const more = take(keywordOf(fun.varArgs)) ?? [];
    if (!Array.isArray(more)) return { problem: `'${fun.varArgs}' must be a list.` };
    args.push(...more);
  }
  const kwargs = fun.varKwargs === undefined ? undefined : take(fun.varKwargs);
  if (kwargs !== undefined && !isMap(kwargs)) return { problem: `'${fun.varKwargs}' must be a dict.` };
  return { args, kwargs: kwargs ?? new Map(), left: [...left.keys()].map(str) };
}
