/**
 * The options of a node as one map, like Salt's `__opts__`. It includes options that the user set and no table lists.
 * @module
 */

import type { MasterOpts, MinionOpts } from "./options.ts";
import { toValue, type Value, type ValueMap } from "#lib/values/value.ts";

/** The options by name, in the order of the tables. */
export function optsValues(opts: MasterOpts | MinionOpts): ValueMap {
  const { extra, ...known } = opts;
  const values = new Map<Value, Value>(extra);
  for (const [name, option] of Object.entries(known)) values.set(name, toValue(option));
  return values;
}
