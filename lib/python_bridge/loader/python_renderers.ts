/**
 * Renderers in Python: `#!py`, whose files have a function `run`, `#!pyobjects`, whose files make states, and a fleet's
 * own.
 * @module
 */

import { CommandError } from "#lib/errors.ts";
import type { JobContext } from "#lib/plugins/job_context.ts";
import type { Functions } from "#lib/plugins/loader.ts";
import type { ModuleFunction } from "#lib/plugins/module.ts";
import { traced } from "#lib/python_bridge/link/exceptions.ts";
import { EVENT_DATA } from "#lib/plugins/renderer.ts";
import { MissingPlugin } from "#lib/python_bridge/link/session.ts";
import { map, str, truthy, type ValueMap } from "#lib/values/value.ts";
import type { MinionPython } from "./questions.ts";
import type { PythonPlugins } from "./python_files.ts";

/** The functions of renderers, `upper.render`. */
export type RendererFunctions = Pick<Functions<JobContext>, "get">;

/** The renderers whose files are Python. */
const SLS_RENDERERS: readonly string[] = ["py", "pyobjects"];

/** The renderers of `builtin`, `py` and `pyobjects`, and those of the plugins in Python. */
export function withPythonRenderers(
  builtin: RendererFunctions | undefined,
  { plugins, job, compilesPillar = false }: {
    readonly plugins: PythonPlugins;
    readonly job?: MinionPython;
    readonly compilesPillar?: boolean;
  },
): RendererFunctions {
  const names = new Set(plugins.names.renderers ?? []);
  return {
    async get(name) {
      const module = name.split(".", 1)[0];
      const isOurs = SLS_RENDERERS.includes(module);
      if (!names.has(module) && !isOurs) return await builtin?.get(name);
      if (job === undefined) return rendererOf(() => Promise.reject(new CommandError(`${module} needs Python`)));
      if (isOurs && !names.has(module)) {
        const how = { renderer: module, job, pillar: !compilesPillar };
        return rendererOf((given, context) => renderPython(given, context, how));
      }
      if (await job.find("renderers", name) instanceof MissingPlugin) return await builtin?.get(name);
      return rendererOf(async (given, context) => {
        const call = { kind: "call", family: "renderers", fun: name, test: context.opts.test } as const;
        const fields = new Map([...given].map(([key, value]) => [str(key), value] as const));
        const [data, saltenv, sls, argline, tmplpath] = ["data", "saltenv", "sls", "argline", "tmplpath"].map((key) =>
          fields.get(key) ?? null
        );
        const kwargs = map({ tmplpath, ...truthy(argline) && { argline } });
        return (await job.request({ ...call, args: [data, saltenv, sls], kwargs }, context)).value;
      });
    },
  };
}

function rendererOf(run: (given: ValueMap, context: JobContext) => Promise<unknown>): ModuleFunction<JobContext> {
  return {
    doc: "",
    params: {},
    varKwargs: "kwargs",
    permissions: "all",
    run: async (_bound, context, { kwargs }) => {
      try {
        return await run(kwargs, context);
      } catch (error) {
        throw traced(error);
      }
    },
  };
}

/** Runs an SLS file in Python. As in Salt, `py` runs the file itself, whatever renderers come before. */
async function renderPython(
  given: ValueMap,
  context: JobContext,
  { renderer, job, pillar }: { readonly renderer: string; readonly job: MinionPython; readonly pillar: boolean },
): Promise<unknown> {
  const text = (name: string) => str(given.get(name) ?? "");
  const path = text("tmplpath");
  const name = path.slice(path.lastIndexOf("/") + 1).split(".", 1)[0];
  const { value } = await job.request({
    kind: "render",
    renderer,
    text: text("data"),
    path,
    name: name === "" ? "sls" : name,
    sls: text("sls"),
    saltenv: text("saltenv"),
    pillar,
    names: furtherNames(given),
  }, context);
  return value;
}

/** The names of the file besides those of every SLS file: the event of a reactor's file. */
function furtherNames(given: ValueMap): ValueMap {
  const names = [["tag", given.get("tag")], ["data", given.get(EVENT_DATA)]] as const;
  return new Map(names.flatMap(([name, value]) => value === undefined ? [] : [[name, value] as const]));
}
