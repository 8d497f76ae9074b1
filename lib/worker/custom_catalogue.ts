/**
 * The functions of this minion for code that may load only built-in modules: custom functions appear with their
 * descriptions, and are run in another process when they are called. Checks each field of the descriptions, which come
 * from a process of custom modules.
 * @module
 */

import { CommandError } from "../errors.ts";
import type { Catalogue, CatalogueEntry, JobContext } from "../plugins/job_context.ts";
import { isParameterType, type ModuleFunction, type Parameter } from "../plugins/module.ts";
import { compareStrings, isMap, map, str, toNumber, type Value, type ValueMap } from "../values/value.ts";

/** The custom modules, as seen by code that does not load them. */
export interface RemoteModules {
  /** Their names. */
  readonly names: ReadonlySet<string>;
  /** Those that do not serve this host, with the reason. */
  readonly refusals: ReadonlyMap<string, string>;
  /** The result of {@linkcode describeFunctions}. */
  describe(): Promise<Value>;
  /** Calls one of their functions. @returns Its outcome: a map with `return`, `retcode` and `success`. */
  call(fun: string, args: readonly Value[], kwargs: ValueMap): Promise<Value>;
}

/** The functions of `builtin` and of the custom modules. */
export function withCustomModules(builtin: Catalogue, remote: RemoteModules): Catalogue {
  if (remote.names.size === 0 && remote.refusals.size === 0) return builtin;
  let problems: ReadonlyMap<string, string> = new Map();
  return {
    get(name) {
      return remote.names.has(name.split(".", 1)[0])
        ? Promise.resolve(remoteFunction(name, remote))
        : builtin.get(name);
    },
    async all() {
      const [own, described] = await Promise.all([builtin.all(), remote.describe()]);
      const custom = parseDescriptions(described, remote);
      problems = custom.problems;
      return [...own, ...custom.functions].sort((a, b) => compareStrings(a.name, b.name));
    },
    problems: () => new Map([...builtin.problems(), ...problems]),
    refusals: () => new Map([...builtin.refusals(), ...remote.refusals]),
    providers: async () =>
      new Map([...await builtin.providers(), ...[...remote.names].map((name) => [name, name] as const)]),
    states: builtin.states,
  };
}

/** A function that passes its arguments on unchanged. */
function remoteFunction(name: string, remote: RemoteModules): ModuleFunction<JobContext> {
  return {
    doc: "",
    params: {},
    varArgs: "args",
    varKwargs: "kwargs",
    async run(_bound, context, { args, kwargs }) {
      const outcome = await remote.call(name, args, kwargs);
      const told = isMap(outcome) ? outcome : map({ return: "there is no outcome", success: false });
      const retcode = toNumber(told.get("retcode")) ?? 1;
      const thrown = told.get("error");
      if (isMap(thrown)) throw new CommandError(str(thrown.get("message") ?? ""));
      if (retcode !== 0) context.setRetcode(retcode);
      return told.get("return") ?? null;
    },
  };
}

/** Describes the functions that this process has loaded. */
export async function describeFunctions(catalogue: Catalogue): Promise<Value> {
  const functions = (await catalogue.all()).map(({ name, fun }) => {
    const { doc, params, varArgs = null, varKwargs = null, outputter = null } = fun;
    return { name, doc, params, varArgs, varKwargs, outputter };
  });
  return map({ functions, problems: catalogue.problems() });
}

interface Descriptions {
  readonly functions: CatalogueEntry[];
  readonly problems: ReadonlyMap<string, string>;
}

/** Skips invalid descriptions: the code of a custom module is not trusted. */
function parseDescriptions(value: Value, remote: RemoteModules): Descriptions {
  const told = isMap(value) ? value : new Map<Value, Value>();
  const [listed, problems] = [told.get("functions") ?? null, told.get("problems") ?? null];
  const functions = (Array.isArray(listed) ? listed : []).flatMap((one) => {
    const name = isMap(one) ? one.get("name") : undefined;
    if (!isMap(one) || typeof name !== "string" || !remote.names.has(name.split(".", 1)[0])) return [];
    return [{ name, fun: { ...description(one), run: remoteFunction(name, remote).run } }];
  });
  const texts = isMap(problems) ? [...problems].map(([module, why]) => [str(module), str(why)] as const) : [];
  return { functions, problems: new Map(texts) };
}

function description(told: ValueMap): Omit<ModuleFunction<JobContext>, "run"> {
  const text = (key: string) => {
    const given = told.get(key);
    return typeof given === "string" ? given : undefined;
  };
  const params = told.get("params") ?? null;
  return {
    doc: text("doc") ?? "",
    params: Object.fromEntries(isMap(params) ? [...params].flatMap(([name, one]) => parameter(str(name), one)) : []),
    ...text("varArgs") !== undefined && { varArgs: text("varArgs") },
    ...text("varKwargs") !== undefined && { varKwargs: text("varKwargs") },
    ...text("outputter") !== undefined && { outputter: text("outputter") },
  };
}

function parameter(name: string, told: Value): [string, Parameter][] {
  const type = isMap(told) ? told.get("type") : undefined;
  if (!isMap(told) || !isParameterType(type)) return [];
  const given = told.get("default");
  return [[name, given === undefined ? { type } : { type, default: given }]];
}
