/**
 * Custom renderers: `renderers/upper.ts` below `extension_modules`, or `_renderers/upper.ts` on the file server. Each
 * exports one function `render`, which gets the result of the previous renderer and returns its own. On a minion it
 * runs in a separate process, with the permissions that its file declares, as own modules do; where pillar is compiled,
 * with the rights of the master.
 * @module
 */

import { messageOf, PluginError, RenderError } from "#lib/errors.ts";
import { invoke } from "#lib/plugins/call.ts";
import type { JobContext } from "#lib/plugins/job_context.ts";
import type { ModuleFunction } from "#lib/plugins/module.ts";
import { EVENT_DATA, type OwnRenderer } from "#lib/plugins/renderer.ts";
import { toValue, type Value, type ValueMap } from "#lib/values/value.ts";

/** The renderer `name` of the user, if there is one. */
export async function ownRenderer(name: string, context: JobContext): Promise<OwnRenderer | undefined> {
  const { renderers } = context.catalogue;
  // Most pipes are jinja and yaml, and most minions have no renderers of their own.
  if (renderers === undefined) return undefined;
  const fun = await renderers.get(`${name}.render`);
  if (fun === undefined) return undefined;
  return async ({ data, argline, sls, saltenv, path, context: variables, kwargs: more = new Map() }) => {
    const given = new Map<Value, Value>([
      ...[...more].map(([key, value]) => [key === "data" ? EVENT_DATA : key, value] as const),
      ["data", data],
      ["saltenv", saltenv],
      ["sls", sls ?? null],
      ["argline", argline],
      ["tmplpath", path ?? null],
      ...variables === undefined ? [] : [["context", variables] as const],
    ]);
    try {
      const kwargs = acceptedArguments(given, fun);
      return toValue(await invoke(fun, { name: `${name}.render`, args: [], kwargs, context }));
    } catch (error) {
      // A traceback says more, with the line of the file.
      if (error instanceof PluginError && error.kind === "SaltRenderError") throw new RenderError(error.message);
      if (error instanceof PluginError) {
        throw new RenderError(`${error.message}\n${error.trace}`, { isFailure: true }, { cause: error });
      }
      throw new RenderError(`The renderer ${name} failed: ${messageOf(error)}`, {}, { cause: error });
    }
  };
}

/** In the process of a custom renderer: adapts its function to the interface of renderers. */
export function calledRenderer(fun: ModuleFunction<JobContext> | undefined): ModuleFunction<JobContext> | undefined {
  if (fun === undefined) return undefined;
  return {
    doc: fun.doc,
    params: {},
    varKwargs: "kwargs",
    permissions: fun.permissions,
    run: (_bound, context, { kwargs }) => {
      const own = new Map([...kwargs].filter(([name]) => typeof name === "string" && !name.startsWith("__pub_")));
      return invoke(fun, { name: "render", args: [], kwargs: acceptedArguments(own, fun), context });
    },
  };
}

/** The arguments for which the renderer has parameters. */
function acceptedArguments(given: ValueMap, { params, varKwargs }: ModuleFunction<JobContext>): ValueMap {
  return varKwargs === undefined
    ? new Map([...given].filter(([name]) => typeof name === "string" && Object.hasOwn(params, name)))
    : given;
}
