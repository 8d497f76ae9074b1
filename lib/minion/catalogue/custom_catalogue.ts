/**
 * The functions of this minion for code that may load only built-in modules: custom functions appear with their
 * descriptions, and are run in another process when they are called. Checks each field of the descriptions, which come
 * from a process of custom modules.
 * @module
 */

import { CommandError } from "#lib/errors.ts";
import type { Catalogue, JobContext } from "#lib/plugins/job_context.ts";
import { isExecutionName, RENDERERS_PREFIX, STATES_PREFIX } from "./catalogue.ts";
import { withCustomStates } from "./custom_states.ts";
import type { FamilyEntry } from "#lib/plugins/loader.ts";
import { isParameterType, type ModuleFunction, type Parameter } from "#lib/plugins/module.ts";
import { compareStrings, isMap, map, str, toNumber, type Value, type ValueMap } from "#lib/values/value.ts";

/** The custom modules, as seen by code that does not load them. */
export interface RemoteModules {
  readonly names: ReadonlySet<string>;
  /** Those that do not serve this host, with the reason. */
  readonly refusals: ReadonlyMap<string, string>;
  /** The result of {@linkcode describeFunctions}. */
  describe(): Promise<Value>;
  /**
   * Calls one of their functions.
   * @returns Its outcome: a map with `return`, `retcode` and `success`.
   */
  call(fun: string, args: readonly Value[], kwargs: ValueMap): Promise<Value>;
}

/** The functions of `builtin` and of the custom modules. */
export function withCustomModules(builtin: Catalogue, remote: RemoteModules): Catalogue {
  if (remote.names.size === 0 && remote.refusals.size === 0) return builtin;
  let problems: ReadonlyMap<string, string> = new Map();
  const described = async () => {
    const custom = parseDescriptions(await remote.describe(), remote);
    problems = custom.problems;
    return custom.functions;
  };
  return {
    get(name) {
      return remote.names.has(name.split(".", 1)[0])
        ? Promise.resolve(remoteFunction(name, remote))
        : builtin.get(name);
    },
    async all() {
      const [own, custom] = await Promise.all([builtin.all(), described()]);
      const execution = custom.filter(({ name }) => isExecutionName(name));
      return [...own, ...execution].sort((a, b) => compareStrings(a.name, b.name));
    },
    serves: async (module) => remote.names.has(module) || await builtin.serves(module),
    problems: () => new Map([...builtin.problems(), ...problems]),
    refusals: () => new Map([...builtin.refusals(), ...remote.refusals]),
    providers: async () =>
      new Map([...await builtin.providers(), ...own(remote.names).map((name) => [name, name] as const)]),
    states: withCustomStates(builtin.states, {
      names: remote.names,
      refusals: remote.refusals,
      described,
      problems: () => problems,
      call: (fun, kwargs) => callRemote(fun, { args: [], kwargs }, remote),
    }),
    returners: builtin.returners,
    ownModules: [...builtin.ownModules ?? [], ...remote.names],
    builtInRenderers: builtin.builtInRenderers,
    fileBackends: builtin.fileBackends,
    renderers: {
      get: (name) => {
        const own = RENDERERS_PREFIX + name;
        const isOwn = remote.names.has(own.split(".", 1)[0]);
        return isOwn ? Promise.resolve(remoteFunction(own, remote)) : Promise.resolve(builtin.renderers?.get(name));
      },
    },
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
      const { result, retcode } = await callRemote(name, { args, kwargs }, remote);
      if (retcode !== 0) context.setRetcode(retcode);
      return result;
    },
  };
}

/**
 * What a custom function returned, and its return code.
 * @throws {CommandError} With the text of what it threw.
 */
async function callRemote(
  name: string,
  { args, kwargs }: { readonly args: readonly Value[]; readonly kwargs: ValueMap },
  remote: RemoteModules,
): Promise<{ readonly result: Value; readonly retcode: number }> {
  const outcome = await remote.call(name, args, kwargs);
  const fields = isMap(outcome) ? outcome : map({ return: "there is no outcome", success: false });
  const thrown = fields.get("error");
  if (isMap(thrown)) throw new CommandError(str(thrown.get("message") ?? ""));
  return { result: fields.get("return") ?? null, retcode: toNumber(fields.get("retcode")) ?? 1 };
}

/** The names of execution modules among `names`. */
function own(names: ReadonlySet<string>): string[] {
  return [...names].filter(isExecutionName);
}

/** Describes the functions that this process has loaded. */
export async function describeFunctions(catalogue: Catalogue): Promise<Value> {
  const states = (await catalogue.states.all()).map(({ name, fun }) => ({ name: STATES_PREFIX + name, fun }));
  const functions = [...await catalogue.all(), ...states].map(({ name, fun }) => {
    const { doc, params, varArgs = null, keywordOnly = false, varKwargs = null, outputter = null } = fun;
    return { name, doc, params, varArgs, keywordOnly, varKwargs, outputter };
  });
  return map({ functions, problems: new Map([...catalogue.problems(), ...catalogue.states.problems()]) });
}

interface Descriptions {
  readonly functions: FamilyEntry<JobContext>[];
  readonly problems: ReadonlyMap<string, string>;
}

/** Skips invalid descriptions: the code of a custom module is not trusted. */
function parseDescriptions(value: Value, remote: RemoteModules): Descriptions {
  const fields = isMap(value) ? value : new Map<Value, Value>();
  const [listed, problems] = [fields.get("functions") ?? null, fields.get("problems") ?? null];
  const functions = (Array.isArray(listed) ? listed : []).flatMap((one) => {
    const name = isMap(one) ? one.get("name") : undefined;
    if (!isMap(one) || typeof name !== "string" || !remote.names.has(name.split(".", 1)[0])) return [];
    return [{ name, fun: { ...description(one), run: remoteFunction(name, remote).run } }];
  });
  const texts = isMap(problems) ? [...problems].map(([module, why]) => [str(module), str(why)] as const) : [];
  return { functions, problems: new Map(texts) };
}

function description(fields: ValueMap): Omit<ModuleFunction<JobContext>, "run"> {
  const text = (key: string) => {
    const given = fields.get(key);
    return typeof given === "string" ? given : undefined;
  };
  const params = fields.get("params") ?? null;
  return {
    doc: text("doc") ?? "",
    params: Object.fromEntries(isMap(params) ? [...params].flatMap(([name, one]) => parameter(str(name), one)) : []),
    ...text("varArgs") !== undefined && { varArgs: text("varArgs") },
    ...fields.get("keywordOnly") === true && { keywordOnly: true },
    ...text("varKwargs") !== undefined && { varKwargs: text("varKwargs") },
    ...text("outputter") !== undefined && { outputter: text("outputter") },
  };
}

function parameter(name: string, fields: Value): [string, Parameter][] {
  const type = isMap(fields) ? fields.get("type") : undefined;
  if (!isMap(fields) || !isParameterType(type)) return [];
  const given = fields.get("default");
  return [[name, given === undefined ? { type } : { type, default: given }]];
}
