/**
 * Which signed jobs say what they do only by files that the master gives: runs of SLS files. A signature over their
 * names protects little; a plan's hash covers what will be done.
 * @module
 */

import { isTrue } from "#lib/values/is_true.ts";
import { isMap, str, type Value, type ValueMap } from "#lib/values/value.ts";

/** Functions that run states of the master's files. */
const RUN_FILES: ReadonlySet<string> = new Set(
  ["apply", "sls", "highstate", "top", "sls_id", "template", "request", "run_request"].map((name) => `state.${name}`),
);

/** The function of a job that runs states of files without a plan, not in test mode; `undefined`: there is none. */
export function unplannedRun(load: ValueMap): string | undefined {
  const fun = load.get("fun") ?? null, arg = load.get("arg") ?? null;
  const calls: readonly (readonly [Value, Value])[] = Array.isArray(fun)
    ? fun.map((name, i) => [name, Array.isArray(arg) ? arg[i] ?? null : null] as const)
    : [[fun, arg]];
  const unplanned = calls.find(([name, words]) => RUN_FILES.has(str(name)) && !isBound(words));
  return unplanned === undefined ? undefined : str(unplanned[0]);
}

/** Whether the words of a call name a plan, or ask for test mode. */
function isBound(words: Value): boolean {
  const keywords = Array.isArray(words) ? words.filter(isMap) : [];
  return keywords.some((named) => named.has("plan") || isTrue(named.get("test") ?? null));
}
