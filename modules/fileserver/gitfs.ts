/**
 * Backend `gitfs`: files of git repositories; branches, tags and commits are environments. git is called as a program.
 * What was fetched last is served, whether or not a remote answers. Source: the functions and results of Salt 3008.3
 * `salt/fileserver/gitfs.py`, `salt/utils/gitfs.py`.
 * @module
 */

import { namesIn } from "#lib/os/directory_names.ts";
import {
  type BackendHost,
  type FileBackend,
  type FileLists,
  type FileRequest,
  type FileServerOpts,
  type FoundFile,
  type LockResult,
  NO_LISTS,
  type UpdateOptions,
  type UpdateTarget,
} from "#lib/plugins/file_backend.ts";
import { isExposed } from "#lib/files/backends/exposed.ts";
import { digestFile } from "#lib/files/backends/pieces.ts";
import { messageOf } from "#lib/errors.ts";
import { GitRemote } from "#lib/files/git/remote.ts";
import { gitfsRemotes } from "#lib/files/git/remote_options.ts";
import { isHex, RemoteEnvs } from "#lib/files/git/remote_envs.ts";
import { fileAt } from "#lib/files/git/tree.ts";
import { isGone } from "#lib/os/deno_texts.ts";
import { compileGlob } from "#lib/text/glob.ts";
import { BoundedMap } from "#lib/values/bounded_map.ts";
import { compareStrings, map, type ValueMap } from "#lib/values/value.ts";

/** Number of digests that a thread remembers. */
const MAX_DIGESTS = 20_000;

class GitFiles implements FileBackend {
  readonly #opts: FileServerOpts;
  readonly #host: BackendHost;
  readonly #remotes: readonly RemoteEnvs[];
  /** By the path of the file in the cache, whose content never changes. */
  readonly #digests = new BoundedMap<string, Promise<string>>(MAX_DIGESTS);

  constructor(opts: FileServerOpts, host: BackendHost) {
    this.#opts = opts;
    this.#host = host;
    this.#remotes = gitfsRemotes(opts, (message) => host.log("warning", message)).map((options) => {
      const remote = new GitRemote(options, { cacheRoot: this.#cacheRoot, hashType: opts.hash_type });
      return new RemoteEnvs(remote, isExposed(options.whitelist, options.blacklist));
    });
  }

  get #cacheRoot(): string {
    return `${this.#opts.cachedir}/gitfs`;
  }

  async envs(): Promise<string[]> {
    const envs = await Promise.all(this.#remotes.map((remote) => remote.envs()));
    return [...new Set(envs.flat())].sort(compareStrings);
  }

  async find({ path, saltenv }: FileRequest): Promise<FoundFile | undefined> {
    const envs = await this.envs();
    for (const remote of this.#remotes) {
      const { root, mountPoint } = remote.place(saltenv);
      if (!path.startsWith(mountPoint)) continue;
      const tree = await remote.tree(saltenv, envs);
      const inside = path.slice(mountPoint.length);
      const file = tree === undefined ? undefined : fileAt(tree, root === "" ? inside : `${root}/${inside}`);
      if (file !== undefined) return { path: await remote.remote.blob(file.oid), rel: path, stat: [file.mode] };
    }
    return undefined;
  }

  serves(_file: FoundFile, _saltenv: string): Promise<boolean> {
    return Promise.resolve(true);
  }

  async hash({ path }: FoundFile): Promise<string | undefined> {
    const earlier = this.#digests.get(path);
    if (earlier !== undefined) return await earlier;
    const digest = digestFile(path, this.#opts.hash_type);
    this.#digests.set(path, digest);
    try {
      return await digest;
    } catch (error) {
      this.#digests.delete(path);
      if (isGone(error)) return undefined;
      throw error;
    }
  }

  async lists(saltenv: string): Promise<FileLists> {
    const files = new Set<string>(), dirs = new Set<string>(), links = new Map<string, string>();
    const envs = await this.envs();
    for (const remote of this.#remotes) {
      const tree = await remote.tree(saltenv, envs);
      const place = remote.place(saltenv);
      if (tree === undefined || (place.root !== "" && !tree.dirs.includes(place.root))) continue;
      const start = place.root === "" ? "" : `${place.root}/`;
      const mountedPath = (path: string) => place.mountPoint + path.slice(start.length);
      const inside = (path: string) => path.startsWith(start);
      for (const path of tree.files.keys()) if (inside(path)) files.add(mountedPath(path));
      for (const path of tree.dirs) if (inside(path)) dirs.add(mountedPath(path));
      for (const [path, text] of tree.links) if (inside(path)) links.set(mountedPath(path), text);
      if (place.mountPoint !== "") dirs.add(place.mountPoint.slice(0, -1));
    }
    if (files.size === 0 && dirs.size === 0) return NO_LISTS;
    // As in Salt, which lists no links of an environment that `gitfs_fallback` alone gives.
    if (!envs.includes(saltenv) && !isHex(saltenv)) links.clear();
    return {
      files: [...files].sort(compareStrings),
      dirs: [...dirs].sort(compareStrings),
      emptyDirs: [],
      links: new Map([...links].sort(([a], [b]) => compareStrings(a, b))),
    };
  }

  intervals(): readonly UpdateTarget[] {
    return this.#remotes.map(({ remote: { options } }) => ({
      id: options.name ?? options.id,
      intervalS: options.updateInterval,
    }));
  }

  /** Fetches all remotes at once: one that does not answer holds up no other. */
  async update(targets: readonly string[], { signal }: UpdateOptions): Promise<ValueMap> {
    const wanted = this.#remotes.filter(({ remote: { options } }) =>
      targets.length === 0 || targets.includes(options.id) || targets.includes(options.name ?? "")
    );
    const removed = targets.length === 0 && await this.#removeOld();
    const changes = await Promise.all(wanted.map((remote) => this.#fetch(remote.remote, signal)));
    return map({ changed: removed || changes.includes(true), backend: "gitfs" });
  }

  async #fetch(remote: GitRemote, signal: AbortSignal): Promise<boolean> {
    const { id } = remote.options;
    try {
      const result = await remote.fetch(signal);
      if (result === "locked") {
        this.#host.log(
          "warning",
          `Update lock file is present for gitfs remote '${id}', skipping. If this warning persists, it is possible that the update ` +
            `process was interrupted, but the lock could also have been manually set. Removing ${remote.lock.path} or running ` +
            "'salt-run cache.clear_git_lock gitfs type=update' will allow updates to continue for this remote.",
        );
      }
      return result === "changed";
    } catch (error) {
      if (!signal.aborted) this.#host.log("error", `The gitfs remote '${id}' cannot be updated: ${messageOf(error)}`);
      return false;
    }
  }

  /**
   * Removes the repositories of remotes that are not configured any more.
   * @returns Whether there were some.
   */
  async #removeOld(): Promise<boolean> {
    const used = new Set(["work", ...this.#remotes.map(({ remote }) => remote.directoryName)]);
    let removed = false;
    for (const name of await namesIn(this.#cacheRoot)) {
      if (used.has(name)) continue;
      await Deno.remove(`${this.#cacheRoot}/${name}`, { recursive: true });
      removed = true;
    }
    return removed;
  }

  async reap(): Promise<void> {
    for (const { remote } of this.#remotes) await remote.reap();
  }

  async clearCache(): Promise<string[]> {
    const errors: string[] = [];
    for (const path of [this.#cacheRoot, `${this.#opts.cachedir}/file_lists/gitfs`]) {
      try {
        await Deno.remove(path, { recursive: true });
      } catch (error) {
        if (!isGone(error)) errors.push(`Unable to delete ${path}: ${messageOf(error)}`);
      }
    }
    return errors;
  }

  clearLock(pattern?: string): Promise<LockResult> {
    return this.#locks(pattern, (remote) => remote.lock.clear());
  }

  lock(pattern?: string): Promise<LockResult> {
    return this.#locks(pattern, (remote) => remote.lock.set());
  }

  async #locks(pattern: string | undefined, change: (remote: GitRemote) => Promise<LockResult>): Promise<LockResult> {
    const matches = pattern === undefined ? () => true : compileGlob(pattern);
    const chosen = this.#remotes.filter(({ remote }) => matches(remote.options.url));
    const results = await Promise.all(chosen.map(({ remote }) => change(remote)));
    return { done: results.flatMap(({ done }) => done), errors: results.flatMap(({ errors }) => errors) };
  }
}

/**
 * Opens the backend.
 * @throws {ConfigError} If the configuration of a remote cannot be used.
 */
export function open(opts: FileServerOpts, host: BackendHost): FileBackend {
  return new GitFiles(opts, host);
}
