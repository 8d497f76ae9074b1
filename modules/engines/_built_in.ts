/**
 * The built-in engines, by name. Written as literal imports, so that `deno compile` finds them. The reactor is no
 * plugin: it is a part of the master.
 * @module
 */

import type { ModuleTable } from "#lib/plugins/loader.ts";

/** The table of built-in engines. */
export const ENGINES: ModuleTable = {
  script: () => import("./script.ts"),
  webhook: () => import("./webhook.ts"),
};

/** Salt's engines that are not here. */
export const ENGINES_NOT_BUILT: ReadonlySet<string> = new Set(["test", "thorium"]);
