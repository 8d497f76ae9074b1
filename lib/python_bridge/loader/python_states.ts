/**
 * State modules in Python, for the run of states. A file replaces the built-in module of its name.
 * @module
 */

import type { JobContext, StateContext } from "#lib/plugins/job_context.ts";
import type { Functions } from "#lib/plugins/loader.ts";
import type { ModuleFunction } from "#lib/plugins/module.ts";
import { traced } from "#lib/python_bridge/link/exceptions.ts";
import { compareStrings, map, type Value, type ValueMap } from "#lib/values/value.ts";
import type { Descriptions } from "./descriptions.ts";
import type { MinionPython } from "./questions.ts";
import type { PythonPlugins } from "./python_files.ts";

/** How state modules in Python are reached. */
export interface PythonStatesAccess {
  readonly plugins: PythonPlugins;
  /** The process of the current job; absent where none may be started. */
  readonly job?: MinionPython;
  /** Describes the functions. */
  describe(): Promise<Descriptions>;
}

/** The state functions of `builtin` and of the plugins in Python, which win. */
export function withPythonStates(
  builtin: Functions<StateContext>,
  access: PythonStatesAccess,
): Functions<StateContext> {
  const files = new Set(Object.keys(access.plugins.files.states ?? {}));
  const names = new Set(access.plugins.names.states ?? []);
  if (files.size === 0) return builtin;
  let described: Promise<Descriptions> | undefined;
  const descriptions = () => described ??= access.describe();
  const refusals = new Map<string, string>();
  const own = async () => {
    const { functions, refusals: refused } = await descriptions();
    for (const [file, reason] of refused) refusals.set(file, reason);
    return functions.map(({ name, signature }) => ({ name, fun: { ...signature, run: runOf(name, access) } }));
  };
  const find = async (name: string) => (await own()).find((one) => one.name === name)?.fun;
  return {
    async get(name) {
      const module = name.split(".", 1)[0];
      if (!names.has(module)) {
        const other = await builtin.get(name);
        if (other !== undefined) return other;
      }
      return await find(name) ?? (files.has(module) ? undefined : await builtin.get(name));
    },
    async all() {
      const [others, mine] = await Promise.all([builtin.all(), own()]);
      const taken = new Set(mine.map(({ name }) => name));
      const left = others.filter(({ name }) => !taken.has(name) && !files.has(name.split(".", 1)[0]));
      return [...left, ...mine].sort((a, b) => compareStrings(a.name, b.name));
    },
    serves: async (module) =>
      (await own()).some(({ name }) => name.startsWith(`${module}.`)) ||
      !files.has(module) && await builtin.serves(module),
    problems: () => builtin.problems(),
    moduleDocs: async () => (await descriptions()).docs,
    refusals: () => new Map([...builtin.refusals(), ...refusals]),
  };
}

function runOf(name: string, { job }: PythonStatesAccess): ModuleFunction<StateContext>["run"] {
  return async (bound, context, { args, kwargs }) => {
    if (job === undefined) throw new Error("a thread without permissions runs no states");
    const given = new Map<Value, Value>([...map(bound), ...kwargs]);
    const call = { kind: "call", family: "states", fun: name, args, kwargs: given } as const;
    try {
      const request = { ...call, test: context.test, globals: globalsOf(context) };
      return (await job.request(request, context satisfies JobContext)).value;
    } catch (error) {
      throw traced(error);
    }
  };
}

/** The names that a state module gets for one call. */
function globalsOf({ low, chunks, running }: StateContext): ValueMap {
  return map({
    __low__: low,
    __lowstate__: chunks,
    __running__: new Map(running),
    __env__: low.get("__env__") ?? "base",
    __instance_id__: "",
  });
}
