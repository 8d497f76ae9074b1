/**
 * The part of a minion's grains or pillar that targets read: single keys if these are sufficient, so that a master need
 * not decode all of ten thousand minions' grains.
 * @module
 */

import type { Value, ValueMap } from "#lib/values/value.ts";

/** The grains or the pillar of one minion. */
export interface Facts {
  /** The value of a key of the outermost map; `undefined` if there is none. */
  get(key: string): Value | undefined;
  whole(): ValueMap;
}

/** The facts in a map that is in memory. */
export function factsOf(data: ValueMap): Facts {
  return { get: (key) => data.get(key), whole: () => data };
}
