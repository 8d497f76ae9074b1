/**
 * The built-in wheel modules, by name. Written as literal imports, so that `deno compile` finds them.
 * @module
 */

import type { ModuleTable } from "#lib/plugins/loader.ts";

/** The table of built-in wheel modules. */
export const WHEEL: ModuleTable = {
  config: () => import("./config.ts"),
  error: () => import("./error.ts"),
  file_roots: () => import("./file_roots.ts"),
  key: () => import("./key.ts"),
  minions: () => import("./minions.ts"),
  pillar_roots: () => import("./pillar_roots.ts"),
};
