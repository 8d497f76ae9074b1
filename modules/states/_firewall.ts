/**
 * Shared parts of the states of firewalls: keywords of rules, and the three outcomes of a change.
 * @module
 */

import { InvocationError } from "#lib/errors.ts";
import type { StateContext } from "#lib/plugins/job_context.ts";
import { startResult, type StateResult } from "#lib/plugins/state_module.ts";
import { INTERNAL_KEYWORDS } from "#lib/states/compiler/requisites.ts";
import { map, str, type Value, type ValueMap } from "#lib/values/value.ts";

/** The keywords without those that are for the state system. */
export function ownArguments(kwargs: ValueMap): ValueMap {
  return new Map([...kwargs].filter(([key]) => !INTERNAL_KEYWORDS.has(key)));
}

/**
 * A keyword that must be given.
 * @throws {InvocationError}
 */
export function needArgument(kwargs: ValueMap, key: string, fun: string): Value {
  const value = kwargs.get(key);
  if (value === undefined) throw new InvocationError(`${fun} needs the argument '${key}'`);
  return value;
}

/** The result of a state that only says something. */
export function stateOutcome(name: Value, result: boolean | null, comment: string): StateResult {
  return { ...startResult(name, result), comment };
}

/** The result of a change that was made: firewalls' states all say it so. */
export function changeResult(name: Value, comment: string): StateResult {
  return { ...startResult(name), comment, changes: map({ locale: name }) };
}

/** Calls an execution function whose answer is a text. */
export async function callText(context: StateContext, fun: string, args: Value[], kwargs?: ValueMap): Promise<string> {
  return str(await context.call(fun, args, kwargs)).trim();
}
