/**
 * State module `environ`: the environment of the minion's process.
 * Source: Salt 3008.3 `salt/states/environ.py`.
 * @module
 */

import type { StateContext } from "#lib/plugins/job_context.ts";
import { type ModuleFunction, p } from "#lib/plugins/module.ts";
import { failState, startResult, stateFn } from "#lib/plugins/state_module.ts";
import { isMap, str, truthy, type Value, type ValueMap } from "#lib/values/value.ts";

/** The value that a variable gets; `undefined` if it has it, or is not there as it is wanted. */
function newValue(wanted: Value, current: string | undefined, unset: boolean): Value | undefined {
  if (wanted === false) {
    if (unset) return current === undefined ? undefined : null;
    return current === "" ? undefined : "";
  }
  return (current ?? "") === wanted ? undefined : wanted;
}

export const setenv: ModuleFunction<StateContext> = stateFn({
  doc: `Environment variables of the minion have these values, until the minion ends. Its commands inherit them.

name
    The variable, or, with a map of values, a text that is unique in the run.

value
    A text, False, or a map of variables and such values. False empties a variable.

false_unsets : False
    Whether False removes a variable.

clear_all : False
    Whether all other variables are emptied, or, with \`false_unsets\`, removed.

update_minion : False
    Whether the event \`environ_setenv\` is fired.

permanent
    For Windows.`,
  params: {
    name: p.str(),
    value: p.any(),
    false_unsets: p.bool(false),
    clear_all: p.bool(false),
    update_minion: p.bool(false),
    permanent: p.any(false),
  },
  run: async ({ name, value, false_unsets, clear_all, update_minion, permanent }, context) => {
    const wanted = isMap(value)
      ? value
      : typeof value === "string" || value === false
      ? new Map<Value, Value>([[name, value]])
      : undefined;
    if (wanted === undefined) return failState(name, "Environ value must be string, dict or False");
    const environment = Deno.env.toObject();
    const changes: ValueMap = new Map();
    if (clear_all) {
      for (const key of Object.keys(environment)) if (!wanted.has(key)) changes.set(key, false_unsets ? null : "");
    }
    for (const [key, one] of wanted) {
      const now = newValue(one, environment[str(key)], false_unsets);
      if (now !== undefined) changes.set(key, now);
    }
    const ret = { ...startResult(name), changes };
    if (changes.size === 0) {
      const set = context.test ? "are already set" : "were already set";
      return { ...ret, comment: `Environ values ${set} with the correct values` };
    }
    // Salt's result is True here, and not None.
    if (context.test) return { ...ret, comment: "Environ values will be changed" };
    const done = await context.call("environ.setenv", [wanted, false_unsets, clear_all, update_minion, permanent]);
    if (!truthy(done) || !isMap(done)) return failState(name, "Failed to set environ variables", changes);
    return { ...ret, comment: "Environ values were set", changes: done };
  },
});
