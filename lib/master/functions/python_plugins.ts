/**
 * The plugins in Python of a master: its directories and options say which.
 * @module
 */

import type { MasterOpts } from "#lib/config/options.ts";
import { userFiles } from "#lib/plugins/loader.ts";
import { moduleDirectories } from "#lib/plugins/module_directories.ts";
import type { PythonFamily } from "#lib/python_bridge/link/messages.ts";
import { allowedPlugins, findPythonPlugins, type PythonPlugins } from "#lib/python_bridge/loader/python_files.ts";

/** The families of a master, with the option that names more directories of it. */
const FAMILIES: readonly PythonFamily[] = [
  ...["runners", "wheel", "pillar", "tops", "returners"] as const,
  ...["auth", "roster"] as const,
  ...["utils", "modules", "renderers"] as const,
];

/** Finds them. */
export function masterPlugins(opts: MasterOpts, warn: (message: string) => void): PythonPlugins {
  const directories = Object.fromEntries(FAMILIES.map((family) => [family, directoriesOf(family, opts)]));
  const disabled: Partial<Record<PythonFamily, readonly string[]>> = {
    runners: opts.disable_runners,
    returners: opts.disable_returners,
  };
  return findPythonPlugins(directories, {
    allowed: allowedPlugins(opts.python_plugins),
    isLoaded: (family, name) => !(disabled[family]?.includes(name) ?? false),
    others: (family) => new Set((directories[family] ?? []).flatMap((directory) => [...userFiles(directory).keys()])),
    warn,
  });
}

function directoriesOf(family: PythonFamily, opts: MasterOpts): string[] {
  const places = { extensionModules: opts.extension_modules, moduleDirs: opts.module_dirs };
  return [...moduleDirectories(places, family), ...family === "runners" ? opts.runner_dirs : []];
}
