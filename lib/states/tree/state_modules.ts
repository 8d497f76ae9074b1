/**
 * Facts of a host's state modules before they run: whether they have `mod_watch` and `mod_aggregate`, and the arguments
 * of their functions. A module that does not load on the host has neither. Source: Salt 3008.3, `mod_watch`,
 * `mod_aggregate` and `__virtual__` of `salt/states`.
 * @module
 */

import type { Catalogue, StateContext } from "#lib/plugins/job_context.ts";
import type { ModuleFunction } from "#lib/plugins/module.ts";
import type { StateSignature } from "#lib/states/compiler/arguments.ts";
import { declaredModules as modulesOfId, isReserved } from "#lib/states/compiler/high.ts";
import type { StateModules } from "#lib/states/compiler/order.ts";
import { listOrEmpty } from "#lib/values/shape.ts";
import { isMap, type Value, type ValueMap } from "#lib/values/value.ts";

/** The functions in high data, by state module. */
export type UsedStates = ReadonlyMap<string, ReadonlySet<string>>;

/** The functions of all IDs, and of their extensions. */
export function usedStates(high: ValueMap): UsedStates {
  const used = new Map<string, Set<string>>();
  const extensions = high.get("__extend__");
  const extended = listOrEmpty(extensions).flatMap((each) => isMap(each) ? [...each] : []);
  for (const [id, body] of [...high, ...extended]) if (!isReserved(id)) addUsed(used, body);
  return used;
}

function addUsed(used: Map<string, Set<string>>, body: Value): void {
  for (const [written, run] of modulesOfId(body)) {
    const [module, fun] = written.split(".", 2);
    const functions = used.get(module) ?? new Set();
    used.set(module, functions);
    if (fun !== undefined) functions.add(fun);
    for (const argument of listOrEmpty(run)) if (typeof argument === "string") functions.add(argument);
  }
}

/**
 * The state modules of a host.
 * @param used The modules that are needed.
 * @param checkArguments Whether functions that ignore unknown arguments are checked for the arguments that they read.
 * Otherwise they accept all.
 */
export async function stateModules(
  used: UsedStates,
  { states }: Catalogue,
  { checkArguments }: { readonly checkArguments: boolean },
): Promise<StateModules> {
  const signatures = new Map<string, StateSignature>();
  const watching = new Set<string>(), aggregating = new Set<string>();
  for (const [module, functions] of used) {
    const watch = await states.get(`${module}.mod_watch`);
    if (watch !== undefined) watching.add(module);
    if (await states.get(`${module}.mod_aggregate`) !== undefined) aggregating.add(module);
    for (const name of functions) {
      const fun = await states.get(`${module}.${name}`);
      if (fun === undefined) continue;
      const { params, keywords } = fun;
      signatures.set(`${module}.${name}`, {
        // A function with `watch` may have the arguments of `mod_watch`.
        parameters: [...Object.keys(params), ...keywords ?? [], ...Object.keys(watch?.params ?? {})],
        others: othersOf(fun, checkArguments),
      });
    }
  }
  return {
    watches: (module) => watching.has(module),
    aggregates: (module) => aggregating.has(module),
    signature: (fun) => signatures.get(fun),
  };
}

function othersOf(
  { varKwargs, keywords, passesKeywords }: ModuleFunction<StateContext>,
  checkArguments: boolean,
): StateSignature["others"] {
  if (varKwargs === undefined) return "refused";
  if (!checkArguments || passesKeywords === true) return "unchecked";
  return keywords === undefined ? "used" : "unused";
}
