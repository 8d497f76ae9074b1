/**
 * Execution module `bridge`: what is known of plugins in Python before they run. Not in Salt.
 * @module
 */

import { CommandError } from "#lib/errors.ts";
import { isDirectory } from "#lib/os/file_kind.ts";
import { describe } from "#lib/plugins/docs.ts";
import { fn, type JobContext } from "#lib/plugins/job_context.ts";
import type { ModuleFunction } from "#lib/plugins/module.ts";
import { checkPlugins, checkResult } from "#lib/python_bridge/zygote/check_plugins.ts";
import { str } from "#lib/values/value.ts";

export const check: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Say of each plugin in Python whether it loads on this host: what it imports that is missing, which names of Salt\n" +
      "are not part of the bridge, and which have moved. Nothing of the plugins is run. The return code is 1 unless all\n" +
      "load.\n\nArguments are absolute paths of files and directories. Default: the synced plugins of this minion, and\n" +
      "those in `module_dirs`.",
    "bridge.check",
    "bridge.check /srv/salt/_modules",
  ),
  permissions: "all",
  params: {},
  varArgs: "paths",
  async run(_bound, context, { args }) {
    const { extension_modules, module_dirs, cachedir, python, python_requirements } = context.opts;
    const given = args.map(str);
    const relative = given.find((path) => !path.startsWith("/"));
    if (relative !== undefined) throw new CommandError(`${relative} is no absolute path`);
    const paths = given.length > 0 ? given : [extension_modules, ...module_dirs].filter(isDirectory);
    const { result, works } = checkResult(
      await checkPlugins(paths, { cachedir, python, python_requirements, signal: context.signal }),
    );
    if (!works) context.setRetcode(1);
    return result;
  },
});
