/**
 * The built-in execution modules, by name. Written as literal imports, so that `deno compile` finds them.
 * @module
 */

import type { ModuleTable, VirtualNames } from "../../lib/plugins/loader.ts";

/** One module in several files. */
async function joined(parts: readonly Promise<object>[]): Promise<object> {
  return Object.assign({}, ...await Promise.all(parts));
}

/** What `loadCatalogue` makes a minion's execution modules of. */
export const EXECUTION_MODULES: ModuleTable = {
  alternatives: () => import("./alternatives.ts"),
  archive: () => import("./archive.ts"),
  cmd: () => import("./cmd.ts"),
  config: () => import("./config.ts"),
  cp: () => import("./cp.ts"),
  data: () => import("./data.ts"),
  defaults: () => import("./defaults.ts"),
  environ: () => import("./environ.ts"),
  event: () => import("./event.ts"),
  file: () =>
    joined([
      import("./file.ts"),
      import("./_file_editing.ts"),
      import("./_file_managing.ts"),
      import("./_file_trees.ts"),
    ]),
  grains: () => import("./grains.ts"),
  hashutil: () => import("./hashutil.ts"),
  hosts: () => import("./hosts.ts"),
  ini: () => import("./ini.ts"),
  key: () => import("./key.ts"),
  match: () => import("./match.ts"),
  random: () => import("./random.ts"),
  publish: () => import("./publish.ts"),
  saltutil: () => import("./saltutil.ts"),
  ssh: () => import("./ssh.ts"),
  status: () => import("./status.ts"),
  sys: () => import("./sys.ts"),
  temp: () => import("./temp.ts"),
  test: () => import("./test.ts"),
};

/** The virtual names, each with the files that bear it, in the order in which they are asked whether they serve. */
export const VIRTUAL_NAMES: VirtualNames = {};
