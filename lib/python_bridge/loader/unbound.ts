/**
 * The arguments of a call as they were given, of a function that was described with its parameters: Python binds them
 * itself, and knows defaults that cannot be sent.
 * @module
 */

import type { Parameters, Rest } from "#lib/plugins/module.ts";
import { toValue, type Value, type ValueMap } from "#lib/values/value.ts";

/** What Python is called with. */
export interface GivenArguments {
  readonly args: readonly Value[];
  readonly kwargs: ValueMap;
}

/** The arguments without the defaults that binding has filled in. */
export function unbound(params: Parameters, bound: Readonly<Record<string, unknown>>, rest: Rest): GivenArguments {
  const names = Object.keys(params).filter((name) => Object.hasOwn(bound, name));
  // More positional arguments than names: all names were given in their places.
  if (rest.args.length > 0) {
    return { args: [...names.map((name) => toValue(bound[name])), ...rest.args], kwargs: rest.kwargs };
  }
  const given = names.filter((name) => params[name].default === undefined || bound[name] !== params[name].default);
  const kwargs = new Map<Value, Value>([...given.map((name) => [name, toValue(bound[name])] as const), ...rest.kwargs]);
  return { args: [], kwargs };
}
