/**
 * The result of a state with `no_log`.
 * @module
 */

import { maskValue } from "#lib/protocol/masked.ts";
import type { ValueMap } from "#lib/values/value.ts";

/**
 * Hides in a result what its state did.
 * @returns The result.
 */
export function hideStateResult(result: ValueMap): ValueMap {
  for (const key of ["name", "comment", "changes"]) result.set(key, maskValue(result.get(key) ?? null));
  return result;
}
