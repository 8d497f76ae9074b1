/**
 * Merges two maps by one of Salt's strategies, like pillar files and `slsutil.merge`.
 * Source: Salt 3008.3, `salt/utils/dictupdate.py` merge.
 * @module
 */

import { aggregateMaps } from "./aggregate.ts";
import { updateMap } from "./dict_update.ts";
import type { Value, ValueMap } from "./value.ts";

/** How maps are merged. */
export interface MergeHow {
  /** `smart`, `recurse`, `overwrite`, `aggregate`, `list` or `none`; another name is taken for `none`. */
  readonly strategy: string;
  /** The default renderer, which decides what `smart` does. */
  readonly renderer?: string;
  /** Whether lists are joined without doubles, by `smart` and `recurse`. */
  readonly mergeLists?: boolean;
}

/** Whether Salt knows a strategy of that name. */
export function isMergeStrategy(name: string): boolean {
  return Object.hasOwn(STRATEGIES, name);
}

/** `a` merged with `b`. Neither is changed. */
export function mergeMaps(a: ValueMap, b: ValueMap, how: MergeHow): ValueMap {
  const { strategy, renderer = "yaml" } = how;
  if (strategy === "smart") {
    const aggregates = renderer.split("|").at(-1) === "yamlex" || renderer.startsWith("yamlex_");
    return STRATEGIES[aggregates ? "aggregate" : "recurse"](a, b, how);
  }
  return STRATEGIES[isMergeStrategy(strategy) ? strategy : "none"](a, b, how);
}

type Merge = (a: ValueMap, b: ValueMap, how: MergeHow) => ValueMap;

const recurse: Merge = (a, b, { mergeLists = false }) => updateMap(a, b, { mergeLists });
/** Like `update` of Python's dict: the value of a key is replaced as a whole. */
const replaceKeys: Merge = (a, b) => {
  const merged = new Map(a);
  for (const [key, value] of b) merged.set(key, value);
  return merged;
};

const STRATEGIES: Readonly<Record<string, Merge>> = {
  smart: recurse,
  recurse,
  overwrite: replaceKeys,
  // Values below the outermost keys are joined only if the renderer `yamlex` has read them with a tag.
  aggregate: aggregateMaps,
  // As in Salt, a key that only the second map has is lost.
  list: (a, b) =>
    new Map([...a].map(([key, value]): [Value, Value] => {
      const other = b.get(key);
      return [key, other === undefined ? value : [value, other]];
    })),
  none: (a, b) => updateMap(a, b, { mergeLists: false }),
};
