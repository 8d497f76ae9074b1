/**
 * The built-in backends of the file server, by name. Written as literal imports, so that `deno compile` finds them.
 * @module
 */

import type { BackendName } from "#lib/files/backends/backend_names.ts";
import type { BackendHost, FileBackend, FileServerOpts } from "#lib/files/backends/backend.ts";

/** What a backend's file exports. */
export interface BackendModule {
  /** Opens it with the options of this master or minion; `undefined` if they leave it without a purpose. */
  open(opts: FileServerOpts, host: BackendHost): FileBackend | undefined;
}

/** What `fileserver_backend` chooses from. */
export const BACKENDS: Readonly<Record<BackendName, () => Promise<BackendModule>>> = {
  gitfs: () => import("./gitfs.ts"),
  minionfs: () => import("./minionfs.ts"),
  roots: () => import("./roots.ts"),
};
