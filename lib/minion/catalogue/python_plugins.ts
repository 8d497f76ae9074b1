/**
 * The plugins in Python of a minion: its directories and options say which.
 * @module
 */

import type { MinionOpts } from "#lib/config/options.ts";
import type { PythonFamily } from "#lib/python_bridge/link/messages.ts";
import { userFiles } from "#lib/plugins/loader.ts";
import { moduleDirectories } from "#lib/plugins/module_directories.ts";
import { allowedPlugins, findPythonPlugins, type PythonPlugins } from "#lib/python_bridge/loader/python_files.ts";

/** Finds them. */
export function pythonPlugins(opts: MinionOpts, warn: (message: string) => void): PythonPlugins {
  const { extension_modules: extensionModules, module_dirs: moduleDirs, python_plugins } = opts;
  const disabled: Partial<Record<PythonFamily, readonly string[]>> = {
    modules: opts.disable_modules,
    states: opts.disable_states,
    returners: opts.disable_returners,
  };
  const whitelists: typeof disabled = { modules: opts.whitelist_modules, states: opts.whitelist_state_modules };
  const directories = (family: PythonFamily) => moduleDirectories({ extensionModules, moduleDirs }, family);
  return findPythonPlugins({
    modules: directories("modules"),
    states: directories("states"),
    utils: directories("utils"),
    grains: [...opts.grains_dirs, ...directories("grains")],
    renderers: directories("renderers"),
    returners: directories("returners"),
    pillar: directories("pillar"),
    tops: directories("tops"),
    beacons: directories("beacons"),
    engines: [...directories("engines"), ...opts.engines_dirs],
    sdb: directories("sdb"),
    serializers: directories("serializers"),
    executors: directories("executors"),
    matchers: directories("matchers"),
  }, {
    allowed: allowedPlugins(python_plugins),
    isLoaded: (family, name, possible) => {
      const only = whitelists[family] ?? [];
      return !(disabled[family]?.includes(name) ?? false) &&
        (only.length === 0 || possible().some((one) => only.includes(one)));
    },
    others: (family) => new Set(directories(family).flatMap((directory) => [...userFiles(directory).keys()])),
    warn,
  });
}
