/**
 * Lists of maps of one entry each, as SLS files have them where a map is meant.
 * Source: Salt 3006.28 `salt/utils/data.py` (`is_dictlist`, `repack_dictlist`).
 * @module
 */

import { isFloat, isInt, isMap, type Value, type ValueMap } from "#lib/values/value.ts";

/** Whether it is a list of maps of one entry each; an empty list is one. */
export function isDictList(value: Value): value is ValueMap[] {
  return Array.isArray(value) && value.every((item) => isMap(item) && item.size === 1);
}

/**
 * The map that a list of such maps means. An item that is a text or a number is a key whose value is None.
 * @returns `undefined` if it is no such list.
 */
export function repackDictList(value: Value): ValueMap | undefined {
  if (!Array.isArray(value)) return undefined;
  const entries = value.map((item): [Value, Value] | undefined => {
    if (isMap(item)) return item.size === 1 ? [...item][0] : undefined;
    return typeof item === "string" || isInt(item) || isFloat(item) ? [item, null] : undefined;
  });
  return entries.includes(undefined) ? undefined : new Map(entries.filter((entry) => entry !== undefined));
}
