/**
 * Custom state modules: `states/app.ts` below `extension_modules`, or `_states/app.ts` on the file server. Like custom
 * execution modules, they are loaded in separate processes, with the permissions that their files declare. The run of
 * states calls them by the names `states/app.installed`, and sends the data of the run that they need.
 * @module
 */

import { STATES_PREFIX } from "./catalogue.ts";
import { invoke } from "#lib/plugins/call.ts";
import { moduleOfFunction } from "#lib/plugins/docs.ts";
import type { JobContext, StateContext } from "#lib/plugins/job_context.ts";
import type { Functions } from "#lib/plugins/loader.ts";
import type { ModuleFunction } from "#lib/plugins/module.ts";
import { stateContext } from "#lib/states/run/state_context.ts";
import { mapOrEmpty } from "#lib/values/shape.ts";
import { compareStrings, map, truthy, type Value, type ValueMap } from "#lib/values/value.ts";

/** The keyword argument with the run's data for a state function: `test` and `low`. */
const RUN = "__run__";

/** The user's own state modules, as seen by code that does not load them. */
export interface RemoteStates {
  /** The names of all own modules. */
  readonly names: ReadonlySet<string>;
  /** Those that do not serve this host, with the reason. */
  readonly refusals: ReadonlyMap<string, string>;
  /** The descriptions of their functions; `run` passes its arguments on. */
  described(): Promise<readonly { readonly name: string; readonly fun: ModuleFunction<JobContext> }[]>;
  /** Those that failed to load, as far as they are described. */
  problems(): ReadonlyMap<string, string>;
  /** Calls one of their functions. */
  call(fun: string, kwargs: ValueMap): Promise<{ readonly result: Value }>;
}

/** The state functions of `builtin` and the user's own. An own module replaces a built-in one of its name. */
export function withCustomStates(builtin: Functions<StateContext>, remote: RemoteStates): Functions<StateContext> {
  const isOwn = (module: string) => remote.names.has(STATES_PREFIX + module);
  let listed: Promise<ReadonlyMap<string, ModuleFunction<StateContext>>> | undefined;
  const functions = () =>
    listed ??= remote.described().then((all) =>
      new Map(
        all.filter(({ name }) => name.startsWith(STATES_PREFIX)).map(({ name, fun }) => [
          name.slice(STATES_PREFIX.length),
          { ...fun, run: (bound, context, { kwargs }) => callState(name, { bound, kwargs, context }, remote) },
        ]),
      )
    );
  const ownRefusals = () =>
    [...remote.refusals].filter(([name]) => name.startsWith(STATES_PREFIX))
      .map(([name, why]) => [name.slice(STATES_PREFIX.length), why] as const);
  return {
    async get(name) {
      return isOwn(moduleOfFunction(name)) ? (await functions()).get(name) : await builtin.get(name);
    },
    async all() {
      const own = [...await functions()].map(([name, fun]) => ({ name, fun }));
      const others = (await builtin.all()).filter(({ name }) => !isOwn(moduleOfFunction(name)));
      return [...others, ...own].sort((a, b) => compareStrings(a.name, b.name));
    },
    serves: async (module) => isOwn(module) || await builtin.serves(module),
    problems: () => new Map([...builtin.problems(), ...remote.problems()]),
    refusals: () => new Map([...builtin.refusals(), ...ownRefusals()]),
  };
}

/** Calls a custom state function with its arguments, by name. */
async function callState(
  name: string,
  given: { bound: Readonly<Record<string, unknown>>; kwargs: ValueMap; context: StateContext },
  remote: RemoteStates,
): Promise<Value> {
  const { test, low } = given.context;
  const kwargs = new Map([...map(given.bound), ...given.kwargs, [RUN, map({ test, low })]]);
  return (await remote.call(name, kwargs)).result;
}

/**
 * In the process of an own state module: its function `states/app.installed` as one that a job can run.
 * @param states The state functions of this process.
 */
export async function calledState(
  name: string,
  states: Functions<StateContext>,
): Promise<ModuleFunction<JobContext> | undefined> {
  const fun = await states.get(name.slice(STATES_PREFIX.length));
  if (fun === undefined) return undefined;
  return {
    doc: fun.doc,
    params: {},
    varKwargs: "kwargs",
    permissions: fun.permissions,
    run: (_bound, job, { kwargs }) => {
      const run = kwargs.get(RUN);
      const own = [...kwargs].filter(([key]) => typeof key !== "string" || !(key === RUN || key.startsWith("__pub_")));
      const context = contextOf(job, mapOrEmpty(run), states);
      return invoke(fun, { name, args: [], kwargs: new Map(own), context });
    },
  };
}

/** The context of a state function in this process: it has nothing of the run's other states. */
function contextOf(job: JobContext, run: ValueMap, states: Functions<StateContext>): StateContext {
  const low = run.get("low");
  const chunk = mapOrEmpty(low);
  return stateContext(job, {
    test: truthy(run.get("test")),
    low: chunk,
    chunks: [chunk],
    running: new Map(),
    shared: new Map(),
    find: (name) => states.get(name),
  });
}
