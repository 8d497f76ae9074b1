/**
 * The file server of an MWorker, which is loaded when the first minion asks for files.
 * @module
 */

import type { FileServices } from "./services.ts";
import type { Logger } from "#lib/runtime/log.ts";
import type { MasterOpts } from "#lib/config/options.ts";

/** The services of a thread for requests for files. */
export function openFileServices(opts: MasterOpts, log: Logger): FileServices {
  let opened: Promise<FileServices> | undefined;
  const open = () => opened ??= load(opts, log);
  return {
    answer: async (request) => await (await open()).answer(request),
    envs: async () => await (await open()).envs(),
  };
}

async function load(opts: MasterOpts, log: Logger): Promise<FileServices> {
  const [{ FileServer }, { fileCommand }] = await Promise.all([
    import("#lib/files/server/file_server.ts"),
    import("#lib/files/server/file_commands.ts"),
  ]);
  const server = new FileServer(opts, { log: (level, message) => log[level](message) });
  return {
    answer: async (request) => await fileCommand(server, request) ?? new Map(),
    envs: () => server.envs(),
  };
}
