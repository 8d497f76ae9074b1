/**
 * The lists of an environment's files, kept for some seconds in `<cachedir>/file_lists/<backend>/<env>.p` for all threads and
 * processes, in Salt's form, and in memory while that file is unchanged. Salt locks while it makes a list; here each
 * thread makes one at a time, and a file is replaced whole. Source: Salt 3008.3 `salt/fileserver/__init__.py`
 * check_file_list_cache.
 * @module
 */

import { messageOf } from "../errors.ts";
import { BoundedMap } from "../values/bounded_map.ts";
import { decode, encode } from "../values/msgpack.ts";
import { isMap, map, type Value } from "../values/value.ts";
import type { BackendHost, FileLists } from "./backend.ts";
import { fileNameOf } from "./safe_path.ts";

/** Maximum number of environments whose lists a thread caches. */
const MAX_CACHED = 64;

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

  /** @param directory `<cachedir>/file_lists/<backend>`. @param seconds For how long a list is used. */
  constructor(directory: string, seconds: number, host: BackendHost) {
    this.#directory = directory;
    this.#seconds = seconds;
    this.#host = host;
  }

  /** The cached lists of `saltenv`, or new ones from `make`. Equal requests at one time share the work. */
  get(saltenv: string, make: () => Promise<FileLists>): Promise<FileLists> {
    const running = this.#running.get(saltenv);
    if (running !== undefined) return running;
    const started = this.#get(saltenv, make).finally(() => this.#running.delete(saltenv));
    this.#running.set(saltenv, started);
    return started;
  }

  async #get(saltenv: string, make: () => Promise<FileLists>): Promise<FileLists> {
    const path = `${this.#directory}/${fileNameOf(saltenv)}.p`;
    const identity = await this.#youngIdentity(path);
    if (identity !== undefined) {
      const known = this.#cache.get(saltenv);
      if (known?.identity === identity) return known.lists;
      const lists = await readLists(path);
      if (lists !== undefined) {
        this.#cache.set(saltenv, { identity, lists });
        return lists;
      }
    }
    const lists = await make();
    await this.#write(path, lists);
    const written = await this.#youngIdentity(path);
    if (written !== undefined) this.#cache.set(saltenv, { identity: written, lists });
    return lists;
  }

  /** The identity of this version of the file; `undefined` if there is none that is young enough. */
  async #youngIdentity(path: string): Promise<string | undefined> {
    try {
      const { mtime, size, ino } = await Deno.stat(path);
      const age = Math.floor(Date.now() / 1000) - Math.floor((mtime?.getTime() ?? 0) / 1000);
      // A time in the future is not valid.
      return age >= 0 && age < this.#seconds ? `${mtime?.getTime()}-${size}-${ino}` : undefined;
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
