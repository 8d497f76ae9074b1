/**
 * Runner `fileserver`: the files of the master's file server, its updates, and its caches. Source: the functions and
 * results of Salt 3008.3 `salt/runners/fileserver.py`.
 * @module
 */

import { runner, type RunnerContext, runnerDoc, type RunnerFunction } from "#lib/client/runner_context.ts";
import type { LockResult } from "#lib/plugins/file_backend.ts";
import { type FileListOptions, FileServer } from "#lib/files/server/file_server.ts";
import { changeLocks, clearCaches, clearFileLists, updateBackends } from "#lib/files/server/upkeep.ts";
import { p } from "#lib/plugins/module.ts";
import { splitInput } from "#lib/values/split_input.ts";
import { compareStrings, map, str, truthy, type Value } from "#lib/values/value.ts";
import { BACKENDS } from "#modules/fileserver/_built_in.ts";

const BACKEND = `

backend : None
    Only these backends, as a list or with commas: roots,gitfs. With a minus before each, all but these: -roots.`;
const SALTENV = `

saltenv : base
    The environment.`;

export const envs: RunnerFunction = runner({
  doc: runnerDoc(
    `List the environments of the file server.${BACKEND}

sources : False
    List the backends instead of the environments, as Salt does.`,
    "fileserver.envs",
    "fileserver.envs backend=roots,git",
  ),
  params: { backend: p.any(null), sources: p.any(false) },
  async run({ backend, sources }, context) {
    const server = serverOf(context);
    if (truthy(sources)) return [...(await server.envsByBackend(names(backend))).keys()].sort(compareStrings);
    return await server.envs(names(backend));
  },
});

/** A function that lists something of an environment. */
function listing(
  name: string,
  what: string,
  list: (server: FileServer, saltenv: string, options: FileListOptions) => Promise<Value>,
): RunnerFunction {
  return runner({
    doc: runnerDoc(
      `List the ${what} of an environment.${SALTENV}${BACKEND}`,
      `fileserver.${name}`,
      `fileserver.${name} saltenv=prod backend=roots`,
    ),
    params: { saltenv: p.any("base"), backend: p.any(null) },
    run: ({ saltenv, backend }, context) => list(serverOf(context), str(saltenv), { backend: names(backend) }),
  });
}

export const file_list: RunnerFunction = listing("file_list", "files", (server, ...args) => server.fileList(...args));
export const dir_list: RunnerFunction = listing(
  "dir_list",
  "directories",
  (server, ...args) => server.dirList(...args),
);
export const empty_dir_list: RunnerFunction = listing(
  "empty_dir_list",
  "empty directories",
  (server, ...args) => server.emptyDirs(...args),
);
export const symlink_list: RunnerFunction = listing(
  "symlink_list",
  "links, each with its text,",
  async (server, ...args) => new Map(await server.symlinkList(...args)),
);

export const clear_file_list_cache: RunnerFunction = runner({
  doc: runnerDoc(
    `Remove the cached file lists, so that the next request reads the disk. Returns the environments of each backend that had some.

saltenv : None
    Only of these environments, as a list or with commas.${BACKEND}`,
    "fileserver.clear_file_list_cache",
    "fileserver.clear_file_list_cache saltenv=base backend=roots",
  ),
  params: { saltenv: p.any(null), backend: p.any(null) },
  async run({ saltenv, backend }, context) {
    const saltenvs = saltenv === null ? undefined : splitInput(saltenv);
    const { cachedir } = context.opts;
    return new Map(await clearFileLists(serverOf(context), { cachedir, saltenvs, backend: names(backend) }));
  },
});

export const update: RunnerFunction = runner({
  doc: runnerDoc(
    `Update the backends: gitfs fetches its remotes.${BACKEND}

remotes : None
    Only these remotes of gitfs, by URL or name, as a list or with commas.`,
    "fileserver.update",
    "fileserver.update backend=git remotes=myrepo,yourrepo",
  ),
  params: { backend: p.any(null), remotes: p.any(null) },
  async run({ backend, remotes }, context) {
    const choice = {
      backend: names(backend),
      targets: remotes === null ? [] : splitInput(remotes),
      changes: context.opts.fileserver_events,
      signal: context.signal,
    };
    await updateBackends(serverOf(context), choice, {
      log: context.log,
      fire: async (tag, data) => void await context.fire(tag, data),
    });
    return true;
  },
});

export const clear_cache: RunnerFunction = runner({
  doc: runnerDoc(
    `Remove the caches of the backends: the repositories of gitfs.${BACKEND}`,
    "fileserver.clear_cache backend=git",
  ),
  params: { backend: p.any(null) },
  async run({ backend }, context) {
    return lockReport(await clearCaches(serverOf(context), names(backend)), "cleared", "No cache was cleared");
  },
});

const REMOTE = `${BACKEND}

remote : None
    Only remotes whose URL matches this glob.`;

export const clear_lock: RunnerFunction = runner({
  doc: runnerDoc(
    `Remove the update locks, also those of processes that were interrupted.${REMOTE}`,
    "fileserver.clear_lock",
    "fileserver.clear_lock backend=git remote='*github*'",
  ),
  params: { backend: p.any(null), remote: p.str(null) },
  async run({ backend, remote }, context) {
    const which = { backend: names(backend), pattern: remote ?? undefined };
    return lockReport(await changeLocks(serverOf(context), "clearLock", which), "cleared", "No locks were removed");
  },
});

export const lock: RunnerFunction = runner({
  doc: runnerDoc(
    `Lock the updates of gitfs, until clear_lock.${REMOTE}`,
    "fileserver.lock",
    "fileserver.lock remote='*github*'",
  ),
  params: { backend: p.any(null), remote: p.str(null) },
  async run({ backend, remote }, context) {
    const which = { backend: names(backend), pattern: remote ?? undefined };
    return lockReport(await changeLocks(serverOf(context), "lock", which), "locked", "No locks were set");
  },
});

function serverOf({ opts, log }: RunnerContext): FileServer {
  return new FileServer(opts, { log, backends: BACKENDS });
}

/** The names of backends, `git` and `minion` too. */
function names(backend: Value): string[] | undefined {
  if (!truthy(backend)) return undefined;
  return splitInput(backend).map((name) => name.replace(/^(-?)(git|minion)$/, "$1$2fs"));
}

/** The actions and errors; the text `nothing` if there are none. */
function lockReport({ done, errors }: LockResult, what: string, nothing: string): Value {
  if (done.length === 0 && errors.length === 0) return nothing;
  return map({ ...done.length > 0 ? { [what]: done } : {}, ...errors.length > 0 ? { errors } : {} });
}
