/**
 * Compiles pillar on a master's host: for the master's pillar processes, and for the runner `pillar`.
 * @module
 */

import { loadCatalogue } from "#lib/minion/worker/catalogue.ts";
import type { Logger } from "#lib/runtime/log.ts";
import { masterAsMinion } from "#lib/config/load.ts";
import { mineRequests } from "./mine_answers.ts";
import type { MasterOpts } from "#lib/config/options.ts";
import { optsValues } from "#lib/config/opts_map.ts";
import { pillarHost } from "#lib/minion/worker/pillar_host.ts";
import type { PillarHost } from "#lib/pillar/host.ts";

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
    request: mineRequests(opts, log),
  });
}
