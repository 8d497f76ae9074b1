/**
 * The interface of backends of the file server: a backend has environments, and files in them. `lib/files/server` asks
 * the backends, one after the other; they are in `modules/fileserver`.
 * @module
 */

import type { FILE_SERVER_OPTIONS } from "#lib/config/file_server_options.ts";
import type { Loaded } from "#lib/config/option_types.ts";
import type { BackendName } from "#lib/config/backend_names.ts";
import type { ValueMap } from "#lib/values/value.ts";

/** The options that backends read; masters and minions have all of them. */
export interface FileServerOpts extends Readonly<Loaded<typeof FILE_SERVER_OPTIONS>> {
  readonly cachedir: string;
  readonly hash_type: string;
  /** Bytes of a piece of a file. */
  readonly file_buffer_size: number;
  /** Whether minions may push files. Only masters have it. */
  readonly file_recv?: boolean;
}

/** The services that backends use. */
export interface BackendHost {
  /** Writes a line to the log. */
  log(level: "error" | "warning" | "info" | "debug", message: string): void;
}

/** A file that a backend has. */
export interface FoundFile {
  /** Where it is on this host. */
  readonly path: string;
  /** Its path in the environment. */
  readonly rel: string;
  /**
   * Python's `os.stat` as a list: mode, inode, device, links, uid, gid, size, atime, mtime, ctime. For a file in git,
   * only the mode.
   */
  readonly stat: readonly number[];
}

/** The contents of an environment. Names are sorted. */
export interface FileLists {
  readonly files: readonly string[];
  readonly dirs: readonly string[];
  readonly emptyDirs: readonly string[];
  /** The text of each link, by its path. */
  readonly links: ReadonlyMap<string, string>;
}

/** An environment without files. */
export const NO_LISTS: FileLists = { files: [], dirs: [], emptyDirs: [], links: new Map() };

/** A request for a file. */
export interface FileRequest {
  /** A relative path without `..`, as lib/files/backends/safe_path.ts makes it. */
  readonly path: string;
  readonly saltenv: string;
  /** The query after `?` in the request, without the environment. */
  readonly query: ReadonlyMap<string, string>;
}

/**
 * A source of files. Each method may be called many times at once, and returns an empty result for an unknown
 * environment.
 */
export interface FileBackend {
  /** The environments, sorted. */
  envs(): Promise<readonly string[]>;
  /** The file; `undefined` if there is none, or it is outside. */
  find(request: FileRequest): Promise<FoundFile | undefined>;
  /**
   * Whether `file`, which {@linkcode find} gave, is part of `saltenv`. A request may find a file in another environment
   * by its query.
   */
  serves(file: FoundFile, saltenv: string): Promise<boolean>;
  /** The digest of a file that {@linkcode find} gave, in hexadecimal digits; `undefined` if it has gone. */
  hash(file: FoundFile, saltenv: string): Promise<string | undefined>;
  lists(saltenv: string): Promise<FileLists>;
  /** The parts that are updated separately, with their intervals in seconds. */
  intervals(): readonly UpdateTarget[];
  /**
   * Updates the backend.
   * @param targets The ids of what is updated; all if there are none.
   * @returns The data of the event about it; `undefined` if the backend has no event.
   */
  update(targets: readonly string[], wanted: UpdateOptions): Promise<ValueMap | undefined>;
  /** Removes cached data of files that no longer exist. */
  reap?(): Promise<void>;
  /**
   * Removes all cached data.
   * @returns The errors.
   */
  clearCache?(): Promise<string[]>;
  /**
   * Allows updates that another process has locked.
   * @param pattern A glob for the repository; all if there is none.
   */
  clearLock?(pattern?: string): Promise<LockResult>;
  /** Locks updates. */
  lock?(pattern?: string): Promise<LockResult>;
}

/** A part of a backend that is updated at its own interval. */
export interface UpdateTarget {
  /** Its id, for {@linkcode FileBackend.update}; `undefined`: the whole backend. */
  readonly id?: string;
  /** In seconds; `undefined`: the option of the backend. */
  readonly intervalS?: number;
}

export interface UpdateOptions {
  /** Whether the list of changes is needed. Otherwise a backend need not compute it. */
  readonly changes: boolean;
  /** Aborted when it is to end early. */
  readonly signal: AbortSignal;
}

/** The actions on locks as texts, and the errors. */
export interface LockResult {
  readonly done: readonly string[];
  readonly errors: readonly string[];
}

/** The exports of a backend's file. */
export interface BackendModule {
  /** Opens it with the options of this master or minion; `undefined` if they leave it without a purpose. */
  open(opts: FileServerOpts, host: BackendHost): FileBackend | undefined;
}

/** What loads each backend, by its name in `fileserver_backend`. */
export type BackendTable = Readonly<Record<BackendName, () => Promise<BackendModule>>>;
