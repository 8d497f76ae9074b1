/**
 * Runner `bridge`: what is known of plugins in Python before they run. Not in Salt.
 * @module
 */

import { runner, runnerDoc, type RunnerFunction } from "#lib/client/runner_context.ts";
import { CommandError } from "#lib/errors.ts";
import { isDirectory } from "#lib/os/file_kind.ts";
import { PYTHON_FAMILIES } from "#lib/python_bridge/link/messages.ts";
import { checkPlugins, checkResult } from "#lib/python_bridge/zygote/check_plugins.ts";
import { listOrEmpty } from "#lib/values/shape.ts";
import { str } from "#lib/values/value.ts";

/** The directories of plugins in the roots of the file server. */
const FAMILIES = PYTHON_FAMILIES.map((family) => `_${family}`);

export const check: RunnerFunction = runner({
  doc: runnerDoc(
    "Say of each plugin in Python whether it loads: what it imports that is missing on the master's host, which names of\n" +
      "Salt are not part of the bridge, and which have moved. Nothing of the plugins is run. The exit code is 1 unless\n" +
      "all load.\n\nArguments are absolute paths of files and directories. Default: the plugins in `file_roots`, the\n" +
      "synced ones of the master, and those in `module_dirs`.",
    "bridge.check",
    "bridge.check /srv/salt/_modules",
  ),
  params: {},
  varArgs: "paths",
  async run(_bound, context, { args }) {
    const { extension_modules, module_dirs, file_roots, cachedir, python } = context.opts;
    const given = args.map(str);
    const relative = given.find((path) => !path.startsWith("/"));
    if (relative !== undefined) throw new CommandError(`${relative} is no absolute path`);
    const roots = [...file_roots.values()].flatMap((directories) => listOrEmpty(directories).map(str));
    const served = roots.flatMap((root) => FAMILIES.map((family) => `${root}/${family}`));
    const paths = given.length > 0 ? given : [...served, extension_modules, ...module_dirs].filter(isDirectory);
    const { result, works } = checkResult(await checkPlugins(paths, { cachedir, python, signal: context.signal }));
    if (!works) context.setRetcode(1);
    return result;
  },
});
