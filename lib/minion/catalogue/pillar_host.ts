/**
 * The environment for compiling pillar on a host: execution functions, renderers, sources of external pillar. For a
 * master, and for a minion that compiles its own.
 * @module
 */

import type { Catalogue, JobContext } from "#lib/plugins/job_context.ts";
import { changingReason, isPureFunction, readsOptions } from "#lib/pillar/pure_functions.ts";
import { loadFamily } from "#lib/plugins/loader.ts";
import type { Logger } from "#lib/runtime/log.ts";
import { makeContext } from "#lib/plugins/job_scope.ts";
import type { MinionOpts } from "#lib/config/options.ts";
import { NoMasterError, NoMinionError, RenderError, UnavailableError } from "#lib/errors.ts";
import { type PillarPython, withPythonPillars, withPythonTops } from "#lib/python_bridge/loader/python_pillar.ts";
import { withPythonPlugins } from "#lib/python_bridge/loader/python_catalogue.ts";
import { PILLAR_ANSWERS } from "#lib/python_bridge/loader/questions.ts";
import { SeparateCalls } from "#lib/python_bridge/loader/separate_calls.ts";
import type { PillarContext } from "#lib/plugins/pillar_source.ts";
import type { PillarHost, PillarOpts, PillarScope, PillarText } from "#lib/pillar/host.ts";
import { PILLAR_SOURCES, PILLARS_NOT_BUILT } from "#modules/pillar/_built_in.ts";
import { TOP_SOURCES, TOPS_NOT_BUILT } from "#modules/tops/_built_in.ts";
import type { TopContext } from "#lib/plugins/top_source.ts";
import type { RenderHost, SaltFunctions, TemplateFiles } from "#lib/plugins/renderer.ts";
import { renderSls } from "#lib/render/render.ts";
import { renderValue } from "#lib/render/render_value.ts";
import { jobRenderHost } from "#lib/render/job_host.ts";
import { map, type Value, type ValueMap } from "#lib/values/value.ts";

/** What the compiler needs from a node. */
export interface PillarHostParts {
  readonly opts: PillarOpts;
  /** All options as Salt's `__opts__`. */
  readonly values: ValueMap;
  /** The options that execution functions see. */
  readonly minionOpts: MinionOpts;
  readonly catalogue: Catalogue;
  /** Its plugins in Python. */
  readonly python: PillarPython;
  /** Directories of the user's own sources, lowest precedence first. */
  readonly sources: readonly string[];
  /** Those of the user's own sources of `master_tops`. */
  readonly tops?: readonly string[];
  readonly log: Logger;
  readonly signal: AbortSignal;
  /** Whether a directory is left out of lists of files. */
  ignores?(name: string): boolean;
  /** Answers requests of execution functions. Default: there is no master to ask. */
  request?(load: ValueMap): Promise<Value>;
}

/** Makes the compiler's host. */
export function pillarHost(parts: PillarHostParts): PillarHost {
  const { opts, values, log, signal, ignores, python, catalogue } = parts;
  const sources = loadFamily<PillarContext>(PILLAR_SOURCES, { directories: parts.sources, warn: log.warning });
  const tops = loadFamily<TopContext>(TOP_SOURCES, { directories: parts.tops ?? [], warn: log.warning });
  const writeLog: PillarHost["log"] = (level, message) => log.named("salt.pillar")[level](message);
  return {
    opts,
    values,
    signal,
    ignores,
    log: writeLog,
    sources: {
      ...withPythonPillars(sources, python, catalogue),
      table: PILLAR_SOURCES,
      notBuilt: PILLARS_NOT_BUILT,
    },
    tops: {
      ...withPythonTops(tops, python, catalogue),
      table: TOP_SOURCES,
      notBuilt: TOPS_NOT_BUILT,
    },
    async render(text, scope) {
      const reason = changingReason(text.text, text.renderer);
      if (reason !== undefined) scope.notes.changing(reason);
      try {
        const { data } = await renderSls(
          {
            text: text.text,
            path: text.path,
            sls: text.sls,
            saltenv: text.saltenv,
            ...text.renderer !== "" && { renderer: text.renderer },
            context: text.variables,
          },
          renderHost(parts, scope, text),
        );
        return data;
      } catch (error) {
        throw error instanceof RenderError ? new Error(error.text, { cause: error }) : error;
      }
    },
    decrypt: async (value, renderer, scope) => await renderValue(renderer, value, renderHost(parts, scope)),
    call: (name, args, kwargs, scope) => jobContext(parts, scope).call(name, [...args], kwargs),
  };
}

function renderHost(parts: PillarHostParts, scope: PillarScope, text?: PillarText): RenderHost {
  const { opts, grains, pillar } = scope;
  const files = filesOf(scope, text?.imports);
  const host = jobRenderHost(jobContext(parts, scope), files);
  return {
    opts: text?.options === undefined || text.options.size === 0 ? opts : new Map([...opts, ...text.options]),
    grains,
    pillar,
    salt: noting(host.salt, scope),
    builtInRenderers: host.builtInRenderers,
    async renderer(name) {
      const own = await host.renderer?.(name);
      if (own !== undefined) scope.notes.changing(`the renderer ${name}`);
      return own;
    },
    files,
    signal: parts.signal,
    log: (level, message) => parts.log.named("salt.pillar")[level](message),
  };
}

/** Files of the pillar's roots, or below a directory. */
function filesOf({ roots, notes }: PillarScope, directory: string | undefined): TemplateFiles {
  const notedPath = (path: string | undefined): string | undefined => {
    if (path === undefined) return undefined;
    notes.path(path);
    // A template that it imports may change each time as well.
    const reason = changingReason(Deno.readTextFileSync(path), "");
    if (reason !== undefined) notes.changing(reason);
    return path;
  };
  return {
    cacheFile(url, saltenv) {
      const path = url.replace(/^salt:\/\//, "");
      return notedPath(directory === undefined ? roots.find(path, saltenv) : roots.below(directory, path));
    },
  };
}

/** Functions whose use by a template is recorded. */
function noting(salt: SaltFunctions, { notes, opts }: PillarScope): SaltFunctions {
  return {
    ...salt,
    get(name) {
      if (!isPureFunction(name)) notes.changing(`the function ${name}`);
      else if (readsOptions(name)) opts.get("id");
      return salt.get(name);
    },
  };
}

/** The context of execution functions that a minion's pillar calls on this host. */
function jobContext(parts: PillarHostParts, scope: PillarScope): JobContext {
  const { minionOpts, log, signal } = parts;
  const { grains, pillar, opts } = scope;
  const id = opts.get("minion_id");
  const context: JobContext = makeContext({
    opts: typeof id === "string" ? { ...minionOpts, id } : minionOpts,
    grains,
    pillar,
    job: map({ fun: "pillar.items", jid: "", user: "root" }),
    catalogue: withPython(parts, () => context),
    ...aloneWith(grains, parts.request),
    signal,
    log,
    child: () => {},
    showsPillar: true,
  });
  return context;
}

/** The functions and renderers with those in Python: a call has a process of its own, and knows the pillar's minion. */
function withPython({ catalogue, python, log }: PillarHostParts, context: () => JobContext): Catalogue {
  const { plugins, lease } = python;
  const job = new SeparateCalls({ ...PILLAR_ANSWERS, plugins, log, context, isHidden: () => false }, lease);
  const call = (fun: string) => Promise.reject(new UnavailableError(fun));
  return withPythonPlugins(catalogue, { plugins, job, call, compilesPillar: true, warn: log.warning });
}

/**
 * What functions can reach while pillar is compiled: neither a master nor a running minion.
 * @param grains The minion's.
 * @param request Answers requests to the master.
 */
export function aloneWith(
  grains: ValueMap,
  request: (load: ValueMap) => Promise<Value> = noMaster,
): Pick<JobContext, "jobs" | "outside"> {
  return {
    jobs: { running: () => Promise.resolve([]), signal: () => Promise.resolve(false) },
    outside: {
      request,
      pillar: noMaster,
      grains: () => Promise.resolve(grains),
      fire: () => Promise.resolve(false),
      ask: () => Promise.reject(new NoMinionError("No minion can be asked while pillar is compiled")),
      refresh: () => Promise.resolve(false),
    },
  };
}

function noMaster(): Promise<never> {
  return Promise.reject(new NoMasterError("There is no master to ask while pillar is compiled"));
}
