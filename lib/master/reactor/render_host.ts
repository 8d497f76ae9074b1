/**
 * The rendering host of reactor files: execution functions on the master's host, its grains and options, and the files
 * of its own file server. Their pillar is empty, as in Salt.
 * @module
 */

import { masterAsMinion } from "#lib/config/load.ts";
import type { MasterOpts } from "#lib/config/options.ts";
import { UnavailableError } from "#lib/errors.ts";
import { masterPlugins } from "#lib/master/functions/python_plugins.ts";
import type { Catalogue } from "#lib/plugins/job_context.ts";
import type { PythonQuestion } from "#lib/python_bridge/link/session.ts";
import { withPythonPlugins } from "#lib/python_bridge/loader/python_catalogue.ts";
import { PILLAR_ANSWERS } from "#lib/python_bridge/loader/questions.ts";
import { PythonLease, SeparateCalls } from "#lib/python_bridge/loader/separate_calls.ts";
import { optsValues } from "#lib/config/opts_map.ts";
import { fileClientOf } from "#lib/files/client/open.ts";
import type { RenderHost } from "#lib/plugins/renderer.ts";
import { loadGrains } from "#lib/minion/agent/grains.ts";
import { loadCatalogue, loadCoreGrains } from "#lib/minion/catalogue/catalogue.ts";
import { aloneWith } from "#lib/minion/catalogue/pillar_host.ts";
import type { JobContext } from "#lib/plugins/job_context.ts";
import { makeContext } from "#lib/plugins/job_scope.ts";
import { jobRenderHost } from "#lib/render/job_host.ts";
import type { Logger } from "#lib/runtime/log.ts";
import { map, type ValueMap } from "#lib/values/value.ts";

/** Makes the host, and what starts Python for it. */
export async function reactorRenderHost(
  opts: MasterOpts,
  { log, signal }: { readonly log: Logger; readonly signal: AbortSignal },
): Promise<{ readonly host: RenderHost; readonly python: PythonLease }> {
  const minionOpts = masterAsMinion(opts);
  const warn = (text: string) => log.warning(text);
  const grains = await loadGrains(minionOpts, { core: await loadCoreGrains(), warn });
  const catalogue = loadCatalogue({
    extensionModules: opts.extension_modules,
    moduleDirs: opts.module_dirs,
    warn,
  });
  const python = new PythonLease(opts, { printed: log.info, keeps: true });
  const context: JobContext = makeContext({
    opts: minionOpts,
    grains,
    pillar: new Map(),
    job: map({ fun: "reactor", jid: "", user: opts.user }),
    catalogue: withPython(catalogue, opts, { log, lease: python, context: () => context }),
    ...aloneWith(grains),
    signal,
    log,
    child: () => {},
  });
  const host = {
    ...jobRenderHost(context, {
      cacheFile: (url, saltenv) => fileClientOf(context).cacheFile(url, saltenv),
    }),
    opts: masterValues(opts),
  };
  return { host, python };
}

/** The functions and renderers with those in Python. Python is started by the first file that needs it, and stays. */
function withPython(
  catalogue: Catalogue,
  opts: MasterOpts,
  { log, lease, context }: {
    readonly log: Logger;
    readonly lease: PythonLease;
    readonly context: () => JobContext;
  },
): Catalogue {
  const plugins = masterPlugins(opts, log.warning);
  const answers = () => {
    const answer = PILLAR_ANSWERS.answers();
    return (question: PythonQuestion, asking: JobContext): Promise<unknown> =>
      question.what === "opts" ? Promise.resolve(masterValues(opts)) : answer(question, asking);
  };
  const job = new SeparateCalls({ role: "master", plugins, log, context, answers, isHidden: () => false }, lease);
  const call = (fun: string) => Promise.reject(new UnavailableError(fun));
  return withPythonPlugins(catalogue, { plugins, job, call, warn: log.warning });
}

/** The options as files see them. */
function masterValues(opts: MasterOpts): ValueMap {
  return optsValues(opts).set("__role", "master");
}
