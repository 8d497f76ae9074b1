/**
 * The built-in sources of `master_tops`, by name. Written as literal imports, so that `deno compile` finds them.
 * @module
 */

import type { ModuleTable } from "#lib/plugins/loader.ts";

/** What `loadFamily` makes the family of sources of. */
export const TOP_SOURCES: ModuleTable = {
  ext_nodes: () => import("./ext_nodes.ts"),
};

/** Salt's sources that are not here. */
export const TOPS_NOT_BUILT: ReadonlySet<string> = new Set([
  ...["cobbler", "mongo", "reclass", "saltclass", "varstack"],
]);
