/**
 * The options of each git remote: its own options in `gitfs_remotes`, else the `gitfs_` option of that name. Source:
 * Salt 3008.3 `salt/fileserver/gitfs.py`, `salt/utils/gitfs.py` GitProvider, enforce_types, init_remotes.
 * @module
 */

import type { FileServerOpts } from "#lib/plugins/file_backend.ts";
import { mountPoint } from "#lib/files/backends/salt_url.ts";
import { splitInput } from "#lib/values/split_input.ts";
import { str, toNumber, truthy, type Value, type ValueMap } from "#lib/values/value.ts";
import {
  AUTH_OPTIONS,
  checkDirectories,
  checkRepository,
  joinMaps,
  optionalText,
  refuseRemote,
  type RemoteRole,
  type RepositoryOptions,
  splitRemote,
  withoutSlashes,
  withUrls,
} from "./remote_fields.ts";

/** What an environment may have of its own. */
export interface EnvOptions {
  /** The branch, tag or commit. */
  readonly ref?: string;
  /** The directory in the repository, without slashes around it. */
  readonly root?: string;
  /** Where files appear: empty, or with a slash at its end. */
  readonly mountPoint?: string;
}

/** One remote, as it is configured. */
export interface RemoteOptions extends RepositoryOptions {
  readonly base: string;
  readonly fallback: string;
  readonly root: string;
  readonly mountPoint: string;
  readonly whitelist: readonly string[];
  readonly blacklist: readonly string[];
  /** Whether only environments that the configuration names are served. */
  readonly named: boolean;
  readonly refTypes: readonly string[];
  /** Seconds between two fetches. */
  readonly updateInterval: number;
  /** The branch, tag or commit of all environments. */
  readonly allSaltenvs?: string;
  /** What environments have of their own, from the remote's own options and from those of all. */
  readonly saltenvs: ReadonlyMap<string, EnvOptions>;
}

const GITFS: RemoteRole = {
  name: "gitfs",
  option: "gitfs_remotes",
  // As Salt lists them.
  ownOptions: [
    ...["base", "fallback", "mountpoint", "root", "ssl_verify", "saltenv_whitelist", "saltenv_blacklist", "refspecs"],
    ...["disable_saltenv_mapping", "ref_types", "update_interval", "proxy", "depth"],
    ...AUTH_OPTIONS,
    ...["all_saltenvs", "name", "saltenv"],
  ],
};

const REF_TYPES = ["branch", "tag", "sha"];

/**
 * The remotes of `gitfs_remotes`; what is no URL is left out.
 * @param warn Is told of it, with Salt's words.
 * @throws {ConfigError} If one cannot be used, with Salt's words.
 */
export function gitfsRemotes(opts: FileServerOpts, warn: (message: string) => void): RemoteOptions[] {
  const remotes = withUrls(opts.gitfs_remotes, warn, (id) => id).map((remote) => readRemote(remote, opts));
  checkDirectories(remotes, GITFS);
  return remotes;
}

function readRemote(remote: Value, opts: FileServerOpts): RemoteOptions {
  const { id, own: options } = splitRemote(remote, GITFS);
  // What the remote does not have of its own, the option of all remotes says.
  const at = (name: string, all: Value): Value => options.get(name) ?? all;
  const [texts, text] = [splitInput, str];
  const read: RemoteOptions = {
    id,
    url: id.trim(),
    name: optionalText(options.get("name")),
    base: text(at("base", opts.gitfs_base)),
    fallback: text(at("fallback", opts.gitfs_fallback)),
    root: withoutSlashes(text(at("root", opts.gitfs_root))),
    mountPoint: mountPoint(text(at("mountpoint", opts.gitfs_mountpoint))),
    whitelist: texts(at("saltenv_whitelist", opts.gitfs_saltenv_whitelist)),
    blacklist: texts(at("saltenv_blacklist", opts.gitfs_saltenv_blacklist)),
    refspecs: texts(at("refspecs", opts.gitfs_refspecs)),
    named: truthy(at("disable_saltenv_mapping", opts.gitfs_disable_saltenv_mapping)),
    // A text with commas is a list of one text by now, if it is the option of all remotes.
    refTypes: texts(at("ref_types", opts.gitfs_ref_types)).flatMap(texts).map((type) => type.toLowerCase()),
    updateInterval: Math.max(
      1,
      toNumber(at("update_interval", opts.gitfs_update_interval)) ?? opts.gitfs_update_interval,
    ),
    depth: Math.max(0, toNumber(at("depth", opts.gitfs_depth)) ?? opts.gitfs_depth),
    sslVerify: truthy(at("ssl_verify", opts.gitfs_ssl_verify)),
    proxy: text(at("proxy", opts.gitfs_proxy)),
    user: text(at("user", opts.gitfs_user)),
    password: text(at("password", opts.gitfs_password)),
    insecureAuth: truthy(at("insecure_auth", opts.gitfs_insecure_auth)),
    privkey: text(at("privkey", opts.gitfs_privkey)),
    passphrase: text(at("passphrase", opts.gitfs_passphrase)),
    allSaltenvs: optionalText(options.get("all_saltenvs")),
    saltenvs: environments(options.get("saltenv") ?? [], opts.gitfs_saltenv),
  };
  return checkRemote(withBase(read, environments(options.get("saltenv") ?? [], [])));
}

function checkRemote(remote: RemoteOptions): RemoteOptions {
  const { id, refTypes } = remote;
  checkRepository(remote, GITFS);
  const invalid = refTypes.filter((type) => !REF_TYPES.includes(type));
  if (invalid.length > 0) {
    refuseRemote(
      `The following ref_types for gitfs remote '${id}' are invalid: ${invalid.join(", ")}. The supported values are: ${
        REF_TYPES.join(", ")
      }`,
      GITFS,
    );
  }
  return remote;
}

/**
 * A `ref` that environment `base` has in the remote's own options replaces the option `base`. One of the options of all
 * remotes does not, as in Salt: it only takes its branch's own name from the environments.
 */
function withBase(remote: RemoteOptions, own: ReadonlyMap<string, EnvOptions>): RemoteOptions {
  return { ...remote, base: own.get("base")?.ref ?? remote.base };
}

/** What environments have of their own; the remote's own options win over those of all remotes, name by name. */
function environments(own: Value, all: Value): Map<string, EnvOptions> {
  const environments = new Map<string, EnvOptions>();
  for (const value of [all, own]) {
    for (const [saltenv, options] of joinMaps(value) ?? []) {
      const read = envOptions(joinMaps(options) ?? new Map());
      environments.set(str(saltenv), { ...environments.get(str(saltenv)), ...read });
    }
  }
  return environments;
}

function envOptions(options: ValueMap): EnvOptions {
  const ref = options.get("ref"), root = options.get("root"), mounted = options.get("mountpoint");
  return {
    ...ref === undefined ? {} : { ref: str(ref) },
    ...root === undefined ? {} : { root: withoutSlashes(str(root)) },
    ...mounted === undefined ? {} : { mountPoint: mountPoint(str(mounted)) },
  };
}
