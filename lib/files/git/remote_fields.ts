/**
 * What the options of git remotes have in common, whether the repository holds states or pillar.
 * Source: Salt 3008.3 `salt/utils/gitfs.py` GitProvider, enforce_types.
 * @module
 */

import { stripChars } from "#lib/values/python_text.ts";
import { ConfigError } from "#lib/errors.ts";
import { hideCredentials } from "#lib/text/url_credentials.ts";
import { isMap, repr, str, type Value, type ValueMap } from "#lib/values/value.ts";

/** A repository, and how it is reached. */
export interface RepositoryOptions {
  /** Its name in the configuration: its URL, or a branch and its URL. */
  readonly id: string;
  readonly url: string;
  /** Its own name, which also names its directory. */
  readonly name?: string;
  readonly refspecs: readonly string[];
  readonly depth: number;
  readonly sslVerify: boolean;
  readonly proxy: string;
  readonly user: string;
  readonly password: string;
  readonly insecureAuth: boolean;
  readonly privkey: string;
  readonly passphrase: string;
}

/** Where the remotes are configured, for messages. */
export interface RemoteRole {
  /** Salt's name of the part: `gitfs`, `git_pillar`. */
  readonly name: "gitfs" | "git_pillar";
  /** The option that lists them. */
  readonly option: string;
  /** The options that a remote may have of its own. */
  readonly ownOptions: readonly string[];
}

/** Options of a remote that say how it is reached, of either role. */
export const AUTH_OPTIONS = ["user", "password", "pubkey", "privkey", "passphrase", "insecure_auth"];

/** @throws {ConfigError} Always. */
export function refuseRemote(message: string, { option }: RemoteRole): never {
  throw new ConfigError(hideCredentials(message), { option });
}

/**
 * A remote of the configuration: its id, and its own options.
 * @throws {ConfigError} If it is invalid, with Salt's words.
 */
export function splitRemote(remote: Value, role: RemoteRole): { readonly id: string; readonly own: ValueMap } {
  const [id, own] = isMap(remote) ? [...remote][0] ?? [null, null] : [remote, new Map()];
  if (typeof id !== "string") {
    refuseRemote(
      `Invalid ${role.name} remote ${repr(id)}. Remotes must be strings, you may need to enclose the URL in quotes`,
      role,
    );
  }
  const options = joinMaps(own);
  if (options === undefined || (isMap(remote) && options.size === 0)) {
    refuseRemote(
      `Invalid per-remote configuration for ${role.name} remote '${id}'. If no per-remote parameters are being specified, there may be a ` +
        "trailing colon after the URL, which should be removed. Check the master configuration file.",
      role,
    );
  }
  const unknown = [...options.keys()].find((name) => !role.ownOptions.includes(str(name)));
  if (unknown !== undefined) {
    refuseRemote(
      `Invalid ${role.name} configuration parameter '${str(unknown)}' in remote '${id}'. Valid parameters are: ${
        role.ownOptions.join(", ")
      }.` +
        (role.name === "gitfs" ? " See the GitFS Walkthrough in the Salt documentation for further information." : ""),
      role,
    );
  }
  return { id, own: options };
}

/**
 * Checks what every repository must hold to.
 * @throws {ConfigError} If it does not.
 */
export function checkRepository({ id, url, name, user, insecureAuth }: RepositoryOptions, role: RemoteRole): void {
  if (user !== "" && url.startsWith("http://") && !insecureAuth) {
    refuseRemote(
      `Invalid configuration for ${role.name} remote '${id}': authentication over HTTP without TLS needs insecure_auth`,
      role,
    );
  }
  if (name !== undefined && (name.includes("/") || name === "." || name === ".." || name.includes("\0"))) {
    refuseRemote(`Invalid configuration for ${role.name} remote '${id}': its name cannot name a directory`, role);
  }
}

/**
 * Two remotes may not share a directory.
 * @throws {ConfigError} If two do.
 */
export function checkDirectories(remotes: readonly Pick<RepositoryOptions, "id" | "name">[], role: RemoteRole): void {
  const twice = [...Map.groupBy(remotes, ({ id, name }) => name ?? id).values()].find(({ length }) => length > 1);
  if (twice === undefined) return;
  const ids = twice.map(({ id }) => id).join(", ");
  refuseRemote(
    `The following ${role.name} remotes have conflicting cachedirs: ${ids}. Resolve this using a per-remote parameter called 'name'.`,
    role,
  );
}

/**
 * The remotes that have a URL; Salt goes on without the others.
 * @param warn Is told of each other, with Salt's words.
 * @param urlOf The URL in the id of a remote.
 */
export function withUrls(
  remotes: readonly Value[],
  warn: (message: string) => void,
  urlOf: (id: string) => string,
): Value[] {
  return remotes.filter((remote) => {
    const [id] = isMap(remote) ? remote.keys() : [remote];
    if (typeof id !== "string" || isUrl(urlOf(id).trim())) return true;
    warn(`Found bad url data ${repr(id)}`);
    return false;
  });
}

/**
 * Whether a remote can be there: on a host, or a directory of this one. It may not look like an option of git, nor name
 * a program.
 */
function isUrl(url: string): boolean {
  return /^(\w[\w+.-]*:\/\/|[^-:/\s][^:/\s]*:|\/)[^\s]/.test(url) && !url.includes("::");
}

/** A map, or a list of maps as one; `undefined` for anything else. */
export function joinMaps(value: Value): ValueMap | undefined {
  if (isMap(value)) return value;
  if (!Array.isArray(value) || !value.every(isMap)) return undefined;
  return new Map(value.flatMap((map) => [...map]));
}

/** A text, or nothing. */
export function optionalText(value: Value | undefined): string | undefined {
  return value === undefined || value === null ? undefined : str(value);
}

/** A path in a repository, without the slashes around it. */
export function withoutSlashes(path: string): string {
  return stripChars(path, "/");
}
