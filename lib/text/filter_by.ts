/**
 * Looks up a value in a table whose keys are globs: `grains.filter_by` and `pillar.filter_by`.
 * Source: Salt 3008.3 `salt/utils/data.py` filter_by.
 * @module
 */

import { CommandError } from "#lib/errors.ts";
import { matchesGlob } from "./glob.ts";
import { updateMap } from "#lib/values/dict_update.ts";
import { isMap, str, truthy, type Value, type ValueMap } from "#lib/values/value.ts";

/** The options of a look-up. */
export interface FilterOptions {
  /** A map that is merged over the found value. */
  readonly merge: Value;
  /** The key to use if no other matches. */
  readonly fallback: Value;
  /** The key of a map over which the found value is merged. */
  readonly base: Value;
}

/**
 * The value of the table for `value`; of a list, for the first item that a key matches.
 * @throws {CommandError} If a value to be merged is not a map.
 */
export function filterBy(table: ValueMap, value: Value | undefined, options: FilterOptions): Value {
  const { merge, fallback, base } = options;
  const match = firstMatch(table, value) ?? table.get(fallback) ?? null;
  const based = truthy(base) ? overBase(table.get(base), match) : match;
  if (!truthy(merge)) return based;
  if (!isMap(merge)) throw new CommandError("filter_by merge argument must be a dictionary.");
  if (based === null) return merge;
  if (!isMap(based)) throw new CommandError("Cannot update using non-dict types in dictupdate.update()");
  return updateMap(based, merge, { mergeLists: false });
}

function firstMatch(table: ValueMap, value: Value | undefined): Value | undefined {
  for (const item of Array.isArray(value) ? value : value === undefined ? [] : [value]) {
    for (const [key, match] of table) {
      if (!matchesGlob(str(key), str(item))) continue;
      if (match !== null) return match;
      break;
    }
  }
  return undefined;
}

function overBase(base: Value | undefined, match: Value): Value {
  if (base === undefined) return match;
  if (match === null) return base;
  if (!isMap(base)) return match;
  if (!isMap(match)) throw new CommandError("filter_by default and look-up values must both be dictionaries.");
  return updateMap(base, match, { mergeLists: false });
}
