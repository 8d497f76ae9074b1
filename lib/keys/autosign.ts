/**
 * Which ids are accepted or rejected without an operator: `auto_accept`, the files `autosign_file` and
 * `autoreject_file`, stubs in `minions_autosign`, and grain values in `autosign_grains_dir`. Knows nothing of
 * keys.
 * Source: Salt's documentation of these options.
 * @module
 */

import { RegexError } from "#lib/errors.ts";
import { readTextFileIfExists, removeIfExists, statIfExists } from "#lib/os/atomic_file.ts";
import { isValidId } from "#lib/protocol/minion_id.ts";
import { type PythonRegex, pythonRegex } from "#lib/regex/regex.ts";
import { findGroup } from "#lib/os/users.ts";
import { globOrRegex } from "#lib/text/expr_match.ts";
import { str, type ValueMap } from "#lib/values/value.ts";

/** The master's options for automatic acceptance; see {@linkcode Autosign}. */
export interface AutosignOpts {
  /** Contains the directory `minions_autosign` with the stubs. */
  readonly pki_dir: string;
  /** The user that the master runs as. */
  readonly user: string;
  /** Accepts every new key. */
  readonly auto_accept: boolean;
  /** File of ids to accept: ids, globs and regular expressions, one per line. */
  readonly autosign_file: string | null;
  /** File of ids to reject. */
  readonly autoreject_file: string | null;
  /** Minutes for which a stub is valid; 0: no limit. */
  readonly autosign_timeout: number;
  /** Directory with a file for each grain, one value a line. */
  readonly autosign_grains_dir: string | null;
  /** Whether files that the group may write are used too. */
  readonly permissive_pki_access: boolean;
}

/** Callbacks; tests pass their own. */
export interface AutosignHost {
  /** Called with a file that is ignored. */
  readonly warn: (message: string) => void;
  /**
   * Whether `user` is listed in the group of that id.
   * @default by the host's groups
   */
  readonly inGroup?: (user: string, gid: number) => boolean;
  /**
   * The id of the user that this process runs as.
   * @default Deno.uid()
   */
  readonly uid?: number | null;
  /**
   * Milliseconds since the epoch.
   * @default Date.now
   */
  readonly now?: () => number;
}

interface SigningFile {
  readonly changed: string;
  readonly tests: ((id: string) => boolean)[];
}

/** The rules; files are read again when they change. */
export class Autosign {
  readonly #opts: AutosignOpts;
  readonly #host: Required<AutosignHost>;
  readonly #files = new Map<string, SigningFile>();

  /** A file that the options name may be missing. */
  constructor(opts: AutosignOpts, host: AutosignHost) {
    this.#opts = opts;
    this.#host = { inGroup: listedInGroup, uid: Deno.uid(), now: Date.now, ...host };
  }

  /** Whether the key of `id` is to be rejected. */
  rejects(id: string): boolean {
    return this.#named(id, this.#opts.autoreject_file);
  }

  /**
   * Whether the key of `id` is to be accepted. Uses up a stub for it.
   * @param grains The minion's `autosign_grains`. The minion chooses them freely, so the values work as passwords.
   */
  accepts(id: string, grains?: ValueMap): boolean {
    return this.#opts.auto_accept || this.#named(id, this.#opts.autosign_file) || this.#stub(id) ||
      (grains !== undefined && this.#grain(grains));
  }

  #named(id: string, path: string | null): boolean {
    if (!path) return false;
    const info = this.#trustedStat(path);
    if (info === undefined) return false;
    const changed = `${info.ino} ${info.size} ${info.mtime?.getTime()}`;
    let file = this.#files.get(path);
    if (file?.changed !== changed) {
      file = { changed, tests: lines(path).map((line) => globOrRegex(line, compileRegex(line))) };
      this.#files.set(path, file);
    }
    return file.tests.some((test) => test(id));
  }

  #stub(id: string): boolean {
    const directory = `${this.#opts.pki_dir}/minions_autosign`;
    const oldest = this.#opts.autosign_timeout > 0 ? this.#host.now() - this.#opts.autosign_timeout * 60_000 : 0;
    for (const name of fileNames(directory)) {
      const modified = statIfExists(`${directory}/${name}`)?.mtime?.getTime() ?? Infinity;
      if (modified >= oldest) continue;
      this.#host.warn(`${directory}/${name}: removed, since it is older than autosign_timeout`);
      removeIfExists(`${directory}/${name}`);
    }
    // If several workers ask at the same time, the one that removes the stub gets yes.
    const stub = `${directory}/${id}`;
    // Synced: otherwise a stub could return after a power failure, and it must accept one key only.
    return isValidId(id) && statIfExists(stub)?.isFile === true && removeIfExists(stub, { sync: true });
  }

  #grain(grains: ValueMap): boolean {
    const directory = this.#opts.autosign_grains_dir;
    if (!directory) return false;
    // Lists the directory instead of using the grains' names as paths: they are untrusted.
    return fileNames(directory).some((name) => {
      const value = grains.get(name);
      const path = `${directory}/${name}`;
      return value !== undefined && this.#trustedStat(path) !== undefined && lines(path).includes(str(value));
    });
  }

  /** The file's status, if it exists and only allowed users can write it. */
  #trustedStat(path: string): Deno.FileInfo | undefined {
    const info = statIfExists(path);
    if (info === undefined || this.#hasTrustedWriters(info)) return info;
    this.#host.warn(`${path}: ignored, since others may write it`);
    return undefined;
  }

  #hasTrustedWriters({ mode, gid }: Deno.FileInfo): boolean {
    if (mode === null || (mode & 0o022) === 0) return true;
    if ((mode & 0o002) !== 0 || !this.#opts.permissive_pki_access) return false;
    return this.#host.uid !== 0 || (gid !== null && this.#host.inGroup(this.#opts.user, gid));
  }
}

/** The non-empty lines of a file, trimmed, without comments. (An empty grain must match nothing.) */
function lines(path: string): string[] {
  const text = readTextFileIfExists(path) ?? "";
  return text.split("\n").map((line) => line.trim()).filter((line) => line !== "" && !line.startsWith("#"));
}

function compileRegex(line: string): PythonRegex | undefined {
  try {
    pythonRegex(line); // tested alone: `a)|(b` must not escape from the brackets below
    // In a group, so that `web|db` means two whole ids. In Salt it also matches every id that begins with `web`.
    return pythonRegex(`(?:${line})\\Z`);
  } catch (error) {
    if (error instanceof RegexError) return undefined; // most globs are no valid expressions
    throw error;
  }
}

function fileNames(directory: string): string[] {
  try {
    return Array.from(Deno.readDirSync(directory)).filter(({ isDirectory }) => !isDirectory).map(({ name }) => name);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return [];
    throw error;
  }
}

function listedInGroup(user: string, gid: number): boolean {
  return findGroup(gid)?.members.includes(user) ?? false;
}
