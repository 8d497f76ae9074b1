/**
 * Reads nested maps and lists by a path such as `pkg:apache:0`: grains, pillar and options.
 *
 * Source: Salt 3008.3 `salt/utils/data.py` traverse_dict_and_list.
 * @module
 */

import { asList } from "#lib/values/shape.ts";
import { ValueSet } from "#lib/values/tuple.ts";
import { yamlifyArg } from "./arguments.ts";
import { isMap, str, toNumber, type Value, type ValueMap } from "#lib/values/value.ts";

/** Salt's default separator between the steps of a path. */
export const DEFAULT_TARGET_DELIM = ":";

/** The value at `path` in `data`, as {@linkcode traverse} finds it, else `fallback`. A None that exists is returned. */
export function traverseOr(data: ValueMap, path: Value, how: { delimiter: string; fallback: Value }): Value {
  const value = traverse(data, path, how.delimiter);
  return value === undefined ? how.fallback : value;
}

/**
 * The value at `path` in `data`, or `undefined`. A step into a list is an index, or a key of one of the maps in the
 * list. If a key does not exist as text, it is tried as a YAML value.
 */
export function traverse(data: ValueMap, path: Value, delimiter = DEFAULT_TARGET_DELIM): Value | undefined {
  const steps: Value[] = typeof path === "string" ? path.split(delimiter) : asList(path);
  let at: Value | undefined = data;
  for (const step of steps) {
    if (at instanceof ValueSet) return undefined;
    if (Array.isArray(at)) at = stepIntoList(at, step);
    else if (isMap(at)) at = stepIntoMap(at, step);
    else return undefined;
    if (at === undefined) return undefined;
  }
  return at;
}

function stepIntoMap(at: ValueMap, step: Value): Value | undefined {
  if (at.has(step) || typeof step !== "string") return at.get(step);
  return at.get(yamlifyArg(step));
}

function stepIntoList(at: Value[], step: Value): Value | undefined {
  const index = typeof step === "string" ? (/^\s*[+-]?\d+\s*$/.test(step) ? Number(step) : undefined) : toNumber(step);
  const key = index ?? str(step);
  for (const item of at) if (isMap(item) && item.has(key)) return item.get(key);
  return index === undefined ? undefined : at.at(index);
}
