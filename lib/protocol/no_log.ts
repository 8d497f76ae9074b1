/**
 * `no_log`: which jobs must not be stored or logged, and what replaces their arguments. In a job's load `no_log` is the
 * public key of the client that waits for the returns, or True if no client waits. Whether a job succeeded is not
 * secret. hidden_return.ts handles the returns; this file loads fast.
 * @module
 */

import { OP } from "./operator_field.ts";
import { isMap, truthy, type Value, type ValueMap } from "#lib/values/value.ts";

/** Replaces hidden values; the same text as Salt's. */
export const MASK = "**********";
/** The field of a load, and of the `kwargs` of a publish. */
export const NO_LOG = "no_log";

/** Whether `text` has the form of a public key for returns. */
export function isReturnKey(text: Value | undefined): text is string {
  return typeof text === "string" && /^[0-9a-f]{64}$/.test(text);
}

/**
 * The public key for the returns of a job, from the `no_log` of its load: empty if no client waits, `undefined` if the
 * job is not hidden. Every value that is not clearly false hides the job.
 */
export function noLogReader(wish: Value | undefined): string | undefined {
  if (wish === undefined || !truthy(wish)) return undefined;
  return isReturnKey(wish) ? wish : "";
}

/** The `no_log` of a load whose returns are encrypted for `reader`. */
export function noLogValue(reader: string): Value {
  return reader === "" ? true : reader;
}

/** Whether the job of this load is hidden. */
export function isNoLog(load: ValueMap): boolean {
  return noLogReader(load.get(NO_LOG)) !== undefined;
}

/** The load of a hidden job without its arguments, which an operator's signature repeats. */
export function hideArguments(load: ValueMap): ValueMap {
  const hidden: ValueMap = new Map([...load, ["arg", [MASK]]]), kwargs = load.get("kwargs");
  hidden.delete(OP);
  if (isMap(kwargs) && kwargs.has(OP)) hidden.set("kwargs", new Map([...kwargs].filter(([name]) => name !== OP)));
  return hidden;
}

/** The return of a hidden job without its arguments and result. */
export function hideResult(load: ValueMap): ValueMap {
  return new Map([...load, ["return", MASK], ["fun_args", [MASK]], [NO_LOG, true]]);
}

/** The load as it may be stored and logged: without its arguments, if the job is hidden. */
export function asNoted(load: ValueMap): ValueMap {
  return isNoLog(load) ? hideArguments(load) : load;
}
