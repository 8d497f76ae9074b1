/**
 * Backend `minionfs`: the files that minions pushed, as `<minion>/<path>`, for all minions. Only with `file_recv`. A
 * link among them is never followed, and no `top.sls` of a minion is served: it would decide what others run. Source:
 * the functions and results of Salt 3008.3 `salt/fileserver/minionfs.py`.
 * @module
 */

import { directoriesIn } from "#lib/os/directory_names.ts";
import {
  type BackendHost,
  type FileBackend,
  type FileLists,
  type FileRequest,
  type FileServerOpts,
  type FoundFile,
  NO_LISTS,
  type UpdateTarget,
} from "#lib/plugins/file_backend.ts";
import { isExposed } from "#lib/files/backends/exposed.ts";
import { findBelow } from "#lib/files/backends/find_below.ts";
import { HashCache } from "#lib/files/backends/hash_cache.ts";
import { ignoredFiles } from "#lib/files/backends/ignored.ts";
import { pushedFiles } from "#lib/files/backends/received_files.ts";
import { mountPoint } from "#lib/files/backends/salt_url.ts";
import { walkRoots } from "#lib/files/backends/walk_roots.ts";
import { isValidId } from "#lib/protocol/minion_id.ts";
import { compareStrings, type ValueMap } from "#lib/values/value.ts";

class MinionFiles implements FileBackend {
  readonly #opts: FileServerOpts;
  readonly #mountPoint: string;
  readonly #ignores: (path: string) => boolean;
  readonly #exposes: (minion: string) => boolean;
  readonly #hashes: HashCache;

  constructor(opts: FileServerOpts, host: BackendHost) {
    this.#opts = opts;
    this.#mountPoint = mountPoint(opts.minionfs_mountpoint);
    this.#ignores = ignoredFiles(opts, host);
    this.#exposes = isExposed(opts.minionfs_whitelist, opts.minionfs_blacklist);
    this.#hashes = new HashCache(`${opts.cachedir}/minionfs/hash`, opts.hash_type, host);
  }

  envs(): Promise<string[]> {
    return Promise.resolve([this.#opts.minionfs_env]);
  }

  async find({ path, saltenv }: FileRequest): Promise<FoundFile | undefined> {
    if (saltenv !== this.#opts.minionfs_env || path.split("/").at(-1) === "top.sls") return undefined;
    const rel = path.startsWith(this.#mountPoint) ? path.slice(this.#mountPoint.length) : "";
    const slash = rel.indexOf("/");
    const minion = rel.slice(0, Math.max(slash, 0));
    if (!isValidId(minion) || !this.#exposes(minion)) return undefined;
    const file = await findBelow(pushedFiles(this.#opts.cachedir, minion), rel.slice(slash + 1), { follow: false });
    return file === undefined || this.#ignores(file.path) ? undefined : { ...file, rel };
  }

  serves(_file: FoundFile, _saltenv: string): Promise<boolean> {
    return Promise.resolve(true);
  }

  hash({ path, rel }: FoundFile, saltenv: string): Promise<string | undefined> {
    return this.#hashes.get({ path, rel, saltenv });
  }

  async lists(saltenv: string): Promise<FileLists> {
    if (saltenv !== this.#opts.minionfs_env) return NO_LISTS;
    const files: string[] = [], dirs: string[] = [];
    for (const minion of (await directoriesIn(`${this.#opts.cachedir}/minions`)).sort(compareStrings)) {
      if (!this.#exposes(minion)) continue;
      const lists = await walkRoots([pushedFiles(this.#opts.cachedir, minion)], {
        follow: false,
        withoutLinks: true,
        ignores: () => false,
      });
      const place = `${this.#mountPoint}${minion}`;
      files.push(...lists.files.map((path) => `${place}/${path}`).filter((path) => !this.#ignores(path)));
      dirs.push(...lists.dirs.map((path) => `${place}/${path}`));
    }
    return { ...NO_LISTS, files: files.sort(compareStrings), dirs: dirs.sort(compareStrings) };
  }

  intervals(): readonly UpdateTarget[] {
    return [{}];
  }

  /** There is nothing to update: what has been pushed is there. */
  update(): Promise<ValueMap | undefined> {
    return Promise.resolve(undefined);
  }

  async reap(): Promise<void> {
    await this.#hashes.reap(async (rel, saltenv) => {
      const path = `${this.#mountPoint}${rel}`;
      return await this.find({ path, saltenv, query: new Map() }) !== undefined;
    });
  }
}

/** Opens the backend; `undefined` if minions may push nothing. */
export function open(opts: FileServerOpts, host: BackendHost): FileBackend | undefined {
  return opts.file_recv ? new MinionFiles(opts, host) : undefined;
}
