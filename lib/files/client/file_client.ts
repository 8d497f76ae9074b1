/**
 * The interface of clients that fetch files: from a master's file server, from this host's own without a master, and
 * from other URLs. Source: the functions and results of Salt 3008.3 `salt/fileclient.py`.
 * @module
 */

import type { ValueMap } from "#lib/values/value.ts";

/** The digest of a file. */
export interface FileHash {
  /** `sha256` or another name of `hash_type`. */
  readonly hashType: string;
  /** Hexadecimal digits. */
  readonly hsum: string;
}

/** How a file is cached. Options that begin with `http` apply only to such URLs. */
export interface CacheOptions {
  /** Directory of the cache. Default: the option `cachedir`; a relative path is below that. */
  readonly cachedir?: string;
  /** A digest (`<hex>` or `type=<hex>`) of the copy that need not be fetched again. */
  readonly sourceHash?: string;
  /** Whether the certificate of an `https` server is checked. Default: true. */
  readonly verifySsl?: boolean;
  /** Whether the copy is kept while the server's ETag is the same. */
  readonly useEtag?: boolean;
}

/** Options for copying a file to a path of this host. */
export interface GetOptions extends CacheOptions {
  /** Whether missing directories above `dest` are made. */
  readonly makedirs?: boolean;
  /** 1 to 9: pieces are sent compressed. */
  readonly gzip?: number;
}

/** Which files of a directory are cached. Patterns are globs, or expressions behind `E@`. */
export interface CacheDirOptions {
  /** Whether empty directories are made as well. */
  readonly includeEmpty?: boolean;
  /** Files to take. Default: all. */
  readonly includePat?: string | readonly string[];
  /** Files to leave out. */
  readonly excludePat?: string | readonly string[];
  /** Directory of the cache. */
  readonly cachedir?: string;
}

/** A state file in the cache. */
export interface CachedState {
  /** Its URL: `salt://web/init.sls`. */
  readonly source: string;
  /** The path of the copy. */
  readonly dest: string;
}

/** A file's digest and mode, as far as the server sends them. */
export interface FileFacts {
  readonly hash?: FileHash;
  /** Its mode with the bits of the type; absent if the server does not say. */
  readonly mode?: number;
}

/**
 * A client of a file server. `url` is `salt://path` (also with `?saltenv=`), `http://`, `https://`, `file://` or a path
 * of this host. Methods throw a `CommandError` for what cannot be fetched at all, and return `undefined` for what does
 * not exist.
 */
export interface FileClient {
  /** The path of a copy in the cache, which is fetched if it is out of date. A file of this host is its own copy. */
  cacheFile(url: string, saltenv: string, options?: CacheOptions): Promise<string | undefined>;
  /** The copies of all files below a directory of the server, in the server's order. */
  cacheDir(url: string, saltenv: string, options?: CacheDirOptions): Promise<string[]>;
  /** The copies of all files of an environment; `undefined` for those that went meanwhile. */
  cacheAll(saltenv: string): Promise<(string | undefined)[]>;
  /** The SLS `a.b`: `a/b.sls`, else `a/b/init.sls`. */
  getState(sls: string, saltenv: string): Promise<CachedState | undefined>;
  /**
   * Puts a file of the server to `dest`, with its name if that is a directory.
   * @returns The path.
   */
  getFile(url: string, dest: string, saltenv: string, options?: GetOptions): Promise<string | undefined>;
  /**
   * Puts all files below a directory to `dest`, with the directory's name.
   * @returns The paths, sorted.
   */
  getDir(url: string, dest: string, saltenv: string, options?: GetOptions): Promise<string[]>;
  /** Copies the file of any URL to `dest`; empty: into the cache. A path of this host is returned as it is. */
  getUrl(url: string, dest: string, saltenv: string, options?: GetOptions): Promise<string | undefined>;
  /** The path of a copy that is in the cache already. */
  cachedFile(url: string, saltenv: string): string | undefined;
  /** Whether `salt://path` is a file or a directory, or whether a URL exists on its web server. */
  exists(url: string, saltenv: string): Promise<boolean>;
  /** The contents of any URL; text if the server declares it as text. */
  contents(url: string, saltenv: string, options?: CacheOptions): Promise<Uint8Array | string | undefined>;

  /** Files of an environment: paths without a leading slash. */
  fileList(saltenv: string, prefix?: string): Promise<string[]>;
  dirList(saltenv: string, prefix?: string): Promise<string[]>;
  emptyDirList(saltenv: string, prefix?: string): Promise<string[]>;
  /** The text of each link by its path. */
  symlinkList(saltenv: string, prefix?: string): Promise<ReadonlyMap<string, string>>;
  envs(): Promise<string[]>;
  /** The names of all SLS of an environment, sorted. */
  listStates(saltenv: string): Promise<string[]>;

  /** The digest of `salt://path`, or of a file of this host. */
  hashFile(path: string, saltenv: string): Promise<FileHash | undefined>;
  /** The digest and mode of `salt://path`, or of a file of this host. */
  statFile(path: string, saltenv: string): Promise<FileFacts>;

  /** The master's options that states need. */
  masterOpts(): Promise<ValueMap>;
  /**
   * SLS by environment from the `master_tops` of the master, or of this host if it has none.
   * @param opts The options of the run of states, for the sources.
   */
  masterTops(opts: ValueMap): Promise<ValueMap>;
}
