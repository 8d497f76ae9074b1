/**
 * Custom modules that are fetched before states run: `autoload_dynamic_modules` of a highstate, `sync_mods` of named
 * files. Source: Salt 3008.3, `BaseHighState.load_dynamic` of `salt/state.py`, `sls` of `salt/modules/state.py`.
 * @module
 */

import type { JobContext } from "#lib/plugins/job_context.ts";
import { splitInput } from "#lib/values/split_input.ts";
import { isMap, map, truthy, type Value } from "#lib/values/value.ts";

/**
 * Fetches all kinds from the environments that a highstate uses.
 * @returns Whether custom grains were copied.
 */
export async function syncForHighstate(envs: readonly string[], context: JobContext): Promise<boolean> {
  if (!context.opts.autoload_dynamic_modules) return false;
  const synced = await context.call("saltutil.sync_all", [[...envs]], map({ refresh: false }));
  return isMap(synced) && truthy(synced.get("grains"));
}

/** Fetches the kinds that a call names. */
export async function syncNamed(kinds: Value, saltenv: string, context: JobContext): Promise<void> {
  if (!truthy(kinds)) return;
  const requested = kinds === true ? ["all"] : splitInput(kinds);
  for (const kind of requested.includes("all") ? ["all"] : requested) {
    const fun = `saltutil.sync_${kind}`;
    if (await context.catalogue.get(fun) === undefined) {
      context.log("warning", `Invalid custom module type '${kind}', ignoring`);
    } else await context.call(fun, [], map({ saltenv }));
  }
}
