/**
 * The file client, for a master's file server and for this host's own: they differ only in the server of the commands.
 * Source: the functions and results of Salt 3008.3 `salt/fileclient.py` Client, RemoteClient, FSClient.
 * @module
 */

import { rstripChars } from "#lib/values/python_text.ts";
import { cachedCopy, type CachePlace, environmentDirectory, externalPath, filesPath } from "./cache_paths.ts";
import { CommandError } from "#lib/errors.ts";
import { download, downloadContents, isThere, parseUrl } from "./downloads.ts";
import { directoryOnHost, filesBelow, minionPath } from "./directories.ts";
import { fetchFile } from "./transfer.ts";
import { fileDigest, sameHash } from "./file_digest.ts";
import { baseName, dirName } from "#lib/os/paths.ts";
import { hasHash, schemeOf } from "#lib/host/filesystem/checksums.ts";
import { copyOwnFile } from "./own_file.ts";
import { isDirectory, isFile } from "#lib/os/file_kind.ts";
import { makeCacheDirectory, placeInCache, placeOnHost } from "./placing.ts";
import { pathChooser } from "./include_exclude.ts";
import { createSaltUrl, splitSaltUrl } from "#lib/files/backends/salt_url.ts";
import { hideCredentials } from "#lib/text/url_credentials.ts";
import type {
  CacheDirOptions,
  CachedState,
  CacheOptions,
  FileClient,
  FileFacts,
  FileHash,
  GetOptions,
} from "./file_client.ts";
import { type SendFileCommand, ServerCalls } from "./server_calls.ts";
import { compareStrings, map, type ValueMap } from "#lib/values/value.ts";

/** Where a client keeps files, whom it asks for them, and how it logs. */
export interface FileClientSettings {
  /** The option `cachedir`. */
  readonly cachedir: string;
  /** The option `hash_type`, for files of this host. */
  readonly hashType: string;
  /** The minion's id, for `master_tops`. */
  readonly id: string;
  /** The minion's grains, for `master_tops`. */
  readonly grains?: ValueMap;
  /** The result of this host's own `master_tops`. Absent: its master's. */
  masterTops?(opts: ValueMap): Promise<ValueMap>;
  /** Sends a command to the file server. */
  readonly request: SendFileCommand;
  /** Whether the file server is this host's own, so that its files can be read directly. Default: false. */
  readonly ownServer?: boolean;
  /** Aborts running transfers. */
  readonly signal: AbortSignal;
  /** Pause before a piece of a file is requested again, in milliseconds. Default: one second. */
  readonly pauseMs?: number;
  log(level: "warning" | "info" | "debug", message: string): void;
}

const PAUSE_MS = 1_000;

/** A client of the file server that `settings.request` calls. */
export function openFileClient(settings: FileClientSettings): FileClient {
  return new SaltFileClient(settings);
}

class SaltFileClient implements FileClient {
  readonly #settings: FileClientSettings;
  readonly #calls: ServerCalls;

  constructor(settings: FileClientSettings) {
    this.#settings = settings;
    this.#calls = new ServerCalls(settings.request);
  }

  cacheFile(url: string, saltenv: string, options: CacheOptions = {}): Promise<string | undefined> {
    return this.getUrl(url, "", saltenv, { ...options, makedirs: true });
  }

  async cacheDir(url: string, saltenv: string, options: CacheDirOptions = {}): Promise<string[]> {
    const directory = `${saltPath(url).replace(/\/$/, "")}/`;
    const place = this.#place(saltenv, options.cachedir);
    this.#settings.log("info", `Caching directory '${directory}' for environment '${saltenv}'`);
    const wanted = pathChooser(options.includePat, options.excludePat);
    const copies: string[] = [];
    for (const path of await this.fileList(saltenv)) {
      if (!path.startsWith(directory) || !wanted(path)) continue;
      const copy = await this.cacheFile(createSaltUrl(path), saltenv, options);
      if (copy !== undefined) copies.push(copy);
    }
    if (!options.includeEmpty) return copies;
    for (const path of await this.emptyDirList(saltenv)) {
      if (!path.startsWith(directory)) continue;
      const copy = filesPath(path, place);
      makeCacheDirectory(copy);
      copies.push(copy);
    }
    return copies;
  }

  async cacheAll(saltenv: string): Promise<(string | undefined)[]> {
    const copies: (string | undefined)[] = [];
    for (const path of await this.fileList(saltenv)) {
      copies.push(await this.cacheFile(createSaltUrl(path), saltenv));
    }
    return copies;
  }

  async getState(sls: string, saltenv: string): Promise<CachedState | undefined> {
    const path = sls.replaceAll(".", "/");
    for (const source of [createSaltUrl(`${path}.sls`), createSaltUrl(`${path}/init.sls`)]) {
      const dest = await this.cacheFile(source, saltenv);
      if (dest !== undefined) return { source, dest };
    }
    return undefined;
  }

  async getFile(url: string, dest: string, saltenv: string, options: GetOptions = {}): Promise<string | undefined> {
    const split = splitSaltUrl(url);
    const [path, environment] = [saltPath(url), split.saltenv ?? saltenv];
    const hash = await this.#calls.hash(path, environment);
    if (hash === undefined) {
      this.#settings.log("debug", `Could not find file '${url}' in saltenv '${environment}'`);
      return undefined;
    }
    const target = dest === "" ? "" : intoDirectory(dest, baseName(path));
    const final = target === "" ? filesPath(path, this.#place(environment, options.cachedir)) : target;
    if (isFile(final) && sameHash(await fileDigest(final, hash.hashType), hash)) return final;
    if (target !== "" && !directoryOnHost(dirName(target), options.makedirs ?? false)) return undefined;
    const { cachedir, signal, log, pauseMs = PAUSE_MS } = this.#settings;
    log("debug", `Fetching file '${path}' from saltenv '${environment}'`);
    const request = { path, saltenv: environment, hash, gzip: options.gzip };
    const place = (from: string): Promise<string> => {
      if (target === "") placeInCache(from, final);
      else placeOnHost(from, final);
      return Promise.resolve(final);
    };
    if (this.#settings.ownServer) {
      const there = await this.#calls.place(path, environment);
      const done = there === undefined ? undefined : await copyOwnFile(there, { cachedir, hash }, place);
      if (done !== undefined) return done;
    }
    return await fetchFile(request, { cachedir, calls: this.#calls, signal, log, pauseMs }, place);
  }

  async getDir(url: string, dest: string, saltenv: string, options: GetOptions = {}): Promise<string[]> {
    const directory = rstripChars(saltPath(url), "/");
    const done: string[] = [];
    for (const path of filesBelow(directory, await this.fileList(saltenv, directory))) {
      const target = minionPath(path, directory, dest);
      const paths = await this.getFile(createSaltUrl(path), target, saltenv, { ...options, makedirs: true });
      if (paths !== undefined) done.push(paths);
    }
    for (const path of filesBelow(directory, await this.emptyDirList(saltenv, directory))) {
      const target = minionPath(path, directory, dest);
      directoryOnHost(target, true);
      done.push(target);
    }
    return done.sort(compareStrings);
  }

  async getUrl(url: string, dest: string, saltenv: string, options: GetOptions = {}): Promise<string | undefined> {
    const scheme = schemeOf(url);
    const local = localPath(url, scheme);
    if (local !== undefined) return local;
    if (scheme === "salt") return await this.getFile(url, dest, saltenv, options);
    refuseScheme(url, scheme);
    const into = dest === ""
      ? externalPath(url, this.#place(saltenv, options.cachedir))
      : intoDirectory(dest, urlName(url));
    if (dest === "" && hasSourceHash(into, options.sourceHash)) return into;
    if (!directoryOnHost(dirName(into), dest === "" || (options.makedirs ?? false))) return undefined;
    await download(url, into, { ...options, signal: this.#settings.signal });
    return into;
  }

  cachedFile(url: string, saltenv: string): string | undefined {
    return cachedCopy(url, this.#place(saltenv)) || undefined;
  }

  async exists(url: string, saltenv: string): Promise<boolean> {
    if (!url.startsWith("salt://")) return await isThere(url, { signal: this.#settings.signal });
    if (await this.hashFile(url, saltenv) !== undefined) return true;
    const { path, saltenv: own = saltenv } = splitSaltUrl(url);
    return (await this.dirList(own, path)).includes(rstripChars(path, "/"));
  }

  async contents(url: string, saltenv: string, options: CacheOptions = {}): Promise<Uint8Array | string | undefined> {
    const scheme = schemeOf(url);
    if (["http", "https"].includes(scheme)) {
      return await downloadContents(url, { ...options, signal: this.#settings.signal });
    }
    const path = await this.cacheFile(url, saltenv, options);
    return path === undefined ? undefined : await Deno.readFile(path);
  }

  fileList(saltenv: string, prefix = ""): Promise<string[]> {
    return this.#calls.list("files", saltenv, prefix);
  }

  dirList(saltenv: string, prefix = ""): Promise<string[]> {
    return this.#calls.list("dirs", saltenv, prefix);
  }

  emptyDirList(saltenv: string, prefix = ""): Promise<string[]> {
    return this.#calls.list("emptyDirs", saltenv, prefix);
  }

  symlinkList(saltenv: string, prefix = ""): Promise<ReadonlyMap<string, string>> {
    return this.#calls.symlinks(saltenv, prefix);
  }

  envs(): Promise<string[]> {
    return this.#calls.envs();
  }

  async listStates(saltenv: string): Promise<string[]> {
    const files = (await this.fileList(saltenv)).filter((path) => path.endsWith(".sls"));
    const names = files.map((path) => path.replace(/(\/init)?\.sls$/, "").replaceAll("/", "."));
    return [...new Set(names)].sort(compareStrings);
  }

  async hashFile(path: string, saltenv: string): Promise<FileHash | undefined> {
    const split = splitSaltUrl(path);
    if (path.startsWith("salt://")) return await this.#calls.hash(split.path, split.saltenv ?? saltenv);
    if (isFile(path)) return await fileDigest(path, this.#settings.hashType);
    this.#settings.log("warning", `specified file ${path} is not present to generate hash: Unsupported path: ${path}`);
    return undefined;
  }

  async statFile(path: string, saltenv: string): Promise<FileFacts> {
    const hash = await this.hashFile(path, saltenv);
    const split = splitSaltUrl(path);
    if (path.startsWith("salt://")) return { hash, mode: await this.#calls.mode(split.path, split.saltenv ?? saltenv) };
    return isFile(path) ? { hash, mode: Deno.statSync(path).mode ?? undefined } : { hash };
  }

  masterOpts(): Promise<ValueMap> {
    return this.#calls.masterOpts();
  }

  masterTops(opts: ValueMap): Promise<ValueMap> {
    const settings = this.#settings, { id, grains = new Map() } = settings;
    if (settings.masterTops !== undefined) return settings.masterTops(opts);
    return this.#calls.masterTops(
      id,
      new Map([...opts, ...map({ id, grains, __role: opts.get("__role") ?? "minion" })]),
    );
  }

  #place(saltenv: string, other?: string): CachePlace {
    const place = { cachedir: this.#settings.cachedir, other, saltenv };
    environmentDirectory(place); // an environment's name that is a path outside of the cache ends here
    return place;
  }
}

/**
 * The path of a `salt://` URL.
 * @throws {CommandError} If it is none.
 */
function saltPath(url: string): string {
  if (!url.startsWith("salt://")) throw new CommandError(`Unsupported path: ${url}`);
  return splitSaltUrl(url).path;
}

/** A destination, with `name` if it is a directory. */
function intoDirectory(dest: string, name: string): string {
  return isDirectory(dest) || dest.endsWith("/") ? `${rstripChars(dest, "/")}/${name}` : dest;
}

/**
 * The file name of a URL, for a destination that is a directory.
 * @throws {CommandError} If it is no URL.
 */
function urlName(url: string): string {
  const { pathname, search } = parseUrl(url);
  return search !== "" || pathname.length > 1 && !pathname.endsWith("/") ? baseName(url) : "index.html";
}

/**
 * The path of a file of this host; `undefined` for other URLs.
 * @throws {CommandError} If it is not absolute.
 */
function localPath(url: string, scheme: string): string | undefined {
  // A scheme of one letter is a drive of Windows.
  if (!["", "file"].includes(scheme) && scheme.length > 1) return undefined;
  const path = rstripChars(
    scheme === "file" ? url.replace(/^file:(\/\/[^/]*(?=\/))?/i, "").replace(/^\/\//, "") : url,
    "/",
  );
  if (!path.startsWith("/")) throw new CommandError(`Path '${path}' is not absolute`);
  return path;
}

/** @throws {CommandError} For a URL that cannot be fetched here. */
function refuseScheme(url: string, scheme: string): void {
  if (["http", "https"].includes(scheme)) return;
  throw new CommandError(
    `Cannot fetch '${hideCredentials(url)}': ${scheme}:// is not supported here; salt, http, https and file are`,
  );
}

/** Whether a copy has the wanted digest. An invalid digest never matches. */
function hasSourceHash(path: string, sourceHash: string | undefined): boolean {
  const hash = sourceHash?.slice(sourceHash.lastIndexOf("=") + 1);
  return hash !== undefined && [32, 40, 56, 64, 96, 128].includes(hash.length) && isFile(path) && hasHash(path, hash);
}
