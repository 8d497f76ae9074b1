/**
 * The places of a minion's copies of files, below its `cachedir`: `files/<env>/…` of a file server,
 * `extrn_files/<env>/<host>/…` of other URLs, `localfiles/…` of this host's own. Source: Salt 3008.3,
 * `salt/fileclient.py` _cache_loc, _extrn_path, is_cached, cache_dest.
 * @module
 */

import { CommandError } from "#lib/errors.ts";
import { hashHex } from "#lib/crypto/hash.ts";
import { mayExist } from "#lib/os/file_kind.ts";
import { isEscapedUrl, splitSaltUrl } from "#lib/files/backends/salt_url.ts";
import { joinPath, normalPath } from "#lib/os/paths.ts";
import { schemeOf } from "#lib/host/filesystem/checksums.ts";

/** Longest name of a file that Salt takes from a URL. */
const LONGEST_NAME = 255;
/** Salt's error for a URL that leads out of the cache. */
const INVALID = "Invalid path";

/** A place in the cache. */
export interface CachePlace {
  /** The option `cachedir`. */
  readonly cachedir: string;
  /** Another directory, absolute or below `cachedir`. */
  readonly other?: string;
  readonly saltenv: string;
}

/** The directory of a place. */
function cacheRoot({ cachedir, other }: CachePlace): string {
  return other === undefined ? cachedir : joinPath(cachedir, other);
}

/**
 * The directory of the files of an environment.
 * @throws {CommandError} If the name leads elsewhere.
 */
export function environmentDirectory(place: CachePlace): string {
  return below(`${cacheRoot(place)}/files`, place.saltenv);
}

/**
 * The path of the copy of `salt://path`.
 * @throws {CommandError} If that would be outside of the cache.
 */
export function filesPath(path: string, place: CachePlace): string {
  return below(environmentDirectory(place), unescape(path));
}

/**
 * The path of the copy of a file of this host.
 * @throws {CommandError} If that would be outside of the cache.
 */
export function localFilesPath(path: string, cachedir: string): string {
  return below(`${cachedir}/localfiles`, unescape(path));
}

/**
 * The path of the copy of a file with another URL.
 * @throws {CommandError} If that would be outside of the cache.
 */
export function externalPath(url: string, place: CachePlace): string {
  const { host, path, query } = splitUrl(url);
  const name = query === "" ? path : `${path}-${query}`;
  const directory = below(below(`${cacheRoot(place)}/extrn_files`, place.saltenv), host, { itself: true });
  const full = below(directory, name, { itself: true });
  return name.length > LONGEST_NAME ? `${directory}/${hashHex(name, "sha256")}` : full;
}

/** The path where `cp.cache_file` would put the file of a URL; for a path of this host, that path. */
export function cacheDestination(url: string, place: CachePlace): string {
  if (schemeOf(url) === "") return url;
  try {
    if (!url.startsWith("salt://")) return externalPath(url, place);
    const { path, saltenv = place.saltenv } = splitSaltUrl(url);
    return filesPath(path, { ...place, saltenv });
  } catch (error) {
    if (error instanceof CommandError) return INVALID;
    throw error;
  }
}

/** The path of the copy of `url`, or of a path in any of the three places; empty if there is none. */
export function cachedCopy(url: string, place: CachePlace): string {
  const { path, saltenv = place.saltenv } = splitSaltUrl(url);
  const there = { ...place, saltenv };
  const escaped = isEscapedUrl(url) ? "|" : "";
  const candidates = [
    [() => filesPath(path, there), escaped],
    [() => localFilesPath(path, place.cachedir), escaped],
    [() => externalPath(path, there), ""],
  ] as const;
  for (const [find, mark] of candidates) {
    const copy = pathOrNothing(find);
    if (copy !== undefined && mayExist(copy)) return mark + copy;
  }
  return "";
}

function pathOrNothing(find: () => string): string | undefined {
  try {
    return find();
  } catch (error) {
    if (error instanceof CommandError) return undefined;
    throw error;
  }
}

/** A path without the `|` that marks it as having no query. */
function unescape(path: string): string {
  return path.replace(/^[|/]+/, "");
}

/**
 * `path` below `root`, without `.` and `..`.
 * @param options.itself Whether it may be `root` itself.
 * @throws {CommandError} If it would be elsewhere.
 */
function below(root: string, path: string, { itself = false }: { readonly itself?: boolean } = {}): string {
  const full = normalPath(`${root}/${path}`);
  const inside = full.startsWith(`${normalPath(root)}/`) || itself && full === normalPath(root);
  if (!inside || path.includes("\0")) throw new CommandError(`${INVALID}: ${path}`);
  return full;
}

/** The parts of a URL that name a file in the cache; the user, and the colon of a port, are left out. */
function splitUrl(url: string): { readonly host: string; readonly path: string; readonly query: string } {
  const [, authority = "", path = "", query = ""] =
    /^(?:[A-Za-z][A-Za-z0-9+.-]*:)?(?:\/\/([^/?#]*))?([^?#]*)(?:\?([^#]*))?/s.exec(url) ?? [];
  const host = authority.slice(authority.lastIndexOf("@") + 1);
  const port = /:(\d+)$/.exec(host)?.[1];
  return {
    host: port !== undefined && Number(port) > 0 ? host.replaceAll(":", "") : host,
    path: path.replace(/;[^/]*$/, ""),
    query,
  };
}
