/**
 * The rendering host of reactor files: execution functions on the master's host, its grains and options, and the files
 * of its own file server. Their pillar is empty, as in Salt.
 * @module
 */

import { masterAsMinion } from "#lib/config/load.ts";
import type { MasterOpts } from "#lib/config/options.ts";
import { optsValues } from "#lib/config/opts_map.ts";
import { fileClientOf } from "#lib/files/client/open.ts";
import type { RenderHost } from "#lib/plugins/renderer.ts";
import { loadGrains } from "#lib/minion/agent/grains.ts";
import { loadCatalogue, loadCoreGrains } from "#lib/minion/worker/catalogue.ts";
import { aloneWith } from "#lib/minion/worker/pillar_host.ts";
import type { JobContext } from "#lib/plugins/job_context.ts";
import { makeContext } from "#lib/plugins/job_scope.ts";
import { jobRenderHost } from "#lib/render/job_host.ts";
import type { Logger } from "#lib/runtime/log.ts";
import { map } from "#lib/values/value.ts";

/** Makes the host. */
export async function reactorRenderHost(
  opts: MasterOpts,
  { log, signal }: { readonly log: Logger; readonly signal: AbortSignal },
): Promise<RenderHost> {
  const minionOpts = masterAsMinion(opts);
  const warn = (text: string) => log.warning(text);
  const grains = await loadGrains(minionOpts, { core: await loadCoreGrains(), warn });
  const catalogue = loadCatalogue({
    extensionModules: opts.extension_modules,
    moduleDirs: opts.module_dirs,
    warn,
  });
  const context: JobContext = makeContext({
    opts: minionOpts,
    grains,
    pillar: new Map(),
    job: map({ fun: "reactor", jid: "", user: opts.user }),
    catalogue,
    ...aloneWith(grains),
    signal,
    log,
    child: () => {},
  });
  return {
    ...jobRenderHost(context, {
      cacheFile: (url, saltenv) => fileClientOf(context).cacheFile(url, saltenv),
    }),
    opts: optsValues(opts).set("__role", "master"),
  };
}
