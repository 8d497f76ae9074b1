/**
 * The built-in state modules, by name. Written as literal imports, so that `deno compile` finds them.
 * @module
 */

import type { ModuleTable } from "../../lib/plugins/loader.ts";

/** What `loadCatalogue` makes a minion's state modules of. */
export const STATE_MODULES: ModuleTable = {
  test: () => import("./test.ts"),
};
