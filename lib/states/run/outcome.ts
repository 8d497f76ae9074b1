/**
 * The return code of a run.
 * Source: Salt 3008.3, `_set_retcode` of `salt/modules/state.py`, `check_result` of `salt/utils/state.py`.
 * @module
 */

import { RETCODE } from "#lib/states/tree/retcode.ts";
import { isMap, type Value, type ValueMap } from "#lib/values/value.ts";

/** The return code for what a run returns. */
export function retcodeOf(returned: Value): number {
  if (Array.isArray(returned)) return RETCODE.compile;
  return isMap(returned) && hasSucceeded(returned) ? RETCODE.ok : RETCODE.failure;
}

/**
 * Whether there are results and none is False; results may contain results.
 * @param isInner Whether other values may be among them.
 */
export function hasSucceeded(results: ValueMap, isInner = false): boolean {
  if (results.size === 0) return false;
  for (const [id, result] of results) {
    if (!isMap(result)) {
      if (!isInner && !(id === "__extend__" && Array.isArray(result))) return false;
      continue;
    }
    if (result.has("result") ? result.get("result") === false : !hasSucceeded(result, true)) return false;
  }
  return true;
}

/** The results with `terse`: failed ones, and those with changes. */
export function terse(results: ValueMap): ValueMap {
  return new Map(
    [...results].filter(([, result]) => {
      if (!isMap(result)) return true;
      const changes = result.get("changes");
      return result.get("result") !== true || (isMap(changes) && changes.size > 0);
    }),
  );
}
