/**
 * The file server of this host, for a minion without a master: the same commands as a master's.
 * Source: Salt 3008.3 `salt/fileserver/__init__.py` FSChan.
 * @module
 */

import { fileCommand } from "../fileserver/file_commands.ts";
import { FileServer } from "../fileserver/file_server.ts";
import type { BackendHost } from "../files/backend.ts";
import type { FileRequest } from "./server_calls.ts";
import type { MasterOpts, MinionOpts } from "../config/options.ts";
import { optsValues } from "../config/opts_map.ts";

/** Opens the file server of a node. */
export function openLocalServer(opts: MinionOpts | MasterOpts, host: BackendHost): FileRequest {
  const server = new FileServer(opts, host);
  return async (load) => {
    if (load.get("cmd") === "_master_opts") return optsValues(opts);
    return await fileCommand(server, load) ?? new Map();
  };
}
