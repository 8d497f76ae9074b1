/**
 * A family of plugins with those in Python: runners, wheel modules, sources of pillar. A file in Python replaces the
 * built-in module of its name; one that takes the name of a built-in module in `__virtual__` adds to it, and wins.
 * @module
 */

import { moduleOfFunction } from "#lib/plugins/docs.ts";
import type { Family, FamilyEntry } from "#lib/plugins/loader.ts";
import type { FunctionSignature } from "#lib/plugins/call.ts";
import type { ModuleFunction } from "#lib/plugins/module.ts";
import { compareStrings, type Value, type ValueMap } from "#lib/values/value.ts";
import { MissingPlugin, type PythonAnswer } from "#lib/python_bridge/link/session.ts";
import type { PythonFamily } from "#lib/python_bridge/link/messages.ts";
import { ANY_ARGUMENTS } from "./any_arguments.ts";
import type { Descriptions } from "./descriptions.ts";
import type { PythonPlugins } from "./python_files.ts";
import { unbound } from "./unbound.ts";

/** A call of a plugin's function. */
export interface FamilyCall {
  readonly family: PythonFamily;
  readonly fun: string;
  readonly args: readonly Value[];
  readonly kwargs: ValueMap;
}

/** How the plugins of a family are reached. `C` is the context of the family's functions. */
export interface FamilyAccess<C> {
  readonly family: PythonFamily;
  readonly plugins: PythonPlugins;
  /** The documentation of a function; a {@linkcode MissingPlugin} if there is none. */
  find(family: PythonFamily, fun: string): Promise<string | null | MissingPlugin>;
  describe(family: PythonFamily): Promise<Descriptions>;
  call(call: FamilyCall, context: C): Promise<PythonAnswer>;
  /** Called with a return code that a plugin has set. */
  setRetcode?(retcode: number, context: C): void;
}

/** The functions of `builtin` and of the family's plugins in Python. */
export function withPythonFamily<C>(builtin: Family<C>, access: FamilyAccess<C>): Family<C> {
  const { family, plugins } = access;
  const files = new Set(Object.keys(plugins.files[family] ?? {}));
  const names = new Set(plugins.names[family] ?? []);
  if (files.size === 0) return builtin;
  const refused = new Map<string, string>(), broken = new Map<string, string>();
  let described: Promise<FamilyEntry<C>[]> | undefined;
  const own = () => described ??= describeAll(access, { refused, broken });
  return {
    async get(name) {
      const module = moduleOfFunction(name);
      if (!names.has(module)) {
        const other = await builtin.get(name);
        if (other !== undefined) return other;
      }
      const doc = await access.find(family, name);
      if (!(doc instanceof MissingPlugin)) {
        return calledInPython(name, access, { ...ANY_ARGUMENTS, doc: doc ?? "", docstring: doc });
      }
      if (doc.reason !== null) refused.set(module, doc.reason);
      return files.has(module) ? undefined : await builtin.get(name);
    },
    async all() {
      const [others, mine] = await Promise.all([builtin.all(), own()]);
      const taken = new Set(mine.map(({ name }) => name));
      const left = others.filter(({ name }) => !taken.has(name) && !files.has(moduleOfFunction(name)));
      return [...left, ...mine].sort((a, b) => compareStrings(a.name, b.name));
    },
    serves: async (module) =>
      !files.has(module) && await builtin.serves(module) ||
      (await own()).some(({ name }) => moduleOfFunction(name) === module),
    problems: () => new Map([...builtin.problems(), ...broken]),
    refusals: () => new Map([...builtin.refusals(), ...refused]),
    providers: async () => {
      const mine = (await own()).map(({ name }) => moduleOfFunction(name));
      return new Map([...await builtin.providers(), ...mine.map((name) => [name, name] as const)]);
    },
  };
}

async function describeAll<C>(
  access: FamilyAccess<C>,
  { refused, broken }: { readonly refused: Map<string, string>; readonly broken: Map<string, string> },
): Promise<FamilyEntry<C>[]> {
  const { functions, refusals, problems } = await access.describe(access.family);
  for (const [file, reason] of refusals) refused.set(file, reason);
  for (const [file, problem] of problems) broken.set(file, problem);
  return functions.map(({ name, signature }) => ({ name, fun: calledInPython(name, access, signature) }));
}

function calledInPython<C>(
  fun: string,
  access: FamilyAccess<C>,
  described: FunctionSignature,
): ModuleFunction<C> {
  return {
    permissions: "all",
    ...described,
    async run(bound, context, rest) {
      const given = unbound(described.params, bound, rest);
      const { value, retcode } = await access.call({ family: access.family, fun, ...given }, context);
      if (retcode !== 0) access.setRetcode?.(retcode, context);
      return value;
    },
  };
}
