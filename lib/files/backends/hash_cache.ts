/**
 * Digests of files that are served, cached as long as a file does not change: in memory, and for large files also on
 * disk, for the other threads and the next master. Computing the digest of a small file costs no more than reading a
 * stored one.
 *
 * A file is the same if its inode, size and times are. A file that changed a moment ago may change again with the same
 * time, so its digest is not stored.
 * @module
 */

import { dirName } from "#lib/os/paths.ts";
import { directoriesIn } from "#lib/os/directory_names.ts";
import { messageOf } from "#lib/errors.ts";
import { isGone } from "#lib/os/deno_texts.ts";
import { BoundedMap } from "#lib/values/bounded_map.ts";
import type { BackendHost } from "#lib/plugins/file_backend.ts";
import { digestFile, digestSmallFile, SMALL } from "./pieces.ts";
import { environmentOf, fileNameOf } from "./safe_path.ts";

/** Maximum number of digests that a thread caches. */
const MAX_CACHED = 20_000;
/** Minimum size of a file, in bytes, for its digest to be cached on disk too. */
const LARGE = 1 << 20;
/** Minimum age of a file's last change, in milliseconds, for its digest to be stored. */
const SETTLED_MS = 2_000;

/** How often a file that changes meanwhile is read: one that is always written, such as a log, never stays the same. */
const MAX_ROUNDS = 3;

/** A file in an environment. */
interface Hashed {
  readonly path: string;
  readonly saltenv: string;
  /** Its path in the environment. */
  readonly rel: string;
}

interface CachedHash {
  readonly identity: string;
  readonly hash: string;
}

/** The digests of one backend. */
export class HashCache {
  readonly #directory: string;
  readonly #hashType: string;
  readonly #host: BackendHost;
  readonly #cache = new BoundedMap<string, CachedHash>(MAX_CACHED);
  readonly #running = new Map<string, Promise<string | undefined>>();

  /** @param directory Of the digests on disk: `<cachedir>/roots/hash`. */
  constructor(directory: string, hashType: string, host: BackendHost) {
    this.#directory = directory;
    this.#hashType = hashType;
    this.#host = host;
  }

  /**
   * The digest of a file, in hexadecimal digits; `undefined` if there is none. Equal requests at one time share the
   * work.
   */
  get(file: Hashed): Promise<string | undefined> {
    const running = this.#running.get(file.path);
    if (running !== undefined) return running;
    const started = this.#get(file).finally(() => this.#running.delete(file.path));
    this.#running.set(file.path, started);
    return started;
  }

  async #get(file: Hashed): Promise<string | undefined> {
    try {
      for (let round = 1;; round++) {
        const before = Deno.statSync(file.path);
        if (!before.isFile) return undefined;
        const identity = identityOf(before);
        const entry = this.#cache.get(file.path);
        if (entry?.identity === identity) return entry.hash;
        const large = before.size >= LARGE;
        const hash = (large ? await this.#read(file, identity) : undefined) ??
          (before.size <= SMALL ? digestSmallFile(file.path, this.#hashType) : undefined) ??
          await digestFile(file.path, this.#hashType);
        const after = Deno.statSync(file.path);
        if (identityOf(after) !== identity) { // it changed while it was read
          if (round < MAX_ROUNDS) continue;
          return hash;
        }
        const changed = Math.max(after.mtime?.getTime() ?? 0, after.ctime?.getTime() ?? 0);
        if (Date.now() - changed < SETTLED_MS) return hash;
        this.#cache.set(file.path, { identity, hash });
        if (large) await this.#write(file, { identity, hash });
        return hash;
      }
    } catch (error) {
      if (isGone(error)) return undefined;
      throw error;
    }
  }

  #pathOf({ saltenv, rel }: Hashed): string {
    return `${this.#directory}/${fileNameOf(saltenv)}/${rel}.hash.${this.#hashType}`;
  }

  async #read(file: Hashed, identity: string): Promise<string | undefined> {
    try {
      const [hash, of] = (await Deno.readTextFile(this.#pathOf(file))).split(":");
      return of === identity ? hash : undefined;
    } catch {
      return undefined; // there is none, or its name is too long
    }
  }

  async #write(file: Hashed, { identity, hash }: CachedHash): Promise<void> {
    const path = this.#pathOf(file);
    try {
      await Deno.mkdir(dirName(path), { recursive: true });
      const temporary = `${path}.${crypto.randomUUID().slice(0, 8)}`;
      await Deno.writeTextFile(temporary, `${hash}:${identity}`);
      await Deno.rename(temporary, path);
    } catch (error) {
      this.#host.log("debug", `The digest of ${file.path} cannot be stored: ${messageOf(error)}`);
    }
  }

  /** Removes the digests on disk of files that `isThere` does not know. */
  async reap(isThere: (rel: string, saltenv: string) => Promise<boolean>): Promise<void> {
    for (const saltenv of await directoriesIn(this.#directory)) {
      await reapIn(`${this.#directory}/${saltenv}`, "", (rel) => isThere(rel, environmentOf(saltenv)));
    }
  }
}

function identityOf({ dev, ino, size, mtime, ctime }: Deno.FileInfo): string {
  return [dev, ino, size, mtime?.getTime(), ctime?.getTime()].join("-");
}

/** Removes unneeded files below a directory, and directories that become empty. */
async function reapIn(top: string, below: string, isThere: (rel: string) => Promise<boolean>): Promise<void> {
  const directory = below === "" ? top : `${top}/${below}`;
  let kept = 0;
  for await (const { name, isDirectory } of Deno.readDir(directory)) {
    const rel = below === "" ? name : `${below}/${name}`;
    if (isDirectory) {
      await reapIn(top, rel, isThere);
    } else {
      const file = /^(.*)\.hash\.\w+$/s.exec(rel)?.[1];
      if (file !== undefined && await isThere(file)) kept++;
      else await Deno.remove(`${directory}/${name}`).catch(() => {});
    }
  }
  // Fails, as intended, if it is not empty.
  if (kept === 0 && below !== "") await Deno.remove(directory).catch(() => {});
}
