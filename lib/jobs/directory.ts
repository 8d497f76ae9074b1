/**
 * Where a job's files are: `<cachedir>/jobs/<2 hex>/<rest of hash_type(jid)>/`, as Salt's `local_cache` has them.
 *
 * Finds and makes a job's directory, and reads and writes files in it. The parts of the file store know what the files
 * mean.
 * @module
 */

import { dirName } from "#lib/os/paths.ts";
import { readTextFileIfExists, writeFileAtomic } from "#lib/os/atomic_file.ts";
import { StoreError } from "#lib/errors.ts";
import { isJid, jidDirectory } from "#lib/protocol/jid.ts";
import { isFile } from "#lib/os/file_kind.ts";
import { isMissing } from "#lib/os/small_files.ts";
import {
  isFilled,
  listDirectory,
  readDirectory,
  readValue,
  type StoreLog,
  writeDirectoryOnce,
} from "#lib/os/store_files.ts";
import { BoundedMap } from "#lib/values/bounded_map.ts";
import type { Value } from "#lib/values/value.ts";

/** Number of tries to make a directory, whose parent the cleaning may remove at any moment. */
const ATTEMPTS = 5;

/**
 * Number of jobs whose paths are remembered: a request asks for the same one up to eight times, and each digest takes
 * 10 µs.
 */
const MAX_PATHS = 100;

/** The file that makes a directory a job's: it holds the jid. */
const JID_FILE = "jid";

/** The directories of one master's jobs. */
export class JobDirectories {
  /** The directory that holds them all. */
  readonly root: string;
  readonly #hashType: string;
  readonly #log: StoreLog;
  readonly #known = new BoundedMap<string, string>(MAX_PATHS);

  /**
   * @param options.cachedir The master's.
   * @param options.hashType The option `hash_type`.
   * @param options.log Logs what cannot be read.
   */
  constructor(options: { readonly cachedir: string; readonly hashType: string; readonly log: StoreLog }) {
    this.root = `${options.cachedir}/jobs`;
    this.#hashType = options.hashType;
    this.#log = options.log;
  }

  /** The directory of job `jid`, whether it is there or not; `undefined` if `jid` is not a jid. */
  find(jid: string): JobDirectory | undefined {
    return isJid(jid) ? new JobDirectory(jid, this.#path(jid), this.#log) : undefined;
  }

  #path(jid: string): string {
    const remembered = this.#known.get(jid);
    if (remembered !== undefined) return remembered;
    const path = `${this.root}/${jidDirectory(jid, this.#hashType)}`;
    this.#known.set(jid, path);
    return path;
  }

  /**
   * The directory of job `jid`, for what is to be stored.
   * @throws {StoreError} If `jid` is not a jid.
   */
  of(jid: string): JobDirectory {
    const directory = this.find(jid);
    if (directory === undefined) throw new StoreError(`Cannot store a job of the id ${JSON.stringify(jid)}`, this.root);
    return directory;
  }

  /** The path of every directory that is there, in no order. */
  *paths(): Generator<string> {
    for (const { name: top } of readDirectory(this.root, this.#log)) {
      if (top.startsWith(".")) continue; // a job that is being written
      const above = `${this.root}/${top}`;
      for (const { name } of readDirectory(above, this.#log)) yield `${above}/${name}`;
    }
  }
}

/** The directory of one job. */
export class JobDirectory {
  readonly jid: string;
  readonly path: string;
  readonly #log: StoreLog;

  /** The directory at `path`; nothing is created or read yet. */
  constructor(jid: string, path: string, log: StoreLog) {
    this.jid = jid;
    this.path = path;
    this.#log = log;
  }

  /** Whether the job is there. */
  get exists(): boolean {
    return isFile(`${this.path}/${JID_FILE}`);
  }

  /**
   * Makes it.
   * @throws {Deno.errors.AlreadyExists} If it is there.
   */
  create(): void {
    for (let attempt = 1;; attempt++) {
      try {
        Deno.mkdirSync(this.path, { mode: 0o700 });
        break;
      } catch (error) {
        if (!(error instanceof Deno.errors.NotFound) || attempt === ATTEMPTS) throw error;
        Deno.mkdirSync(dirName(this.path), { recursive: true, mode: 0o700 });
      }
    }
    this.#writeJid();
  }

  /**
   * Makes it with files in it, at once.
   * @param temporary An unused path in the same file system.
   * @returns Whether this call made it; false if it is there, or the directory above is not.
   */
  createWith(files: ReadonlyMap<string, Uint8Array>, temporary: string): boolean {
    const all = new Map([...files, [JID_FILE, new TextEncoder().encode(this.jid)]]);
    return writeDirectoryOnce(this.path, all, { essential: JID_FILE, temporary }) ?? false;
  }

  /** Makes the directory and its `jid` file if they are missing. */
  ensure(): void {
    if (isMissing(this.path)) {
      try {
        return this.create();
      } catch (error) {
        if (!(error instanceof Deno.errors.AlreadyExists)) throw error;
      }
    }
    Deno.mkdirSync(this.path, { recursive: true, mode: 0o700 });
    if (!this.isWhole) this.#writeJid();
  }

  /** Whether it exists and its `jid` file has contents: after a power failure that file may be empty. */
  get isWhole(): boolean {
    return isFilled(`${this.path}/${JID_FILE}`, this.jid.length);
  }

  #writeJid(): void {
    Deno.writeTextFileSync(`${this.path}/${JID_FILE}`, this.jid, { mode: 0o600 });
  }

  /**
   * Writes a whole file in it; the directory is created if it does not exist.
   * @param options As those of `writeFileAtomic`.
   */
  write(name: string, data: Uint8Array | string, options: Parameters<typeof writeFileAtomic>[2] = {}): void {
    const write = () => writeFileAtomic(`${this.path}/${name}`, data, options);
    try {
      write();
    } catch (error) {
      if (!(error instanceof Deno.errors.NotFound)) throw error;
      this.ensure();
      write();
    }
  }

  /** The value in a msgpack file; `undefined` if it is not there, or cannot be read, which is logged. */
  read(name: string): Value | undefined {
    const path = `${this.path}/${name}`;
    return isMissing(path) ? undefined : readValue(path, this.#log);
  }

  /** Whether there is a regular file of that name in it. */
  has(name: string): boolean {
    const path = `${this.path}/${name}`;
    return !isMissing(path) && isFile(path);
  }

  /**
   * The text in a file; `undefined` if it is not there.
   * @throws What a read throws.
   */
  readText(name: string): string | undefined {
    const path = `${this.path}/${name}`;
    return isMissing(path) ? undefined : readTextFileIfExists(path);
  }

  /** The names in it, sorted; none if it does not exist or cannot be read, which is logged. */
  entries(): Deno.DirEntry[] {
    return listDirectory(this.path, this.#log);
  }

  /**
   * Creates a directory in it, which may exist already.
   * @throws {Deno.errors.NotFound} If the job's is not there.
   */
  makeFolder(name: string): void {
    try {
      Deno.mkdirSync(`${this.path}/${name}`, { mode: 0o700 });
    } catch (error) {
      if (!(error instanceof Deno.errors.AlreadyExists)) throw error;
    }
  }

  /**
   * The names in a directory in it; none if it is not there.
   * @throws {Deno.errors.PermissionDenied} If the user may not read it.
   */
  namesIn(name: string): string[] {
    try {
      return [...Deno.readDirSync(`${this.path}/${name}`)].map(({ name }) => name);
    } catch (error) {
      if (error instanceof Deno.errors.NotFound) return [];
      throw error;
    }
  }
}
