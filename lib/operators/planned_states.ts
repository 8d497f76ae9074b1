/**
 * Which signed jobs say what they do only by files that the master gives: runs of SLS files. A signature over their
 * names protects little; a plan's hash covers what will be done.
 * @module
 */

import { isTrue } from "#lib/values/is_true.ts";
import { asList } from "#lib/values/shape.ts";
import { str, type Value, type ValueMap } from "#lib/values/value.ts";
import { fromWireArgs } from "#lib/yaml/arguments.ts";

/** Functions that run states of the master's files. */
const RUN_FILES: ReadonlySet<string> = new Set(
  ["apply", "sls", "highstate", "top", "sls_id", "template", "request", "run_request"].map((name) => `state.${name}`),
);

/** The only one of them that takes the hash of a plan. */
const TAKES_PLAN = "state.apply";
/** Runs what was asked for before, never in test mode, whatever its arguments are. */
const IGNORES_TEST = "state.run_request";

/** The function of a job that runs states of files without a plan, not in test mode; `undefined`: there is none. */
export function unplannedRun(load: ValueMap): string | undefined {
  const fun = load.get("fun") ?? null, arg = load.get("arg") ?? null;
  const calls: readonly (readonly [Value, Value])[] = Array.isArray(fun)
    ? fun.map((name, i) => [name, Array.isArray(arg) ? arg[i] ?? null : null] as const)
    : [[fun, arg]];
  const unplanned = calls.find(([name, words]) => RUN_FILES.has(str(name)) && !isBound(str(name), words));
  return unplanned === undefined ? undefined : str(unplanned[0]);
}

/** Whether the words of a call, as the minion will read them, name a plan, or ask for test mode. */
function isBound(fun: string, words: Value): boolean {
  const { kwargs, ambiguity } = fromWireArgs(asList(words ?? []));
  if (ambiguity !== undefined) return false;
  if (fun === TAKES_PLAN && typeof kwargs.get("plan") === "string") return true;
  return fun !== IGNORES_TEST && isTrue(kwargs.get("test") ?? null);
}
