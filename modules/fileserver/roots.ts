/**
 * Backend `roots`: the files below the directories of the option `file_roots`.
 * Source: the functions and results of Salt 3008.3 `salt/fileserver/roots.py`.
 * @module
 */

import {
  type BackendHost,
  type FileBackend,
  type FileLists,
  type FileRequest,
  type FileServerOpts,
  type FoundFile,
  NO_LISTS,
  type UpdateOptions,
  type UpdateTarget,
} from "#lib/plugins/file_backend.ts";
import { ANY_ENV, environmentDirectories } from "#lib/files/backends/env_directories.ts";
import { findBelow } from "#lib/files/backends/find_below.ts";
import { HashCache } from "#lib/files/backends/hash_cache.ts";
import { ignoredFiles } from "#lib/files/backends/ignored.ts";
import { ListCache } from "#lib/files/backends/list_cache.ts";
import { loadMtimes, mtimeChanges, readMtimes, storeMtimes } from "#lib/files/backends/mtime_map.ts";
import { isBelow, isReallyBelow } from "#lib/files/backends/safe_path.ts";
import { rootsOf } from "#lib/files/backends/root_files.ts";
import { walkRoots } from "#lib/files/backends/walk_roots.ts";
import { absolutePath } from "#lib/os/paths.ts";
import { compareStrings, str, type ValueMap } from "#lib/values/value.ts";

class Roots implements FileBackend {
  readonly #opts: FileServerOpts;
  readonly #ignores: (path: string) => boolean;
  readonly #hashes: HashCache;
  readonly #lists: ListCache;

  constructor(opts: FileServerOpts, host: BackendHost) {
    this.#opts = opts;
    this.#ignores = ignoredFiles(opts, host);
    this.#hashes = new HashCache(`${opts.cachedir}/roots/hash`, opts.hash_type, host);
    this.#lists = new ListCache(`${opts.cachedir}/file_lists/roots`, opts.fileserver_list_cache_time, host);
  }

  envs(): Promise<string[]> {
    return Promise.resolve([...this.#opts.file_roots.keys()].map(str).sort(compareStrings));
  }

  async find({ path, saltenv, query }: FileRequest): Promise<FoundFile | undefined> {
    const index = query.get("index");
    const directories = this.#directories(saltenv);
    const chosen = index === undefined ? directories : chosenDirectory(directories, index);
    for (const root of chosen) {
      const file = await findBelow(root, path, { follow: this.#opts.fileserver_followsymlinks });
      if (file !== undefined && !this.#ignores(file.path)) return file;
    }
    return undefined;
  }

  async serves({ path }: FoundFile, saltenv: string): Promise<boolean> {
    for (const root of this.#directories(saltenv)) {
      if (!isBelow(absolutePath(root), absolutePath(path))) continue;
      if (this.#opts.fileserver_followsymlinks || await isReallyBelow(root, path)) return true;
    }
    return false;
  }

  hash({ path, rel }: FoundFile, saltenv: string): Promise<string | undefined> {
    return this.#hashes.get({ path, rel, saltenv });
  }

  async lists(saltenv: string): Promise<FileLists> {
    const directories = this.#directories(saltenv);
    // An environment that somebody invents is not written to disk.
    if (directories.length === 0 || !await anyExists(directories)) return NO_LISTS;
    const make = () =>
      walkRoots(directories, {
        follow: this.#opts.fileserver_followsymlinks,
        withoutLinks: this.#opts.fileserver_ignoresymlinks,
        ignores: this.#ignores,
      });
    return await this.#lists.get(saltenv, { roots: directories, make });
  }

  intervals(): readonly UpdateTarget[] {
    return [{}];
  }

  /** Reads the times of all files, if somebody wants to know what changed: nothing else depends on them. */
  async update(_targets: readonly string[], { changes }: UpdateOptions): Promise<ValueMap | undefined> {
    if (!changes) return undefined;
    const path = `${this.#opts.cachedir}/roots/mtime_map`;
    const roots = [...this.#opts.file_roots.keys()].flatMap((saltenv) =>
      rootsOf(this.#opts.file_roots, str(saltenv)) ?? []
    );
    const now = await readMtimes(roots, this.#ignores);
    const event = mtimeChanges(await loadMtimes(path), now, "roots");
    await storeMtimes(path, now);
    return event;
  }

  async reap(): Promise<void> {
    await this.#hashes.reap(async (path, saltenv) =>
      await this.find({ path, saltenv, query: new Map() }) !== undefined
    );
  }

  /** The directories of an environment, in their order; none if there is no such environment. */
  #directories(saltenv: string): string[] {
    const own = rootsOf(this.#opts.file_roots, saltenv);
    if (own !== undefined && saltenv !== ANY_ENV) return own;
    const shared = rootsOf(this.#opts.file_roots, ANY_ENV) ?? [];
    return environmentDirectories(shared, saltenv, { follow: this.#opts.fileserver_followsymlinks }) ?? [];
  }
}

/** Opens the backend. */
export function open(opts: FileServerOpts, host: BackendHost): FileBackend {
  return new Roots(opts, host);
}

/** The one directory that a request names by its number, as Python reads it. */
function chosenDirectory(directories: readonly string[], index: string): string[] {
  const chosen = /^\s*[-+]?\d+\s*$/.test(index) ? directories.at(Number(index)) : undefined;
  return chosen === undefined ? [] : [chosen];
}

async function anyExists(paths: readonly string[]): Promise<boolean> {
  for (const path of paths) {
    try {
      await Deno.lstat(path);
      return true;
    } catch {
      // Not this one.
    }
  }
  return false;
}
