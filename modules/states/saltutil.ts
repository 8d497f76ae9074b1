/**
 * State module `saltutil`: modules that the minion fetches from its master.
 * Source: Salt 3008.3 `salt/states/saltutil.py`.
 * @module
 */

import { messageOf } from "#lib/errors.ts";
import type { StateContext } from "#lib/plugins/job_context.ts";
import { type ModuleFunction, p } from "#lib/plugins/module.ts";
import { failState, startResult, stateFn } from "#lib/plugins/state_module.ts";
import { isMap, map, truthy, type Value, type ValueMap } from "#lib/values/value.ts";

/** A state that runs one function, and reports what it fetched. */
function syncing(
  family: string,
  doc: string,
  describe: (status: Value) => { readonly changes: ValueMap; readonly comment: string },
): ModuleFunction<StateContext> {
  return stateFn({
    doc: `${doc}\n\nname\n    A text, unique in the run. Other arguments are those of saltutil.sync_${family}.`,
    params: { name: p.str() },
    varKwargs: "kwargs",
    run: async ({ name }, context, { kwargs }) => {
      const fun = `saltutil.sync_${family}`;
      if (context.test) return { ...startResult(name, null), comment: `${fun} would have been run` };
      try {
        const { changes, comment } = describe(await context.call(fun, [], kwargs));
        return { name, result: true, comment: changes.size > 0 ? comment : "No updates to sync", changes };
      } catch (error) {
        context.log("error", `Failed to run ${fun}: ${messageOf(error)}`);
        return failState(name, `Failed to run sync_${family}: ${messageOf(error)}`);
      }
    },
  });
}

function single(family: string): ModuleFunction<StateContext> {
  return syncing(family, `Fetch the master's modules of the family ${family}.`, (status) => ({
    changes: truthy(status) ? map({ [family]: status }) : new Map(),
    comment: `Updated ${family}.`,
  }));
}

export const sync_all: ModuleFunction<StateContext> = syncing(
  "all",
  "Fetch the master's modules of all families.",
  (status) => ({
    changes: new Map([...isMap(status) ? status : []].filter(([, names]) => truthy(names))),
    comment: "Sync performed",
  }),
);

export const sync_beacons: ModuleFunction<StateContext> = single("beacons");
export const sync_clouds: ModuleFunction<StateContext> = single("clouds");
export const sync_engines: ModuleFunction<StateContext> = single("engines");
export const sync_grains: ModuleFunction<StateContext> = single("grains");
export const sync_executors: ModuleFunction<StateContext> = single("executors");
export const sync_log_handlers: ModuleFunction<StateContext> = single("log_handlers");
export const sync_modules: ModuleFunction<StateContext> = single("modules");
export const sync_output: ModuleFunction<StateContext> = single("output");
export const sync_outputters: ModuleFunction<StateContext> = single("outputters");
export const sync_pillar: ModuleFunction<StateContext> = single("pillar");
export const sync_proxymodules: ModuleFunction<StateContext> = single("proxymodules");
export const sync_matchers: ModuleFunction<StateContext> = single("matchers");
export const sync_renderers: ModuleFunction<StateContext> = single("renderers");
export const sync_returners: ModuleFunction<StateContext> = single("returners");
export const sync_sdb: ModuleFunction<StateContext> = single("sdb");
export const sync_states: ModuleFunction<StateContext> = single("states");
export const sync_tops: ModuleFunction<StateContext> = single("tops");
export const sync_resources: ModuleFunction<StateContext> = single("resources");
export const sync_thorium: ModuleFunction<StateContext> = single("thorium");
export const sync_utils: ModuleFunction<StateContext> = single("utils");
export const sync_serializers: ModuleFunction<StateContext> = single("serializers");
export const sync_wrapper: ModuleFunction<StateContext> = single("wrapper");
