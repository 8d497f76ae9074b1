/**
 * The built-in runners, by name. Written as literal imports, so that `deno compile` finds them.
 * @module
 */

import type { ModuleTable } from "./loader.ts";

/** What `loadFamily` makes the family of runners of. */
export const RUNNERS: ModuleTable = {
  bus: () => import("../runners/bus.ts"),
  doc: () => import("../runners/doc.ts"),
  jobs: () => import("../runners/jobs.ts"),
  manage: () => import("../runners/manage.ts"),
  test: () => import("../runners/test.ts"),
};
