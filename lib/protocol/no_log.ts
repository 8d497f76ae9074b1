/**
 * `no_log`: which jobs are not to be kept or told, and what is put in the place of their arguments.
 *
 * A job's load says `no_log`: the public key of whoever waits for the returns, or True where nobody does. Whether and how a job
 * succeeded is no secret. What becomes of the returns is hidden_return.ts; this file is cheap to load.
 * @module
 */

import { truthy, type Value, type ValueMap } from "../values/value.ts";

/** What stands in the place of what is hidden; Salt's own. */
export const MASK = "**********";
/** The field of a load, and of the `kwargs` of a publish. */
export const NO_LOG = "no_log";

/** Whether `text` has the form of a public key that returns are sealed for. */
export function isReturnKey(text: Value | undefined): text is string {
  return typeof text === "string" && /^[0-9a-f]{64}$/.test(text);
}

/**
 * For whom the returns of a job are sealed, by the `no_log` of its load: the empty string for nobody, `undefined` for a job
 * that is not hidden. Whatever is not plainly a no hides the job.
 */
export function noLogReader(wish: Value | undefined): string | undefined {
  if (wish === undefined || !truthy(wish)) return undefined;
  return isReturnKey(wish) ? wish : "";
}

/** The `no_log` of a load whose returns are sealed for `reader`. */
export function noLogWish(reader: string): Value {
  return reader === "" ? true : reader;
}

/** Whether the job of this load is not to be kept or told. */
export function isNoLog(load: ValueMap): boolean {
  return noLogReader(load.get(NO_LOG)) !== undefined;
}

/** A load of such a job without its arguments. */
export function hideArguments(load: ValueMap): ValueMap {
  return new Map([...load, ["arg", [MASK]]]);
}

/** A return of such a job without what it was called with and what it gave. */
export function hideResult(load: ValueMap): ValueMap {
  return new Map([...load, ["return", MASK], ["fun_args", [MASK]], [NO_LOG, true]]);
}

/** The load as it may be noted: without its arguments, if that is wished. */
export function asNoted(load: ValueMap): ValueMap {
  return isNoLog(load) ? hideArguments(load) : load;
}
