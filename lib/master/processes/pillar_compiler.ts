/**
 * Compiles pillar on a master's host: for the master's pillar processes, and for the runner `pillar`.
 * @module
 */

import { loadCatalogue } from "#lib/minion/catalogue/catalogue.ts";
import { masterPlugins } from "#lib/master/functions/python_plugins.ts";
import { PythonLease } from "#lib/python_bridge/loader/separate_calls.ts";
import type { Logger } from "#lib/runtime/log.ts";
import { masterAsMinion } from "#lib/config/load.ts";
import { mineRequests } from "./mine_answers.ts";
import type { MasterOpts } from "#lib/config/options.ts";
import { optsValues } from "#lib/config/opts_map.ts";
import { pillarHost } from "#lib/minion/catalogue/pillar_host.ts";
import type { PillarHost } from "#lib/pillar/host.ts";

/**
 * The host of a master with these options.
 * @param lease What starts Python for plugins. Default: each call starts one.
 */
export function masterPillarHost(
  opts: MasterOpts,
  { log, signal, lease }: { readonly log: Logger; readonly signal: AbortSignal; readonly lease?: PythonLease },
): PillarHost {
  const minionOpts = masterAsMinion(opts);
  const plugins = masterPlugins(opts, log.warning);
  const catalogue = loadCatalogue({
    replaced: Object.keys(plugins.files.modules ?? {}),
    extensionModules: opts.extension_modules,
    moduleDirs: opts.module_dirs,
    warn: (text) => log.warning(text),
  });
  return pillarHost({
    opts,
    values: optsValues(opts).set("__role", "master"),
    minionOpts,
    catalogue,
    python: { plugins, log, lease: lease ?? new PythonLease(opts, { printed: log.info, keeps: false }) },
    sources: [...opts.module_dirs.map((directory) => `${directory}/pillar`), `${opts.extension_modules}/pillar`],
    tops: [...opts.module_dirs, opts.extension_modules].map((directory) => `${directory}/tops`),
    log,
    signal,
    request: mineRequests(opts, log),
  });
}
