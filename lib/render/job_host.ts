/**
 * The host of renderings in a job: the functions, data and files of its minion.
 * @module
 */

import { optsValues } from "#lib/config/opts_map.ts";
import { ownRenderer } from "./own_renderer.ts";
import { bind } from "#lib/plugins/call.ts";
import { callFunction } from "#lib/plugins/execution.ts";
import type { JobContext } from "#lib/plugins/job_context.ts";
import type { ModuleFunction } from "#lib/plugins/module.ts";
import type { RenderHost, SaltFunction, SaltFunctions, TemplateFiles } from "#lib/plugins/renderer.ts";
import { toValue } from "#lib/values/value.ts";

/**
 * Calls `fun` at once: one that does not wait gives its result without a promise, so that the template does not wait
 * either.
 */
function direct(name: string, fun: ModuleFunction<JobContext>, context: JobContext): SaltFunction {
  return (args, kwargs) => {
    const { bound, rest } = bind(fun, args, kwargs, name);
    const result: unknown = fun.run(bound, context, rest);
    return result instanceof Promise ? result.then(toValue) : toValue(result);
  };
}

/** The functions of a minion's catalogue, for templates. */
function saltFunctionsOf(context: JobContext): SaltFunctions {
  const functions = new Map<string, SaltFunction>();
  return {
    get(name) {
      const value = functions.get(name);
      if (value !== undefined) return value;
      return context.catalogue.get(name).then((fun) => {
        if (fun === undefined) return undefined;
        const made = direct(name, fun, context);
        functions.set(name, made);
        return made;
      });
    },
    serves: (module) => context.catalogue.serves(module),
    names: async () => (await context.catalogue.all()).map(({ name }) => name),
  };
}

/** Salt masks pillar for operators, not for templates, nor for the functions that those call call. */
function showingPillar(context: JobContext): JobContext {
  const own: JobContext = {
    ...context,
    showsPillar: true,
    call: (name, args, kwargs) => callFunction(name, { args, kwargs, context: own }),
  };
  return own;
}

/** The rendering host for the job of `context`. */
export function jobRenderHost(context: JobContext, files: TemplateFiles): RenderHost {
  const own = showingPillar(context);
  return {
    opts: optsValues(context.opts),
    grains: context.grains,
    pillar: context.pillar,
    salt: saltFunctionsOf(own),
    files,
    builtInRenderers: context.catalogue.builtInRenderers,
    renderer: (name) => ownRenderer(name, own),
    signal: context.signal,
    log: (level, message) => context.log(level, message),
  };
}
