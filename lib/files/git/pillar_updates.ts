/**
 * The repositories of pillar that a master keeps: opened from its options, and fetched.
 * Source: Salt 3008.3 `salt/daemons/masterapi.py` init_git_pillar, `salt/runners/git_pillar.py`.
 * @module
 */

import { messageOf, PreflightError } from "#lib/errors.ts";
import { listOrEmpty } from "#lib/values/shape.ts";
import { removeOldCommits } from "./commit_files.ts";
import { pillarRemoteLists, type PillarRemoteOptions, pillarRemotes } from "./pillar_remotes.ts";
import { type FetchResult, GitRemote } from "./remote.ts";
import { str, truthy, type Value, type ValueMap } from "#lib/values/value.ts";

/** The local repository of a remote whose branch or tag has pillar files. */
export type PillarRepository = GitRemote<PillarRemoteOptions>;

/**
 * Opens repositories, without reading anything.
 * @param opts The options of the node.
 */
export function openPillarRepositories(remotes: readonly PillarRemoteOptions[], opts: ValueMap): PillarRepository[] {
  const cacheRoot = `${str(opts.get("cachedir") ?? "")}/git_pillar`;
  const hashType = str(opts.get("hash_type") ?? "sha256");
  return remotes.map((options) => new GitRemote(options, { cacheRoot, hashType }));
}

/**
 * All repositories that `ext_pillar` names, each once.
 * @param warn Is told of what has no URL.
 * @throws {ConfigError} If one cannot be used.
 */
export function configuredPillarRepositories(
  opts: ValueMap,
  warn: (message: string) => void = () => {},
): PillarRepository[] {
  const read = pillarRemoteLists(extPillarOf(opts)).flatMap((remotes) => pillarRemotes(remotes, opts, warn));
  const unique = new Map(read.map((remote) => [remote.name ?? remote.id, remote]));
  return openPillarRepositories([...unique.values()], opts);
}

/**
 * Fetches a repository, and removes the files of unused commits.
 * @throws {StoreError} With git's error.
 */
export async function fetchPillarRepository(remote: PillarRepository, signal?: AbortSignal): Promise<FetchResult> {
  const result = await remote.fetch(signal);
  if (result === "changed") await removeOldCommits(remote.place, new Set((await remote.refs()).values()));
  return result;
}

/**
 * @throws {PreflightError} If a repository of `ext_pillar` cannot be used, unless `git_pillar_verify_config` is off.
 */
export function checkPillarRepositories(opts: ValueMap): void {
  if (!truthy(opts.get("git_pillar_verify_config") ?? true)) return;
  try {
    configuredPillarRepositories(opts);
  } catch (error) {
    throw new PreflightError(messageOf(error));
  }
}

function extPillarOf(opts: ValueMap): readonly Value[] {
  return listOrEmpty(opts.get("ext_pillar"));
}
