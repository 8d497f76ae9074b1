/**
 * Pillar of git repositories: the pillar files of a branch or tag, with a top file of their own. On a master the
 * repositories are fetched at their intervals; a host that compiles its own pillar fetches them each time. Source: Salt
 * 3008.3 `salt/pillar/git_pillar.py`, `salt/utils/gitfs.py` GitPillar.
 * @module
 */

import { ConfigError, messageOf } from "#lib/errors.ts";
import { commitFiles, mountedDirectory } from "#lib/files/git/commit_files.ts";
import { ANY_ENV } from "#lib/files/backends/env_directories.ts";
import { type PillarRemoteOptions, pillarRemotes } from "#lib/files/git/pillar_remotes.ts";
import { fetchPillarRepository, openPillarRepositories, type PillarRepository } from "#lib/files/git/pillar_updates.ts";
import { isDirectory } from "#lib/os/file_kind.ts";
import { setTimeout } from "#lib/os/timers.ts";
import { type PillarContext, pillarSource } from "#lib/plugins/pillar_source.ts";
import { hideCredentials } from "#lib/text/url_credentials.ts";
import { mergeMaps } from "#lib/values/dict_merge.ts";
import { str, truthy, type Value, type ValueMap } from "#lib/values/value.ts";

export const ext_pillar = pillarSource({
  doc: `Merge the pillar of git repositories.

repos
    A branch or tag and a URL for each: \`main https://git.example.org/pillar.git\`; or a map of that to a list of options: name, root,
    mountpoint, env, base, fallback, all_saltenvs, and those of access. The branch \`__env__\` stands for the requested environment.`,
  params: {},
  varArgs: "repos",
  async run(_bound, context, { args: repos }) {
    const { opts } = context;
    const directories = await pillarDirectories(remotesOf(repos, context), context);
    const strategy = str(opts.get("pillar_source_merging_strategy") ?? "smart");
    const merging = { strategy, renderer: "yaml", mergeLists: truthy(opts.get("pillar_merge_lists")) };
    const includes = truthy(opts.get("git_pillar_includes") ?? true);
    let merged: ValueMap = new Map();
    for (const [path, { env, mounted }] of directories) {
      const saltenv = env === ANY_ENV ? requestedEnv(opts) ?? str(opts.get("git_pillar_base") ?? "master") : env;
      const pillarenv = opts.get("pillarenv");
      if (mounted || (truthy(pillarenv) && pillarenv !== saltenv)) continue;
      const others = [...directories].filter(([other, of]) => other !== path && of.env === saltenv).map(([other]) =>
        other
      );
      const pillar = await context.compile({ saltenv, roots: [path, ...includes ? others : []] });
      merged = mergeMaps(merged, pillar, merging);
    }
    return merged;
  },
});

/**
 * The repositories.
 * @throws {Error} With Salt's words, for the minion; what is wrong is logged, since it may show a password.
 */
function remotesOf(repos: readonly Value[], { opts, log }: PillarContext): PillarRemoteOptions[] {
  try {
    return pillarRemotes(repos, opts, (message) => log("warning", message));
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    log("error", error.message);
    throw new Error("Failed to load git_pillar", { cause: error });
  }
}

/** Where files of a repository are, and in which environment. */
interface PillarDirectory {
  readonly env: string;
  /** Whether they only complete the files of other repositories. */
  readonly mounted: boolean;
}

async function pillarDirectories(
  remotes: readonly PillarRemoteOptions[],
  context: PillarContext,
): Promise<Map<string, PillarDirectory>> {
  const { opts } = context;
  const repositories = openPillarRepositories(remotes, opts);
  if (opts.get("__role") === "minion") await Promise.all(repositories.map((remote) => fetchRemote(remote, context)));
  const directories = new Map<string, PillarDirectory>();
  for (const remote of repositories) {
    const { mountPoint } = remote.options;
    const path = await filesOf(remote, context);
    if (path === undefined) continue;
    const mounted = mountPoint !== "";
    const place = mounted ? await mountedDirectory(path, mountPoint, remote.place.directory) : path;
    directories.set(place, { env: envOf(remote.options, opts), mounted });
  }
  return directories;
}

/**
 * The directory with the files of a repository; `undefined` if it has no such branch.
 * @throws {Error} If it cannot be asked whether there is one: a pillar without these files would not be whole.
 */
async function filesOf(remote: PillarRepository, context: PillarContext): Promise<string | undefined> {
  const { options } = remote;
  const target = checkoutTarget(options, context.opts);
  context.notes.path(remote.refsFile);
  let commit = await commitOf(remote, target);
  if (commit === undefined) {
    if (!await fetchRemote(remote, context)) {
      throw new Error(`a repository with the branch ${target} cannot be fetched: see the master's log`);
    }
    commit = await commitOf(remote, target);
  }
  if (commit === undefined) {
    context.log(
      "error",
      `Failed to checkout ${target} from git_pillar remote '${hideCredentials(options.id)}': remote ref does not exist`,
    );
    return undefined;
  }
  const files = await commitFiles(commit, remote.place);
  const path = options.root === "" ? files : `${files}/${options.root}`;
  if (isDirectory(path)) return path;
  context.log(
    "error",
    `Root path '${options.root}' not present in git_pillar remote '${hideCredentials(options.id)}', skipping.`,
  );
  return undefined;
}

async function commitOf(remote: PillarRepository, target: string): Promise<string | undefined> {
  const refs = await remote.refs();
  const findRevision = (name: string) => refs.get(`refs/remotes/origin/${name}`) ?? refs.get(`refs/tags/${name}`);
  const { fallback } = remote.options;
  return findRevision(target) ?? (fallback === "" ? undefined : findRevision(fallback));
}

/** How long another process that fetches the same repository is waited for, in milliseconds. */
const LOCKED_MS = 5_000, PAUSE_MS = 100;

/**
 * Fetches.
 * @returns Whether git could; a failure is logged.
 */
async function fetchRemote(remote: PillarRepository, { signal, log }: PillarContext): Promise<boolean> {
  const { id } = remote.options;
  try {
    const end = Date.now() + LOCKED_MS;
    while (await fetchPillarRepository(remote, signal) === "locked") {
      if (Date.now() > end) {
        log(
          "error",
          `Timed out waiting for update lock to be released for git_pillar remote '${id}'. If this error persists, run ` +
            "'salt-run cache.clear_git_lock git_pillar type=update' to clear it.",
        );
        return true;
      }
      await new Promise<void>((resolve) => setTimeout(resolve, PAUSE_MS));
    }
    return true;
  } catch (error) {
    log("error", `The git_pillar remote '${id}' cannot be updated: ${messageOf(error)}`);
    return false;
  }
}

function requestedEnv(opts: ValueMap): string | undefined {
  const requested: Value | undefined = [opts.get("pillarenv"), opts.get("saltenv")].find((env) =>
    env !== undefined && truthy(env)
  );
  return requested === undefined ? undefined : str(requested);
}

/** The branch or tag that is taken. */
function checkoutTarget({ branch, base, allSaltenvs }: PillarRemoteOptions, opts: ValueMap): string {
  if (branch !== ANY_ENV) return branch;
  if (allSaltenvs !== undefined) return allSaltenvs;
  const requested = requestedEnv(opts) ?? "base";
  return requested === "base" ? base : requested;
}

/** The pillar environment of a repository's files. */
function envOf(options: PillarRemoteOptions, opts: ValueMap): string {
  const { branch, base, env, allSaltenvs } = options;
  if (branch === ANY_ENV && allSaltenvs !== undefined) return requestedEnv(opts) ?? "base";
  if (env !== "") return env;
  const target = checkoutTarget(options, opts);
  return target === base ? "base" : target;
}
