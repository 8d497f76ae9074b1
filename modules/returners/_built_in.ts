/**
 * The built-in returners, by name. Written as literal imports, so that `deno compile` finds them.
 * @module
 */

import type { ModuleTable } from "#lib/plugins/loader.ts";

/** What `loadFamily` makes the family of returners of. */
export const RETURNERS: ModuleTable = {
  local: () => import("./local.ts"),
  mysql: () => import("./mysql.ts"),
  pgjsonb: () => import("./pgjsonb.ts"),
  postgres: () => import("./postgres.ts"),
  rawfile_json: () => import("./rawfile_json.ts"),
  redis: () => import("./redis.ts"),
  smtp: () => import("./smtp.ts"),
  sqlite3: () => import("./sqlite3.ts"),
  syslog: () => import("./syslog.ts"),
  webhook: () => import("./webhook.ts"),
};
