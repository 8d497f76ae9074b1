/**
 * What a state function gets besides its arguments: the job that runs it, in the mode of the run, and the run.
 * Source: Salt 3008.3, `inject_globals`, `state_con` of `State.call` in `salt/state.py`.
 * @module
 */

import { InvocationError, UnavailableError } from "#lib/errors.ts";
import { invoke } from "#lib/plugins/call.ts";
import { callFunction } from "#lib/plugins/execution.ts";
import type { JobContext, StateContext } from "#lib/plugins/job_context.ts";
import type { ModuleFunction } from "#lib/plugins/module.ts";
import { isMap, str, truthy, typeName } from "#lib/values/value.ts";
import { stateArguments } from "./state_arguments.ts";

/** What a state module exports: a state, or one of `mod_watch`, `mod_init`, …. */
export type StateFunction = ModuleFunction<StateContext>;

/** The data of the run for a state, and the lookup of other state functions. */
export interface StateContextParts extends Pick<StateContext, "test" | "low" | "chunks" | "running" | "shared"> {
  /** The state function of that name, if there is one on this host. */
  find(name: string): Promise<StateFunction | undefined>;
  /** Gets the return codes that execution functions set. By default the job does. */
  readonly setRetcode?: (code: number) => void;
}

/** The context of the state `low`. Its argument `runas` is the user whom its commands run as. */
export function stateContext(
  job: JobContext,
  { find, setRetcode = job.setRetcode, test, low, chunks, running, shared }: StateContextParts,
): StateContext {
  const runas = low.get("runas");
  const context: StateContext = {
    ...job,
    opts: job.opts.test === test ? job.opts : { ...job.opts, test },
    ...truthy(runas) && runas !== undefined && { runas: str(runas) },
    test,
    low,
    chunks,
    running,
    shared,
    call: (name, args, kwargs) => callFunction(name, { args, kwargs, context }),
    setRetcode,
    // The run's own errors are shown, not those of a run that one of its states starts.
    setErrorDetails: undefined,
    async state(name, kwargs) {
      const fun = await find(name);
      if (fun === undefined) throw new UnavailableError(name);
      const result = await invoke(fun, { name, args: [], kwargs: stateArguments(fun, kwargs, new Set()), context });
      if (isMap(result)) return result;
      throw new InvocationError(`${name} returned a ${typeName(result)} instead of a dict`);
    },
  };
  return context;
}
