/**
 * The file server: asks the backends of `fileserver_backend`, in their order. The master answers its minions by it, and
 * a minion without a master itself. It keeps no connection and no process; it may be used by many at once. Source: the
 * functions and results of Salt 3008.3 `salt/fileserver/__init__.py` Fileserver.
 * @module
 */

import { stripChars } from "#lib/values/python_text.ts";
import {
  type BackendHost,
  type BackendTable,
  type FileBackend,
  type FileLists,
  type FileServerOpts,
  type FoundFile,
} from "#lib/plugins/file_backend.ts";
import { readPiece } from "#lib/files/backends/pieces.ts";
import { safePath } from "#lib/files/backends/safe_path.ts";
import { splitQuery } from "#lib/files/backends/salt_url.ts";
import { compareStrings } from "#lib/values/value.ts";
import { messageOf } from "#lib/errors.ts";
import { BACKEND_NAMES, type BackendName, backendNames, isBackendName } from "#lib/config/backend_names.ts";

/** A file, and the backend that has it. */
export interface ServedFile extends FoundFile {
  /** The backend's name. */
  readonly back: string;
}

/** A digest as minions get it. */
export interface ServedFileHash {
  /** Its name: `sha256`. */
  readonly hash_type: string;
  /** Its hexadecimal digits. */
  readonly hsum: string;
}

/** What to list of an environment. */
export interface FileListOptions {
  /** Only what begins with this. */
  readonly prefix?: string;
  /** Only these backends, or with `-` before each, all but these: `"roots,gitfs"`. */
  readonly backend?: Backends;
}

/** Names of backends, in a list or with commas; unknown ones are ignored. */
export type Backends = string | readonly string[] | undefined;

/** The reply to a request for a piece of a file. */
export interface FilePiece {
  /** Empty at the end of the file, and behind it. */
  readonly data: Uint8Array<ArrayBuffer>;
  /** The path of the file in its environment; empty if there is no such file. */
  readonly dest: string;
}

/** An opened backend. */
export interface NamedBackend {
  readonly name: BackendName;
  readonly backend: FileBackend;
}

/** The services that a file server uses. */
export interface FileServerHost extends BackendHost {
  /** What `fileserver_backend` chooses from. */
  readonly backends: BackendTable;
}

/** Answers for all backends. */
export class FileServer {
  readonly #opts: FileServerOpts;
  readonly #host: FileServerHost;
  #opened: Promise<readonly NamedBackend[]> | undefined;

  constructor(opts: FileServerOpts, host: FileServerHost) {
    this.#opts = opts;
    this.#host = host;
  }

  /** The backends that `chosen` names, in the order of the configuration or of `chosen`. */
  async backends(chosen: Backends = undefined): Promise<readonly NamedBackend[]> {
    const all = await (this.#opened ??= this.#open());
    const names = typeof chosen === "string" ? chosen.split(",") : chosen ?? [];
    if (names.length === 0 || chosen === "") return all;
    if (names.every((name) => name.startsWith("-"))) return all.filter(({ name }) => !names.includes(`-${name}`));
    return names.flatMap((wanted) => all.filter(({ name }) => name === wanted));
  }

  /** The environments of all backends, sorted. */
  async envs(chosen: Backends = undefined): Promise<string[]> {
    const envs = await Promise.all((await this.backends(chosen)).map(({ backend }) => backend.envs()));
    return [...new Set(envs.flat())].sort(compareStrings);
  }

  /** The environments of each backend. */
  async envsByBackend(chosen: Backends = undefined): Promise<Map<string, readonly string[]>> {
    const envs = new Map<string, readonly string[]>();
    for (const { name, backend } of await this.backends(chosen)) envs.set(name, await backend.envs());
    return envs;
  }

  /**
   * The first backend's file of this path. The path may end in a query (`?saltenv=dev`), or begin with `|`, which says
   * that it has none.
   * @returns `undefined` if there is none, and for paths that lead upwards or are absolute.
   */
  async findFile(path: string, saltenv: string): Promise<ServedFile | undefined> {
    const { path: pathname, query } = splitQuery(path);
    const safe = safePath(pathname);
    if (safe === undefined) return undefined;
    const request = { path: safe, saltenv: query.get("saltenv") ?? saltenv, query };
    for (const { name, backend } of await this.backends()) {
      const file = await backend.find(request);
      if (file !== undefined) return { ...file, back: name };
    }
    return undefined;
  }

  /** All files of an environment, sorted. */
  fileList(saltenv: string, options: FileListOptions = {}): Promise<string[]> {
    return this.#list(saltenv, options, ({ files }) => files);
  }

  /** All directories of an environment, sorted. */
  dirList(saltenv: string, options: FileListOptions = {}): Promise<string[]> {
    return this.#list(saltenv, options, ({ dirs }) => dirs);
  }

  /** All empty directories of an environment, sorted. */
  emptyDirs(saltenv: string, options: FileListOptions = {}): Promise<string[]> {
    return this.#list(saltenv, options, ({ emptyDirs }) => emptyDirs);
  }

  /** The text of each link of an environment. Of links with the same path that of the first backend. */
  async symlinkList(saltenv: string, { prefix, backend }: FileListOptions = {}): Promise<Map<string, string>> {
    const links = new Map<string, string>();
    const start = withoutSlashes(prefix);
    for (const lists of await this.#lists(saltenv, backend)) {
      for (const [path, text] of lists.links) if (path.startsWith(start) && !links.has(path)) links.set(path, text);
    }
    return links;
  }

  /** The digest of a file, and what `findFile` tells of it; `undefined` if there is no such file. */
  async hashAndStat(
    path: string,
    saltenv: string,
  ): Promise<{ readonly hash: ServedFileHash; readonly stat: readonly number[] } | undefined> {
    const file = await this.findFile(path, saltenv);
    if (file === undefined) return undefined;
    const hsum = await (await this.#backendOf(file))?.hash(file, saltenv);
    return hsum === undefined ? undefined : { hash: { hash_type: this.#opts.hash_type, hsum }, stat: file.stat };
  }

  /**
   * A piece of a file from `loc` on, `file_buffer_size` bytes or less.
   * @throws What the system throws.
   */
  async serveFile(
    request: { readonly path: string; readonly saltenv: string; readonly loc: number },
  ): Promise<FilePiece> {
    const none = { data: new Uint8Array() };
    const file = await this.findFile(request.path, request.saltenv);
    if (file === undefined) return { ...none, dest: "" };
    const served = await (await this.#backendOf(file))?.serves(file, request.saltenv);
    if (!served) return { ...none, dest: file.rel };
    return { data: await readPiece(file.path, request.loc, this.#opts.file_buffer_size), dest: file.rel };
  }

  async #list(
    saltenv: string,
    { prefix, backend }: FileListOptions,
    of: (lists: FileLists) => readonly string[],
  ): Promise<string[]> {
    const lists = (await this.#lists(saltenv, backend)).map(of).filter((paths) => paths.length > 0);
    const start = withoutSlashes(prefix);
    const paths = lists.length === 1 ? [...lists[0]] : [...new Set(lists.flat())].sort(compareStrings);
    return start === "" ? paths : paths.filter((path) => path.startsWith(start));
  }

  async #lists(saltenv: string, chosen: Backends): Promise<FileLists[]> {
    const backends = await this.backends(chosen);
    return await Promise.all(backends.map(({ backend }) => backend.lists(saltenv)));
  }

  async #backendOf({ back }: ServedFile): Promise<FileBackend | undefined> {
    return (await this.backends()).find(({ name }) => name === back)?.backend;
  }

  /** A backend that cannot be opened does not stop the others. */
  async #open(): Promise<NamedBackend[]> {
    const opened: NamedBackend[] = [];
    for (const name of backendNames(this.#opts.fileserver_backend)) {
      if (!isBackendName(name)) {
        this.#host.log("warning", `There is no file server backend ${name}; there are ${BACKEND_NAMES.join(", ")}`);
        continue;
      }
      try {
        const backend = (await this.#host.backends[name]()).open(this.#opts, this.#host);
        if (backend !== undefined) opened.push({ name, backend });
      } catch (error) {
        this.#host.log("error", `The file server backend ${name} cannot be used: ${messageOf(error)}`);
      }
    }
    return opened;
  }
}

function withoutSlashes(prefix = ""): string {
  return stripChars(prefix, "/");
}
