/**
 * The functions of a minion with those of its plugins in Python. Whether a name is Python's is asked of the job's
 * process only for names that a file may take, and for names that nothing else has. Code that may not start processes
 * knows such functions by name only, and calls them through the minion.
 * @module
 */

import { moduleOfFunction } from "#lib/plugins/docs.ts";
import { type Catalogue, type JobContext, OWN_PROBLEMS } from "#lib/plugins/job_context.ts";
import type { FamilyEntry } from "#lib/plugins/loader.ts";
import type { ModuleFunction } from "#lib/plugins/module.ts";
import { MissingPlugin } from "#lib/python_bridge/link/session.ts";
import { compareStrings } from "#lib/values/value.ts";
import { calledInPython, elsewhere, outcomeOf, type PythonAccess } from "./python_calls.ts";
import { withPrefixedPlugins } from "./python_prefixed.ts";
import { type Descriptions, parseDescriptions } from "./descriptions.ts";
import { withPythonRenderers } from "./python_renderers.ts";
import { withPythonStates } from "./python_states.ts";
import { unbound } from "./unbound.ts";

/** The families whose functions a catalogue lists. */
const DESCRIBED = ["modules", "states", "returners"] as const;
type DescribedFamily = typeof DESCRIBED[number];

/** The prefix of the functions that describe the plugins of a family, each a job of its own. */
const DESCRIBE = "python/describe_";

/** The functions of `others` and of the plugins in Python, which win. */
export function withPythonPlugins(others: Catalogue, access: PythonAccess): Catalogue {
  const names = new Set(access.plugins.names.modules ?? []);
  const files = new Set(Object.keys(access.plugins.files.modules ?? {}));
  const builtin = withPrefixedPlugins(others, access);
  const states = withPythonStates(builtin.states, {
    plugins: access.plugins,
    job: access.job,
    describe: () => describe("states", access),
  });
  const renderers = withPythonRenderers(builtin.renderers, access);
  const returners = withReturners(builtin.returners, access);
  if (files.size === 0) {
    const get = async (name: string) => describing(name, access) ?? await builtin.get(name);
    const describes = states !== builtin.states || returners !== builtin.returners;
    return { ...builtin, ...describes && { get, states, returners }, renderers };
  }
  const python = new PythonModules(access);
  return {
    ...builtin,
    states,
    renderers,
    returners,
    async get(name) {
      const describes = describing(name, access);
      if (describes !== undefined) return describes;
      const module = moduleOfFunction(name);
      if (!names.has(module)) {
        const other = await builtin.get(name);
        if (other !== undefined) return other;
      }
      if (access.job === undefined) return elsewhere(name, access);
      const own = await python.find(name);
      if (own !== undefined || files.has(module)) return own;
      const other = await builtin.get(name);
      // A thread that cannot ask Python sends every job with such a name here.
      return other && { ...other, permissions: "all" };
    },
    async all() {
      const [others, own] = await Promise.all([builtin.all(), python.all()]);
      const taken = new Set(own.map(({ name }) => name));
      return [...others.filter(({ name }) => !taken.has(name)), ...own].sort((a, b) => compareStrings(a.name, b.name));
    },
    serves: async (module) =>
      await builtin.serves(module) || (await python.all()).some(({ name }) => moduleOfFunction(name) === module),
    problems: () => new Map([...builtin.problems()]),
    refusals: () => new Map([...builtin.refusals(), ...python.refusals]),
    providers: async () => {
      const own = (await python.all()).map(({ name }) => moduleOfFunction(name));
      return new Map([...await builtin.providers(), ...own.map((name) => [name, name] as const)]);
    },
  };
}

/** The returners, of which those in Python are listed; they are called as `returners/NAME.FUN`. */
function withReturners(builtin: Catalogue["returners"], access: PythonAccess): Catalogue["returners"] {
  if (builtin === undefined || access.plugins.files.returners === undefined) return builtin;
  let described: Promise<Descriptions> | undefined;
  return {
    ...builtin,
    async all() {
      const { functions } = await (described ??= describe("returners", access));
      const own = functions.map(({ name, signature }) => ({
        name,
        fun: { ...elsewhere(`returners/${name}`, access), ...signature },
      }));
      const taken = new Set(own.map(({ name }) => name));
      const others = (await builtin.all()).filter(({ name }) => !taken.has(name));
      return [...others, ...own].sort((a, b) => compareStrings(a.name, b.name));
    },
  };
}

/** The execution modules in Python. */
class PythonModules {
  readonly refusals = new Map<string, string>();
  readonly #access: PythonAccess;
  #described: Promise<Descriptions> | undefined;

  constructor(access: PythonAccess) {
    this.#access = access;
  }

  /** The function of this name, if Python has it. */
  async find(name: string): Promise<ModuleFunction<JobContext> | undefined> {
    const { job } = this.#access;
    const doc = await job?.find("modules", name);
    if (doc instanceof MissingPlugin) {
      if (doc.reason !== null) this.refusals.set(moduleOfFunction(name), doc.reason);
      return undefined;
    }
    return job && calledInPython({ family: "modules", fun: name }, job, { doc: doc ?? "", docstring: doc ?? null });
  }

  /** All functions; describes the plugins once. */
  async all(): Promise<FamilyEntry<JobContext>[]> {
    const { functions, refusals } = await (this.#described ??= describe("modules", this.#access));
    for (const [file, reason] of refusals) this.refusals.set(file, reason);
    return functions.map(({ name, signature }) => ({
      name,
      fun: {
        ...signature,
        permissions: "all",
        run: (bound, context, rest) => {
          const { args, kwargs } = unbound(signature.params, bound, rest);
          return elsewhere(name, this.#access).run({}, context, { args: [...args], kwargs });
        },
      },
    }));
  }
}

/** The function of this name that describes plugins, or says which do not load, as a job of its own. */
function describing(name: string, { job }: PythonAccess): ModuleFunction<JobContext> | undefined {
  if (name !== OWN_PROBLEMS && !name.startsWith(DESCRIBE)) return undefined;
  const family = DESCRIBED.find((one) => name === DESCRIBE + one) ?? "modules";
  const request = name === OWN_PROBLEMS ? { kind: "problems" } as const : { kind: "describe", family } as const;
  return {
    doc: "",
    params: {},
    permissions: "all",
    run: async (_bound, context) => {
      if (job === undefined) throw new Error("a thread without permissions describes no plugins");
      return (await job.request(request, context)).value;
    },
  };
}

/** Describes the plugins of a family, here or in a thread that may start processes. */
async function describe(family: DescribedFamily, access: PythonAccess): Promise<Descriptions> {
  const { job, warn } = access;
  const described = job === undefined
    ? parseDescriptions((await outcomeOf(DESCRIBE + family, [], new Map(), access)).result)
    : await job.describe(family);
  for (const problem of described.problems.values()) warn?.(`A plugin does not load: ${problem}`);
  return described;
}
