/**
 * How PillarStack merges a file into what it has: by strategies that the file itself names under `__`.
 * Source: Salt 3008.3 `salt/pillar/stack.py` _merge_dict, _merge_list, _cleanup.
 * @module
 */

import { equals, isMap, str, truthy, typeName, type Value, type ValueMap } from "#lib/values/value.ts";

const STRATEGIES = ["overwrite", "merge-first", "merge-last", "remove"];
const STRATEGY_KEY = "__";

/**
 * `stack` with a file's map. Neither is changed.
 * @throws {Error} For a strategy that there is not.
 */
export function mergeStack(stack: ValueMap, file: ValueMap): ValueMap {
  const strategy = requireKnown(file.get(STRATEGY_KEY) ?? "merge-last");
  const items = [...file].filter(([key]) => key !== STRATEGY_KEY);
  if (strategy === "overwrite") return cleanMap(new Map(items));
  const merged = new Map(stack);
  for (const [key, value] of items) {
    const old = merged.get(key);
    if (strategy === "remove") merged.delete(key);
    else if (old === undefined) merged.set(key, cleanValue(value));
    else if (strategy === "merge-first") merged.set(key, mergeValues(cleanValue(value), old));
    else merged.set(key, mergeValues(old, value));
  }
  return merged;
}

/** `old` with `value`, which takes its place if they are of different types. */
function mergeValues(old: Value, value: Value): Value {
  if (isMap(old) && isMap(value)) return mergeStack(old, value);
  if (Array.isArray(old) && Array.isArray(value)) return mergeLists(old, value);
  return typeName(old) === typeName(value) ? value : cleanValue(value);
}

function mergeLists(stack: readonly Value[], file: readonly Value[]): Value[] {
  const [first] = file;
  const strategy = isMap(first) ? first.get(STRATEGY_KEY) : undefined;
  const items = strategy === undefined ? file : file.slice(1);
  switch (requireKnown(strategy ?? "merge-last")) {
    case "overwrite":
      return [...items];
    case "remove":
      return stack.filter((item) => !items.some((other) => equals(item, other)));
    case "merge-first":
      return [...items, ...stack];
    default:
      return [...stack, ...items];
  }
}

function requireKnown(strategy: Value): string {
  const name = str(strategy);
  if (STRATEGIES.includes(name)) return name;
  const all = STRATEGIES.map((known) => `'${known}'`).join(", ");
  throw new Error(`Unknown strategy "${name}", should be one of (${all})`);
}

function cleanMap(map: ValueMap): ValueMap {
  return new Map([...map].filter(([key]) => key !== STRATEGY_KEY).map(([key, value]) => [key, cleanValue(value)]));
}

/** Without the strategies in it; those in the items of a list stay, as Salt has it. */
function cleanValue(value: Value): Value {
  if (isMap(value)) return truthy(value) ? cleanMap(value) : value;
  if (!Array.isArray(value)) return value;
  const [first] = value;
  return isMap(first) && first.has(STRATEGY_KEY) ? value.slice(1) : value;
}
