/**
 * State module `stateconf`: states that do nothing, which the renderer of that name reads and makes.
 * Source: Salt 3008.3 `salt/states/stateconf.py`.
 * @module
 */

import type { StateContext } from "#lib/plugins/job_context.ts";
import { type ModuleFunction, p } from "#lib/plugins/module.ts";
import { startResult, stateFn } from "#lib/plugins/state_module.ts";

function nothing(doc: string): ModuleFunction<StateContext> {
  return stateFn({
    doc: `${doc}\n\nname\n    A text, unique in the run.`,
    params: { name: p.any() },
    varKwargs: "kwargs",
    run: ({ name }) => startResult(name),
  });
}

export const set: ModuleFunction<StateContext> = nothing(
  "Do nothing: its arguments are variables of the file for the renderer `stateconf`.",
);

export const context: ModuleFunction<StateContext> = nothing("Do nothing, as `stateconf.set`.");
