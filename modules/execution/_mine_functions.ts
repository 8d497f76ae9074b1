/**
 * `mine_functions`: which functions fill the mine, under which names, and who may read the results. Source: Salt 3008.3
 * `salt/utils/mine.py`.
 * @module
 */

import { masterOpts } from "#lib/config/option_sources.ts";
import type { JobContext } from "#lib/plugins/job_context.ts";
import type { MineFunction } from "#lib/fleet/mine_definition.ts";
import { isMap, map, typeName, type Value, type ValueMap } from "#lib/values/value.ts";

/** The entries of the minion's options, of the master's options in pillar, and of pillar; of a name the first wins. */
export function configuredFunctions({ opts, pillar, log }: JobContext): ValueMap {
  const sources: [string, Value | undefined][] = [
    ["the configuration", opts.mine_functions],
    ["the master's options in pillar", masterOpts(pillar).get("mine_functions")],
    ["pillar", pillar.get("mine_functions")],
  ];
  const merged: ValueMap = new Map();
  for (const [source, functions] of sources) {
    if (functions === undefined || functions === null) continue;
    if (!isMap(functions)) {
      log("error", `mine_functions of ${source} has no effect: it is ${typeName(functions)}, not a map`);
      continue;
    }
    for (const [name, definition] of functions) if (!merged.has(name)) merged.set(name, definition);
  }
  return merged;
}

/** An entry as `mine.valid` shows it. */
export function shownDefinition({ alias, args, kwargs }: MineFunction, definition: Value): Value {
  if (alias !== undefined) {
    return map({ [alias]: [...args, ...[...kwargs].map(([key, value]) => new Map([[key, value]]))] });
  }
  return isMap(definition) ? kwargs : definition;
}
