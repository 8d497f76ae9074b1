/**
 * The lists of an environment's files, kept for some seconds in `<cachedir>/file_lists/<backend>/<env>.p` for all
 * threads and processes, in Salt's form, and in memory while that file is unchanged. Salt locks while it makes a list;
 * here each thread makes one at a time, and a file is replaced whole. Source: Salt 3008.3 `salt/fileserver/__init__.py`
 * check_file_list_cache.
 * @module
 */

import { messageOf } from "#lib/errors.ts";
import { BoundedMap } from "#lib/values/bounded_map.ts";
import { decode, encode } from "#lib/values/msgpack.ts";
import { isMap, map, type Value } from "#lib/values/value.ts";
import type { BackendHost, FileLists } from "#lib/plugins/file_backend.ts";
import { fileNameOf } from "./safe_path.ts";

/** Interval at which the times of directories are looked at, in milliseconds. */
const LOOK_MS = 1_000;
/**
 * A directory that changed so shortly before its list was written may have changed after it was read, in milliseconds.
 */
const UNSURE_MS = 1_000;

/** Maximum number of environments whose lists a thread caches. */
const MAX_CACHED = 64;

/** How lists are made. */
export interface ListSource {
  /** The directories of the environment. */
  readonly roots: readonly string[];
  make(): Promise<FileLists>;
}

/** One version of the file of lists. */
interface Version {
  readonly identity: string;
  readonly writtenMs: number;
}

interface CachedLists {
  readonly identity: string;
  readonly lists: FileLists;
}

/** The lists of one backend. */
export class ListCache {
  readonly #directory: string;
  readonly #seconds: number;
  readonly #host: BackendHost;
  readonly #cache = new BoundedMap<string, CachedLists>(MAX_CACHED);
  readonly #running = new Map<string, Promise<FileLists>>();
  /** When the directories of an environment were looked at, by `performance.now()`. */
  readonly #looked = new BoundedMap<string, number>(MAX_CACHED);

  /**
   * @param directory `<cachedir>/file_lists/<backend>`.
   * @param seconds For how long a list is used.
   */
  constructor(directory: string, seconds: number, host: BackendHost) {
    this.#directory = directory;
    this.#seconds = seconds;
    this.#host = host;
  }

  /**
   * The cached lists of `saltenv`, or new ones. New ones are made before the time is over if a directory has changed: a
   * file that was written a moment ago is found. Equal requests at one time share the work.
   */
  get(saltenv: string, source: ListSource): Promise<FileLists> {
    const running = this.#running.get(saltenv);
    if (running !== undefined) return running;
    const started = this.#get(saltenv, source).finally(() => this.#running.delete(saltenv));
    this.#running.set(saltenv, started);
    return started;
  }

  async #get(saltenv: string, { roots, make }: ListSource): Promise<FileLists> {
    const path = `${this.#directory}/${fileNameOf(saltenv)}.p`;
    const version = await this.#youngVersion(path);
    const entry = version && await this.#known(saltenv, path, version);
    if (entry !== undefined && !this.#hasChanged(saltenv, roots, { dirs: entry.dirs, writtenMs: version!.writtenMs })) {
      return entry;
    }
    const lists = await make();
    await this.#write(path, lists);
    const youngest = await this.#youngVersion(path);
    if (youngest !== undefined) this.#cache.set(saltenv, { identity: youngest.identity, lists });
    return lists;
  }

  async #known(saltenv: string, path: string, { identity }: Version): Promise<FileLists | undefined> {
    const entry = this.#cache.get(saltenv);
    if (entry?.identity === identity) return entry.lists;
    const lists = await readLists(path);
    if (lists !== undefined) this.#cache.set(saltenv, { identity, lists });
    return lists;
  }

  /** Whether a directory has changed since its list was written; looked at once a second. */
  #hasChanged(
    saltenv: string,
    roots: readonly string[],
    { dirs, writtenMs }: { readonly dirs: readonly string[]; readonly writtenMs: number },
  ): boolean {
    const nowMs = performance.now();
    if (nowMs - (this.#looked.get(saltenv) ?? -LOOK_MS) < LOOK_MS) return false;
    this.#looked.set(saltenv, nowMs);
    const places = roots.flatMap((root) => [root, ...dirs.map((dir) => `${root}/${dir}`)]);
    return places.some((place) => modifiedMs(place) >= writtenMs - UNSURE_MS);
  }

  /** This version of the file; `undefined` if there is none that is young enough. */
  async #youngVersion(path: string): Promise<Version | undefined> {
    try {
      const { mtime, size, ino } = await Deno.stat(path);
      const age = Math.floor(Date.now() / 1000) - Math.floor((mtime?.getTime() ?? 0) / 1000);
      // A time in the future is not valid.
      const identity = `${mtime?.getTime()}-${size}-${ino}`;
      return age >= 0 && age < this.#seconds ? { identity, writtenMs: mtime?.getTime() ?? 0 } : undefined;
    } catch {
      return undefined;
    }
  }

  async #write(path: string, { files, dirs, emptyDirs, links }: FileLists): Promise<void> {
    try {
      await Deno.mkdir(this.#directory, { recursive: true });
      const temporary = `${path}.${crypto.randomUUID().slice(0, 8)}`;
      const lists = map({ files, dirs, empty_dirs: emptyDirs, links: new Map(links) });
      await Deno.writeFile(temporary, encode(lists, "disk"));
      await Deno.rename(temporary, path);
    } catch (error) {
      this.#host.log("error", `The list of files ${path} cannot be stored: ${messageOf(error)}`);
    }
  }
}

/** When a directory changed, in milliseconds since the epoch; 0 if there is none. */
function modifiedMs(directory: string): number {
  try {
    return Deno.statSync(directory).mtime?.getTime() ?? 0;
  } catch {
    return 0; // a directory of another root, or one that was removed: then its parent has changed
  }
}

/** The lists in a file; `undefined` if the file does not exist or has other contents. */
async function readLists(path: string): Promise<FileLists | undefined> {
  try {
    const value = decode(await Deno.readFile(path), "disk");
    if (!isMap(value)) return undefined;
    const links = value.get("links");
    return {
      files: texts(value.get("files")),
      dirs: texts(value.get("dirs")),
      emptyDirs: texts(value.get("empty_dirs")),
      links: new Map([...isMap(links) ? links : []].filter((link): link is [string, string] => link.every(isText))),
    };
  } catch {
    return undefined;
  }
}

function texts(list: Value | undefined): string[] {
  return Array.isArray(list) ? list.filter(isText) : [];
}

function isText(value: Value): value is string {
  return typeof value === "string";
}
