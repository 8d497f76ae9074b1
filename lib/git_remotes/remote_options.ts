/**
 * The options of each git remote: what `gitfs_remotes` says of it, else what the `gitfs_` option of that name says.
 * Source: Salt 3008.3 `salt/fileserver/gitfs.py`, `salt/utils/gitfs.py` GitProvider, enforce_types, init_remotes.
 * @module
 */

import { ConfigError } from "../errors.ts";
import type { FileServerOpts } from "../files/backend.ts";
import { mountPoint } from "../files/salt_url.ts";
import { isMap, repr, str, toNumber, truthy, type Value, type ValueMap } from "../values/value.ts";

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
export interface RemoteOptions {
  /** What the configuration calls it: its URL. */
  readonly id: string;
  readonly url: string;
  /** Its own name, which also names its directory. */
  readonly name?: string;
  readonly base: string;
  readonly fallback: string;
  readonly root: string;
  readonly mountPoint: string;
  readonly whitelist: readonly string[];
  readonly blacklist: readonly string[];
  readonly refspecs: readonly string[];
  /** Whether only environments that the configuration names are served. */
  readonly named: boolean;
  readonly refTypes: readonly string[];
  /** In seconds. */
  readonly updateInterval: number;
  readonly depth: number;
  readonly sslVerify: boolean;
  readonly proxy: string;
  readonly user: string;
  readonly password: string;
  readonly insecureAuth: boolean;
  readonly privkey: string;
  /** The branch, tag or commit of all environments. */
  readonly allSaltenvs?: string;
  /** What environments have of their own, from the remote's own options and from those of all. */
  readonly saltenvs: ReadonlyMap<string, EnvOptions>;
}

/** The options that a remote may have, as Salt lists them. */
const REMOTE_OPTIONS = [
  ...["base", "fallback", "mountpoint", "root", "ssl_verify", "saltenv_whitelist", "saltenv_blacklist", "refspecs"],
  ...["disable_saltenv_mapping", "ref_types", "update_interval", "proxy", "depth"],
  ...["user", "password", "pubkey", "privkey", "passphrase", "insecure_auth", "all_saltenvs", "name", "saltenv"],
];

const REF_TYPES = ["branch", "tag", "sha"];

/** The remotes of `gitfs_remotes`. @throws {ConfigError} If one cannot be used, with Salt's words. */
export function gitfsRemotes(opts: FileServerOpts): RemoteOptions[] {
  const remotes = opts.gitfs_remotes.map((remote) => readRemote(remote, opts));
  const names = remotes.map(({ id, name }) => name ?? id);
  const twice = names.find((name, i) => names.indexOf(name) !== i);
  if (twice !== undefined) {
    fail(
      `The following gitfs remotes have conflicting cachedirs: ${twice}. Resolve this using a per-remote parameter called 'name'.`,
    );
  }
  return remotes;
}

function fail(message: string): never {
  throw new ConfigError(message, { option: "gitfs_remotes" });
}

function readRemote(remote: Value, opts: FileServerOpts): RemoteOptions {
  const [id, own] = isMap(remote) ? [...remote][0] ?? [null, null] : [remote, new Map()];
  if (typeof id !== "string") {
    fail(`Invalid gitfs remote ${repr(id)}. Remotes must be strings, you may need to enclose the URL in quotes`);
  }
  checkUrl(id);
  const options = ownOptions(id, own);
  // What the remote does not have of its own, the option of all remotes says.
  const at = (name: string, all: Value): Value => options.get(name) ?? all;
  const [texts, text] = [stringList, str];
  const read: RemoteOptions = {
    id,
    url: id,
    name: optionalText(options.get("name")),
    base: text(at("base", opts.gitfs_base)),
    fallback: text(at("fallback", opts.gitfs_fallback)),
    root: withoutSlashes(text(at("root", opts.gitfs_root))),
    mountPoint: mountPoint(text(at("mountpoint", opts.gitfs_mountpoint))),
    whitelist: texts(at("saltenv_whitelist", opts.gitfs_saltenv_whitelist)),
    blacklist: texts(at("saltenv_blacklist", opts.gitfs_saltenv_blacklist)),
    refspecs: texts(at("refspecs", opts.gitfs_refspecs)),
    named: truthy(at("disable_saltenv_mapping", opts.gitfs_disable_saltenv_mapping)),
    refTypes: texts(at("ref_types", opts.gitfs_ref_types)).map((type) => type.toLowerCase()),
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
    allSaltenvs: optionalText(options.get("all_saltenvs")),
    saltenvs: environments(options.get("saltenv") ?? [], opts.gitfs_saltenv),
  };
  return checked(withBase(read));
}

function checked(remote: RemoteOptions): RemoteOptions {
  const { id, refTypes, user, insecureAuth, url, name } = remote;
  const invalid = refTypes.filter((type) => !REF_TYPES.includes(type));
  if (invalid.length > 0) {
    fail(
      `The following ref_types for gitfs remote '${id}' are invalid: ${invalid.join(", ")}. The supported values are: ${
        REF_TYPES.join(", ")
      }`,
    );
  }
  if (user !== "" && url.startsWith("http://") && !insecureAuth) {
    fail(`Invalid configuration for gitfs remote '${id}': authentication over HTTP without TLS needs insecure_auth`);
  }
  if (name !== undefined && (name.includes("/") || name === "." || name === ".." || name.includes("\0"))) {
    fail(`Invalid configuration for gitfs remote '${id}': its name cannot name a directory`);
  }
  return remote;
}

/** A `ref` that environment `base` has replaces the option `base`. */
function withBase(remote: RemoteOptions): RemoteOptions {
  const ref = remote.saltenvs.get("base")?.ref;
  return ref === undefined ? remote : { ...remote, base: ref };
}

/** A remote may be on a host, or a directory of this one. It may not look like an option of git, nor name a program. */
function checkUrl(url: string): void {
  if (!/^(\w[\w+.-]*:\/\/|[^-:/\s][^:/\s]*:|\/)[^\s]/.test(url) || url.includes("::")) {
    fail(`Found bad url data ${repr(url)}`);
  }
}

function ownOptions(id: string, value: Value): ValueMap {
  const options = joinMaps(value);
  if (options === undefined) {
    fail(
      `Invalid per-remote configuration for gitfs remote '${id}'. If no per-remote parameters are being specified, there may be a ` +
        "trailing colon after the URL, which should be removed. Check the master configuration file.",
    );
  }
  const unknown = [...options.keys()].find((name) => !REMOTE_OPTIONS.includes(str(name)));
  if (unknown !== undefined) {
    fail(
      `Invalid gitfs configuration parameter '${str(unknown)}' in remote '${id}'. Valid parameters are: ${
        REMOTE_OPTIONS.join(", ")
      }. ` +
        "See the GitFS Walkthrough in the Salt documentation for further information.",
    );
  }
  return options;
}

/** A map, or a list of maps as one; `undefined` for anything else. */
function joinMaps(value: Value): ValueMap | undefined {
  if (isMap(value)) return value;
  if (!Array.isArray(value) || !value.every(isMap)) return undefined;
  return new Map(value.flatMap((map) => [...map]));
}

/** What environments have of their own; the remote's own options win over those of all remotes, name by name. */
function environments(own: Value, all: Value): Map<string, EnvOptions> {
  const found = new Map<string, EnvOptions>();
  for (const value of [all, own]) {
    for (const [saltenv, options] of joinMaps(value) ?? []) {
      const read = envOptions(joinMaps(options) ?? new Map());
      found.set(str(saltenv), { ...found.get(str(saltenv)), ...read });
    }
  }
  return found;
}

function envOptions(options: ValueMap): EnvOptions {
  const ref = options.get("ref"), root = options.get("root"), mounted = options.get("mountpoint");
  return {
    ...ref === undefined ? {} : { ref: str(ref) },
    ...root === undefined ? {} : { root: withoutSlashes(str(root)) },
    ...mounted === undefined ? {} : { mountPoint: mountPoint(str(mounted)) },
  };
}

function optionalText(value: Value | undefined): string | undefined {
  return value === undefined || value === null ? undefined : str(value);
}

/** A list of texts, or a text with commas. */
function stringList(value: Value): string[] {
  return Array.isArray(value)
    ? value.map(str)
    : str(value).split(",").map((part) => part.trim()).filter((part) => part !== "");
}

function withoutSlashes(path: string): string {
  return path.replace(/^\/+|\/+$/g, "");
}
