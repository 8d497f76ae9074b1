/**
 * The arguments of a state function, from a chunk.
 * Source: Salt 3008.3, `format_call` of `salt/utils/args.py`, `State.verify_data` of `salt/state.py`.
 * @module
 */

import type { FunctionSignature } from "#lib/plugins/call.ts";
import type { Parameter } from "#lib/plugins/module.ts";
import { INTERNAL_KEYWORDS } from "#lib/states/compiler/requisites.ts";
import type { Value, ValueMap } from "#lib/values/value.ts";

/**
 * The arguments that are for the function; those of the runtime (`internal`) are left out, unless it declares one of
 * that name. An argument without a value is Python's None, which most functions take for nothing: one that is not to be
 * None is left out.
 */
export function stateArguments(
  fun: FunctionSignature,
  given: ValueMap,
  internal: ReadonlySet<unknown> = INTERNAL_KEYWORDS,
): ValueMap {
  const kwargs: ValueMap = new Map();
  for (const [name, value] of given) {
    const declared = typeof name === "string" && Object.hasOwn(fun.params, name) ? fun.params[name] : undefined;
    if (declared === undefined) {
      // The mark of a chunk that was aggregated is for modules that take any keyword; Salt 3008.3 fails with others.
      const isMark = name === "__agg__" && fun.varKwargs === undefined;
      if (!internal.has(name) && !isMark) kwargs.set(name, value);
    } else if (value !== null || takesNone(declared)) kwargs.set(name, value);
    else if (declared.type === "bool") kwargs.set(name, false);
  }
  return kwargs;
}

function takesNone({ type, default: fallback }: Parameter): boolean {
  return type === "any" || fallback === undefined || fallback === null;
}

/** The required parameters that a chunk does not give. */
export function missingArguments(fun: FunctionSignature, chunk: ReadonlyMap<Value, Value>): string[] {
  return Object.entries(fun.params)
    .filter(([name, { default: fallback }]) => fallback === undefined && !chunk.has(name))
    .map(([name]) => name);
}
