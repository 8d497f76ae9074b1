/**
 * Runner `saltutil`: an operator's own modules from the master's file server into the master's `extension_modules`.
 * Source: the functions and results of Salt 3008.3 `salt/runners/saltutil.py`.
 * @module
 */

import { runner, type RunnerContext, runnerDoc, type RunnerFunction } from "#lib/client/runner_context.ts";
import { openFileClient } from "#lib/files/client/client.ts";
import { syncLogged } from "#lib/files/client/extension_sync.ts";
import type { FileClient } from "#lib/files/client/file_client.ts";
import { openLocalServer } from "#lib/files/client/local_server.ts";
import { p } from "#lib/plugins/module.ts";
import { str, type Value } from "#lib/values/value.ts";
import { BACKENDS } from "#modules/fileserver/_built_in.ts";

const PARAMS = { saltenv: p.any("base"), extmod_whitelist: p.any(null), extmod_blacklist: p.any(null) };

const DOC =
  `Returned are the names of those that came or changed. Those that are not on the file server any more are removed (option
clean_dynamic_modules), and none that was put there by hand. Modules in Python come too, and are not loaded.

saltenv
    Environments of the file server, as a list or with commas.

extmod_whitelist, extmod_blacklist
    Names of the modules to sync, or to leave: a list, text with commas, or a map of families. Default: the options of these names.`;

interface Arguments {
  readonly saltenv: Value;
  readonly extmod_whitelist: Value;
  readonly extmod_blacklist: Value;
}

async function masterClient({ opts, signal, log }: RunnerContext): Promise<FileClient> {
  return openFileClient({
    cachedir: opts.cachedir,
    hashType: opts.hash_type,
    id: opts.id ?? "",
    request: await openLocalServer(opts, { log, signal, backends: BACKENDS }),
    signal,
    log: (level, message) => log(level, message),
  });
}

/** Syncs the family of a directory. What goes wrong is logged, as in Salt. */
async function syncOne(
  family: string,
  given: Arguments,
  context: RunnerContext,
  client: FileClient,
): Promise<string[]> {
  const { saltenv, ...names } = given;
  const saltenvs = Array.isArray(saltenv) ? saltenv.map(str) : str(saltenv).split(",");
  return await syncLogged(family, { saltenvs, ...names }, {
    opts: context.opts,
    client: () => client,
    signal: context.signal,
    log: (level, message) => context.log(level, message),
  });
}

function syncing(name: string, directory: string, what: string): RunnerFunction {
  return runner({
    doc: runnerDoc(`Sync ${what} from _${directory} on the master's file server.\n\n${DOC}`, `saltutil.sync_${name}`),
    params: PARAMS,
    run: async (given, context) => syncOne(directory, given, context, await masterClient(context)),
  });
}

export const sync_clouds: RunnerFunction = syncing("clouds", "clouds", "cloud modules");
export const sync_modules: RunnerFunction = syncing("modules", "modules", "execution modules");
export const sync_states: RunnerFunction = syncing("states", "states", "states");
export const sync_grains: RunnerFunction = syncing("grains", "grains", "grains");
export const sync_renderers: RunnerFunction = syncing("renderers", "renderers", "renderers");
export const sync_returners: RunnerFunction = syncing("returners", "returners", "returners");
export const sync_output: RunnerFunction = syncing("output", "output", "outputters");
export const sync_proxymodules: RunnerFunction = syncing("proxymodules", "proxy", "proxy modules");
export const sync_runners: RunnerFunction = syncing("runners", "runners", "runners");
export const sync_wheel: RunnerFunction = syncing("wheel", "wheel", "wheel modules");
export const sync_engines: RunnerFunction = syncing("engines", "engines", "engines");
export const sync_thorium: RunnerFunction = syncing("thorium", "thorium", "thorium modules");
export const sync_queues: RunnerFunction = syncing("queues", "queues", "queue modules");
export const sync_pillar: RunnerFunction = syncing("pillar", "pillar", "pillar modules");
export const sync_utils: RunnerFunction = syncing("utils", "utils", "utility modules");
export const sync_sdb: RunnerFunction = syncing("sdb", "sdb", "sdb modules");
export const sync_cache: RunnerFunction = syncing("cache", "cache", "cache modules");
export const sync_fileserver: RunnerFunction = syncing("fileserver", "fileserver", "file server backends");
export const sync_tops: RunnerFunction = syncing("tops", "tops", "master tops");
export const sync_eauth_tokens: RunnerFunction = syncing("eauth_tokens", "tokens", "token modules");
export const sync_serializers: RunnerFunction = syncing("serializers", "serializers", "serializers");
export const sync_executors: RunnerFunction = syncing("executors", "executors", "executors");
export const sync_wrapper: RunnerFunction = syncing("wrapper", "wrapper", "wrapper modules");
export const sync_roster: RunnerFunction = syncing("roster", "roster", "rosters");

/** The keys of `sync_all`, in Salt's order, with their directories. */
const ALL: readonly (readonly [key: string, directory: string])[] = [
  ["clouds", "clouds"],
  ["modules", "modules"],
  ["states", "states"],
  ["grains", "grains"],
  ["renderers", "renderers"],
  ["returners", "returners"],
  ["output", "output"],
  ["proxymodules", "proxy"],
  ["runners", "runners"],
  ["wheel", "wheel"],
  ["engines", "engines"],
  ["thorium", "thorium"],
  ["queues", "queues"],
  ["pillar", "pillar"],
  ["utils", "utils"],
  ["sdb", "sdb"],
  ["cache", "cache"],
  ["fileserver", "fileserver"],
  ["tops", "tops"],
  ["tokens", "tokens"],
  ["serializers", "serializers"],
  ["executors", "executors"],
  ["wrapper", "wrapper"],
  ["roster", "roster"],
];

export const sync_all: RunnerFunction = runner({
  doc: runnerDoc(`Sync the modules of all families: a map of lists.\n\n${DOC}`, "saltutil.sync_all"),
  params: PARAMS,
  async run(given, context) {
    const client = await masterClient(context);
    const changed = new Map<Value, Value>();
    for (const [key, directory] of ALL) changed.set(key, await syncOne(directory, given, context, client));
    return changed;
  },
});
