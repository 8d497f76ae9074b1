/**
 * The file server of an MWorker, which is loaded when the first minion asks for files.
 * @module
 */

import type { FileServices } from "./services.ts";
import type { BackendTable } from "#lib/plugins/file_backend.ts";
import type { Logger } from "#lib/runtime/log.ts";
import type { MasterOpts } from "#lib/config/options.ts";

/** What the file server of a thread needs besides the master's options. */
export interface FileServicesParts {
  readonly backends: BackendTable;
  readonly log: Logger;
}

/** The services of a thread for requests for files. */
export function openFileServices(opts: MasterOpts, parts: FileServicesParts): FileServices {
  let opened: Promise<FileServices> | undefined;
  const open = () => opened ??= load(opts, parts);
  return {
    answer: async (request) => await (await open()).answer(request),
    envs: async () => await (await open()).envs(),
  };
}

async function load(opts: MasterOpts, { backends, log }: FileServicesParts): Promise<FileServices> {
  const [{ FileServer }, { fileCommand }] = await Promise.all([
    import("#lib/files/server/file_server.ts"),
    import("#lib/files/server/file_commands.ts"),
  ]);
  const server = new FileServer(opts, { backends, log: (level, message) => log[level](message) });
  return {
    answer: async (request) => await fileCommand(server, request) ?? new Map(),
    envs: () => server.envs(),
  };
}
