/**
 * The options of repositories that hold pillar: the own options in an `ext_pillar` entry `git`, else the `git_pillar_`
 * option of that name. Source: Salt 3008.3 `salt/pillar/git_pillar.py`, `salt/utils/gitfs.py` GitProvider, GitPillar.
 * @module
 */

import { ANY_ENV } from "#lib/files/backends/env_directories.ts";
import { splitInput } from "#lib/values/split_input.ts";
import { str, toNumber, truthy, type Value, type ValueMap } from "#lib/values/value.ts";
import {
  AUTH_OPTIONS,
  checkDirectories,
  checkRepository,
  optionalText,
  refuseRemote,
  type RemoteRole,
  type RepositoryOptions,
  splitRemote,
  withoutSlashes,
  withUrls,
} from "./remote_fields.ts";

/** A repository of pillar. */
export interface PillarRemoteOptions extends RepositoryOptions {
  /** The branch or tag, or {@linkcode ANY_ENV}. */
  readonly branch: string;
  /** The branch that is environment `base`. */
  readonly base: string;
  /** The environment; empty: that of the branch's name. */
  readonly env: string;
  /** The branch or tag in place of one that is not there; empty: none. */
  readonly fallback: string;
  /** The directory with the files, without slashes around it. */
  readonly root: string;
  /** Where they appear, without slashes around it. */
  readonly mountPoint: string;
  /** The branch or tag of all environments. */
  readonly allSaltenvs?: string;
}

const GIT_PILLAR: RemoteRole = {
  name: "git_pillar",
  option: "ext_pillar",
  // As Salt lists them.
  ownOptions: [
    ...["base", "env", "root", "ssl_verify", "refspecs", "fallback", "proxy", "ref_types", "disable_saltenv_mapping"],
    ...["depth", ...AUTH_OPTIONS, "name", "mountpoint", "all_saltenvs"],
  ],
};

/**
 * The repositories of an `ext_pillar` entry.
 * @param remotes What the entry lists; what has no URL is left out, as by Salt.
 * @param opts The options of the node.
 * @param warn Is told of it, with Salt's words.
 * @throws {ConfigError} If one cannot be used, with Salt's words.
 */
export function pillarRemotes(
  remotes: readonly Value[],
  opts: ValueMap,
  warn: (message: string) => void,
): PillarRemoteOptions[] {
  const read = withUrls(remotes, warn, (id) => splitBranch(id)?.url ?? id).map((remote) => readRemote(remote, opts));
  checkDirectories(read, GIT_PILLAR);
  return read;
}

/** The lists of repositories of the option `ext_pillar`, one for each of its entries `git`. */
export function pillarRemoteLists(extPillar: readonly Value[]): Value[][] {
  return extPillar.flatMap((entry) => {
    const remotes = entry instanceof Map ? entry.get("git") : undefined;
    return Array.isArray(remotes) ? [remotes] : typeof remotes === "string" ? [[remotes]] : [];
  });
}

/** The branch and the URL of `main https://…`; `undefined` if it names no branch. */
function splitBranch(id: string): { readonly branch: string; readonly url: string } | undefined {
  const [, branch, url] = /^\s*(\S+)\s+(.*)$/s.exec(id) ?? [];
  return branch === undefined ? undefined : { branch, url };
}

function readRemote(remote: Value, opts: ValueMap): PillarRemoteOptions {
  const { id, own } = splitRemote(remote, GIT_PILLAR);
  const at = (name: string): Value => own.get(name) ?? opts.get(`git_pillar_${name}`) ?? "";
  const [text, number] = [(name: string) => str(at(name)), (name: string) => toNumber(at(name)) ?? 0];
  const { branch, url } = splitBranch(id) ?? { branch: str(opts.get("git_pillar_branch") ?? "master"), url: id };
  if (branch !== ANY_ENV && own.has("base")) {
    refuseRemote(
      `Invalid per-remote configuration for git_pillar remote '${id}'. base can only be specified if __env__ is specified as the branch name.`,
      GIT_PILLAR,
    );
  }
  const read: PillarRemoteOptions = {
    id,
    url: url.trim(),
    name: optionalText(own.get("name")),
    branch,
    base: text("base"),
    env: text("env"),
    fallback: text("fallback"),
    root: withoutSlashes(text("root")),
    mountPoint: withoutSlashes(str(own.get("mountpoint") ?? "").replace(/^salt:\/\//, "")),
    refspecs: splitInput(at("refspecs")),
    depth: Math.max(0, number("depth")),
    sslVerify: truthy(at("ssl_verify")),
    proxy: text("proxy"),
    user: text("user"),
    password: text("password"),
    insecureAuth: truthy(at("insecure_auth")),
    privkey: text("privkey"),
    passphrase: text("passphrase"),
    allSaltenvs: optionalText(own.get("all_saltenvs")),
  };
  checkRepository(read, GIT_PILLAR);
  for (const path of [read.root, read.mountPoint]) {
    if (!path.split("/").includes("..")) continue;
    refuseRemote(`Invalid configuration for git_pillar remote '${id}': '${path}' leads out of it`, GIT_PILLAR);
  }
  return read;
}
