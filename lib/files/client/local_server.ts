/**
 * The file server of this host, for a minion without a master and for the master's own runners: the same commands as a
 * master's. Source: Salt 3008.3 `salt/fileserver/__init__.py` FSChan.
 * @module
 */

import { fileCommand } from "#lib/files/server/file_commands.ts";
import { FileServer, type FileServerHost } from "#lib/files/server/file_server.ts";
import { updateBackends } from "#lib/files/server/upkeep.ts";
import type { SendFileCommand } from "./server_calls.ts";
import type { MasterOpts, MinionOpts } from "#lib/config/options.ts";
import { optsValues } from "#lib/config/opts_map.ts";

/** Opens the file server of a node, with its git repositories as they are now. */
export async function openLocalServer(
  opts: MinionOpts | MasterOpts,
  { log, backends, signal }: FileServerHost & { readonly signal: AbortSignal },
): Promise<SendFileCommand> {
  const server = new FileServer(opts, { log, backends });
  if (opts.fileserver_backend.some((name) => ["git", "gitfs"].includes(name))) {
    await updateBackends(server, { changes: false, signal }, { log, fire: () => Promise.resolve() });
  }
  return async (load) => {
    if (load.get("cmd") === "_master_opts") return optsValues(opts);
    return await fileCommand(server, load) ?? new Map();
  };
}
