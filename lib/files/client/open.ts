/**
 * The file client of a job: of its minion's master, or of this host's own file server with `file_client: local`.
 * @module
 */

import { type FileClientSettings, openFileClient } from "./client.ts";
import type { FileClient } from "./file_client.ts";
import type { SendFileCommand } from "./server_calls.ts";
import type { JobContext } from "#lib/plugins/job_context.ts";
import type { PermissionSet } from "#lib/plugins/permissions.ts";
import { isMap, type ValueMap } from "#lib/values/value.ts";

/**
 * Permissions of a function that fetches files into the cache. Files of a server without a master, and local ones, may
 * be anywhere.
 */
export const FILE_CLIENT: PermissionSet = {
  read: true,
  write: ["{cachedir}"],
  net: true,
  sys: ["uid", "gid", "umask"],
};
/** Permissions of a function that puts files anywhere. */
export const FILE_CLIENT_ANYWHERE: PermissionSet = { ...FILE_CLIENT, write: true };

/** The parts of a job that its file client is made of. */
export type ClientContext = Pick<JobContext, "opts" | "grains" | "catalogue" | "outside" | "signal" | "log">;

/** One for each job: contexts of calls within a job share its way to the outside. */
const clients = new WeakMap<JobContext["outside"], FileClient>();

/** The file client of a job. */
export function fileClientOf(context: ClientContext): FileClient {
  return clients.getOrInsertComputed(context.outside, () => openClient(context));
}

function openClient(context: ClientContext): FileClient {
  const { opts, grains, signal, log } = context;
  const isLocal = opts.file_client === "local";
  return openFileClient(
    {
      cachedir: opts.cachedir,
      hashType: opts.hash_type,
      id: opts.id ?? "",
      grains,
      ...isLocal && { masterTops: (given) => localTops(given, context) },
      ownServer: isLocal,
      request: fileRequests(context),
      signal,
      log: (level, message) => log(level, message),
    } satisfies FileClientSettings,
  );
}

/** Sends commands of the file server: to the job's master, or to this host's own file server. */
export function fileRequests(context: ClientContext): SendFileCommand {
  return context.opts.file_client === "local" ? localServer(context) : (load) => context.outside.request(load);
}

async function localTops(given: ValueMap, { opts: { master_tops }, outside }: ClientContext): Promise<ValueMap> {
  if (!isMap(master_tops) || master_tops.size === 0) return new Map();
  const saltenv = given.get("saltenv");
  return await outside.pillar({ tops: true, saltenv: typeof saltenv === "string" ? saltenv : null });
}

/** The files that a job has fetched from web servers so far, by request. */
const fetched = new WeakMap<JobContext["outside"], Map<string, string>>();

/** The copies that a job has made of files of web servers, by request: a job fetches each once, as in Salt. */
export function fetchedByJob({ outside }: Pick<JobContext, "outside">): Map<string, string> {
  return fetched.getOrInsertComputed(outside, () => new Map());
}

/** The file server of this host, which is loaded at the first request. */
function localServer({ opts, catalogue, signal, log }: ClientContext): SendFileCommand {
  const host = { log, signal, backends: catalogue.fileBackends };
  let server: Promise<SendFileCommand> | undefined;
  return async (load) => {
    server ??= import("./local_server.ts").then(({ openLocalServer }) => openLocalServer(opts, host));
    return await (await server)(load);
  };
}
