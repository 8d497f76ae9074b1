/**
 * The built-in wheel modules, by name. Written as literal imports, so that `deno compile` finds them.
 * @module
 */

import type { ModuleTable } from "../../lib/plugins/loader.ts";

/** What `loadFamily` makes the family of wheel modules of. */
export const WHEEL: ModuleTable = {
  config: () => import("./config.ts"),
  error: () => import("./error.ts"),
  file_roots: () => import("./file_roots.ts"),
  key: () => import("./key.ts"),
  minions: () => import("./minions.ts"),
  pillar_roots: () => import("./pillar_roots.ts"),
};
