/**
 * The built-in backends of the file server, by name. Written as literal imports, so that `deno compile` finds them.
 * @module
 */

import type { BackendTable } from "#lib/plugins/file_backend.ts";

/** What `fileserver_backend` chooses from. */
export const BACKENDS: BackendTable = {
  gitfs: () => import("./gitfs.ts"),
  minionfs: () => import("./minionfs.ts"),
  roots: () => import("./roots.ts"),
};
