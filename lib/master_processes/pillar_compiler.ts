/**
 * Compiles pillar on a master's host: for the master's pillar processes, and for the runner `pillar`.
 * @module
 */

import { loadCatalogue } from "../worker/catalogue.ts";
import type { Logger } from "../process/log.ts";
import { masterAsMinion } from "../config/load.ts";
import type { MasterOpts } from "../config/options.ts";
import { optsValues } from "../config/opts_map.ts";
import { pillarHost } from "../worker/pillar_host.ts";
import type { PillarHost } from "../pillar/host.ts";

/** The host of a master with these options. */
export function masterPillarHost(
  opts: MasterOpts,
  { log, signal }: { readonly log: Logger; readonly signal: AbortSignal },
): PillarHost {
  const minionOpts = masterAsMinion(opts);
  const catalogue = loadCatalogue({
    extensionModules: opts.extension_modules,
    moduleDirs: opts.module_dirs,
    warn: (text) => log.warning(text),
  });
  return pillarHost({
    opts,
    values: optsValues(opts).set("__role", "master"),
    minionOpts,
    catalogue,
    sources: [...opts.module_dirs.map((directory) => `${directory}/pillar`), `${opts.extension_modules}/pillar`],
    tops: [...opts.module_dirs, opts.extension_modules].map((directory) => `${directory}/tops`),
    log,
    signal,
  });
}
