/**
 * External pillar `extra_minion_data_in_pillar`: options that the minion passes by `pass_to_ext_pillars`.
 * Source: Salt 3008.3 `salt/pillar/extra_minion_data_in_pillar.py`.
 * @module
 */

import { type PillarSource, pillarSource } from "#lib/plugins/pillar_source.ts";
import { p } from "#lib/plugins/module.ts";
import { isMap, str, typeName, type Value, type ValueMap } from "#lib/values/value.ts";

export const ext_pillar: PillarSource = pillarSource({
  doc:
    "Return the data that the minion passes: all of it with `include: <all>` or `*`, else the values at the paths of a list.",
  params: { include: p.any() },
  run({ include }, { extraMinionData }) {
    if (include === "*" || include === "<all>") return extraMinionData;
    if (extraMinionData.size === 0) return extraMinionData;
    const data: ValueMap = new Map();
    for (const path of pathsOf(include)) {
      const steps = str(path).split(":");
      let at: Value | undefined = extraMinionData;
      for (const step of steps) at = isMap(at) ? at.get(step) : undefined;
      if (at === undefined) continue;
      const [first, ...rest] = steps;
      data.set(first, rest.reduceRight<Value>((inner, step) => new Map([[step, inner]]), at));
    }
    return data;
  },
});

/** What Python goes through: the items of a list, the keys of a map, the characters of a text. */
function pathsOf(include: Value): Iterable<Value> {
  if (Array.isArray(include) || typeof include === "string") return include;
  if (isMap(include)) return include.keys();
  throw new Error(`include must be a list of paths, not ${typeName(include)}`);
}
