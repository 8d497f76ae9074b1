/**
 * What rosters of `salt-ssh` are read with: the master's own keys, data and mine, and its renderers.
 * @module
 */

import { DataCache } from "#lib/fleet/data_cache.ts";
import { changeNotes } from "#lib/config/master_paths.ts";
import { Mine } from "#lib/fleet/mine.ts";
import { pythonRosters } from "#lib/master/functions/python_rosters.ts";
import { KeyStore } from "#lib/keys/store.ts";
import type { MasterOpts } from "#lib/config/options.ts";
import { RosterError } from "#lib/errors.ts";
import type { RosterSources } from "#lib/ssh/rosters.ts";
import type { Logger } from "#lib/runtime/log.ts";
import { loadYaml } from "#lib/yaml/load.ts";
import { map, type Value } from "#lib/values/value.ts";

/** What is known on the master's host; without a master it is empty. */
export interface ControlStores {
  readonly keys: KeyStore;
  readonly data: DataCache;
  readonly mine: Mine;
}

/** Opens the stores of the master's directories. */
export function openStores(opts: MasterOpts, log: Logger): ControlStores {
  const warn = (text: string) => log.warning(text);
  return {
    keys: new KeyStore(opts.pki_dir),
    data: new DataCache(opts.cachedir, { log: warn, notes: changeNotes(opts) }),
    mine: new Mine(opts.cachedir, { maxBytes: opts.mine_max_bytes, log: warn, notes: changeNotes(opts) }),
  };
}

/** What rosters are read with. */
export function rosterSources(
  opts: MasterOpts,
  { keys, data, mine }: ControlStores,
  { log, signal, user }: { readonly log: Logger; readonly signal: AbortSignal; readonly user: string },
): RosterSources {
  return {
    opts,
    accepted: () => keys.list("accepted"),
    data,
    mine,
    home: Deno.env.get("HOME") ?? "/root",
    signal,
    warn: (text) => log.warning(text),
    own: pythonRosters({
      opts,
      log,
      signal,
      functions: {
        call: async (fun, args, kwargs) => {
          const { executeOnMaster } = await import("#lib/master/processes/master_execution.ts");
          return await executeOnMaster({ fun, args: [...args], kwargs }, { opts, log, signal, user });
        },
      },
    }),
    render: async (path) => {
      const text = Deno.readTextFileSync(path);
      if (isPlainYaml(text, opts.renderer)) return loadYaml(text, path);
      return await renderFile(path, { opts, log, signal, user });
    },
  };
}

/** Whether a roster has nothing for a renderer but YAML: then no renderer is loaded. */
function isPlainYaml(text: string, renderer: string): boolean {
  return ["jinja|yaml", "yaml"].includes(renderer) && !/^#!|\{[{%#]/.test(text);
}

async function renderFile(
  path: string,
  { opts, log, signal, user }: {
    readonly opts: MasterOpts;
    readonly log: Logger;
    readonly signal: AbortSignal;
    readonly user: string;
  },
): Promise<Value> {
  const { executeOnMaster } = await import("#lib/master/processes/master_execution.ts");
  const call = { fun: "slsutil.renderer", args: [], kwargs: map({ path, default_renderer: opts.renderer }) };
  try {
    return await executeOnMaster(call, { opts, log, signal, user });
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    signal.throwIfAborted();
    throw new RosterError(`${path}: ${error.message}`);
  }
}
