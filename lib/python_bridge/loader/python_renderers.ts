/**
 * Renderers in Python: `#!py`, whose files have a function `run`, `#!pyobjects` and `#!pydsl`, whose files make states,
 * `#!mako`, and a fleet's own.
 * @module
 */

import { CommandError } from "#lib/errors.ts";
import type { JobContext } from "#lib/plugins/job_context.ts";
import type { Functions } from "#lib/plugins/loader.ts";
import type { ModuleFunction } from "#lib/plugins/module.ts";
import { traced } from "#lib/python_bridge/link/exceptions.ts";
import { EVENT_DATA } from "#lib/plugins/renderer.ts";
import { SLS_RENDERERS, type SlsRenderer } from "#lib/python_bridge/link/messages.ts";
import { MissingPlugin } from "#lib/python_bridge/link/session.ts";
import { isMap, map, str, truthy, type Value, type ValueMap } from "#lib/values/value.ts";
import type { MinionPython } from "./questions.ts";
import type { PythonPlugins } from "./python_files.ts";

/** The functions of renderers, `upper.render`. */
export type RendererFunctions = Pick<Functions<JobContext>, "get">;

/** The renderers of `builtin`, Salt's own in Python, and those of the plugins in Python. */
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
      const ours = SLS_RENDERERS.find((one) => one === module);
      if (!names.has(module) && ours === undefined) return await builtin?.get(name);
      if (job === undefined) return rendererOf(() => Promise.reject(new CommandError(`${module} needs Python`)));
      if (ours !== undefined && !names.has(module)) {
        const how = { renderer: ours, job, pillar: !compilesPillar };
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

/** Runs an SLS file in Python, or renders a template. As in Salt, `py` runs the file whatever comes before it. */
async function renderPython(
  given: ValueMap,
  context: JobContext,
  { renderer, job, pillar }: {
    readonly renderer: SlsRenderer;
    readonly job: MinionPython;
    readonly pillar: boolean;
  },
): Promise<unknown> {
  const text = (name: string) => str(given.get(name) ?? "");
  const path = text("tmplpath"), sls = text("sls");
  const isTemplate = (given.get("sls") ?? null) === null;
  const name = path.slice(path.lastIndexOf("/") + 1).split(".", 1)[0];
  const { value } = await job.request({
    kind: "render",
    renderer,
    text: text("data"),
    path,
    name: name === "" ? "sls" : name,
    sls,
    saltenv: text("saltenv"),
    pillar,
    is_template: isTemplate,
    run: runOf(context),
    names: renderer === "mako" || isTemplate ? templateNames(given) : furtherNames(given),
  }, context);
  return value;
}

/** The numbers of compilations: the files of one have the same context. */
const RUNS = new WeakMap<JobContext, number>();
let lastRun = 0;

function runOf(context: JobContext): number {
  const run = RUNS.get(context) ?? ++lastRun;
  RUNS.set(context, run);
  return run;
}

/** The names of a template besides Salt's own. Those of its caller come last. */
function templateNames(given: ValueMap): ValueMap {
  const context = given.get("context") ?? null;
  return new Map<Value, Value>([...furtherNames(given), ...isMap(context) ? context : []]);
}

/** The names of the file besides those of every SLS file: the event of a reactor's file. */
function furtherNames(given: ValueMap): ValueMap {
  const names = [["tag", given.get("tag")], ["data", given.get(EVENT_DATA)]] as const;
  return new Map(names.flatMap(([name, value]) => value === undefined ? [] : [[name, value] as const]));
}
