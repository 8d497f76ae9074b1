/**
 * The program `salt-syndic`. It has the configuration of the master on this host, and of the minion its id, its keys
 * and its time limits.
 * Source: Salt 3007.15 `salt/config/__init__.py` syndic_config.
 * @module
 */

import { preflightApi } from "#lib/commands/daemons/preflight.ts";
import { runService } from "#lib/commands/daemons/service.ts";
import { SALT_SYNDIC } from "#lib/commands/daemons/service_options.ts";
import { type ConfigRequest, type LoadedConfig, loadMasterConfig, loadMinionConfig } from "#lib/config/load.ts";
import type { MasterOpts, MinionOpts } from "#lib/config/options.ts";
import { Syndic } from "./syndic.ts";

/** The options of the master, with the syndic's own log and pid file, and those of the minion. */
type SyndicOpts = MasterOpts & { readonly minion: MinionOpts };

function loadSyndicConfig(request: ConfigRequest = {}): LoadedConfig<SyndicOpts> {
  const { opts, warnings, steps } = loadMasterConfig(request);
  const { overrides = {}, ...same } = request;
  const { opts: minion, warnings: more } = loadMinionConfig({ ...same, cacheId: true });
  const own = {
    pidfile: overrides.pidfile === undefined ? opts.syndic_pidfile : opts.pidfile,
    log_file: overrides.log_file === undefined ? opts.syndic_log_file : opts.log_file,
  };
  return { opts: { ...opts, ...own, minion }, warnings: [...warnings, ...more], steps };
}

/**
 * Runs `salt-syndic` until it ends.
 * @returns The exit code.
 */
export async function runSaltSyndic(args: readonly string[]): Promise<number> {
  return await runService<SyndicOpts>({
    command: SALT_SYNDIC,
    role: "master",
    load: loadSyndicConfig,
    preflight: preflightApi,
    start: (opts, log) => Syndic.start(opts, opts.minion, log.named("salt.syndic")),
    umask: 0o077,
  }, args);
}
