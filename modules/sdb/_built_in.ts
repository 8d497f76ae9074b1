/**
 * The built-in drivers of sdb, by name. Written as literal imports, so that `deno compile` finds them.
 * @module
 */

import type { SdbDrivers } from "#lib/plugins/sdb_driver.ts";

/** The table of drivers. */
export const SDB_DRIVERS: SdbDrivers = {
  consul: () => import("./consul.ts"),
  env: () => import("./env.ts"),
  sqlite3: () => import("./sqlite3.ts"),
  vault: () => import("./vault.ts"),
  yaml: () => import("./yaml.ts"),
};
