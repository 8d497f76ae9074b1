/**
 * Reads the return of a state run.
 * @module
 */

import { isMap, repr, type Value, type ValueMap } from "#lib/values/value.ts";
import { assert } from "#tests/support/assert.ts";

/**
 * The result of the state with this id.
 * @throws {Error} If there is none.
 */
export function resultOf(returned: Value, id: string): ValueMap {
  assert(isMap(returned), repr(returned));
  const state = [...returned].find(([tag]) => String(tag).split("_|-")[1] === id)?.[1];
  assert(isMap(state), `${id} has no result: ${repr(returned)}`);
  return state;
}

/** One field of the result of each of these states. */
export function fieldOf(returned: Value, ids: readonly string[], field: string): (Value | undefined)[] {
  return ids.map((id) => resultOf(returned, id).get(field));
}
