/**
 * Helpers for the files of the stores: entries of a directory, contents of a msgpack file, ages, and the error of a
 * store. The stores interpret the contents: lib/jobs/file_store.ts, lib/fleet/data_cache.ts and others.
 * @module
 */

import { isDirectory, statOrUndefined } from "./file_kind.ts";
import { readFileIfExists } from "./atomic_file.ts";
import { messageOf, StoreError } from "#lib/errors.ts";
import { decode } from "#lib/values/msgpack.ts";
import { compareStrings, type Value } from "#lib/values/value.ts";

/** Called with a text about a file that cannot be read, removed or stored, and with the system's error, if any. */
export type StoreLog = (message: string, cause?: unknown) => void;

/**
 * Whether `path` is a regular, non-empty file: after a power failure a file may be empty.
 * @param bytes The expected size, if it is known.
 */
export function isFilled(path: string, bytes?: number): boolean {
  try {
    const { isFile, size } = Deno.statSync(path);
    return isFile && size > 0 && size === (bytes ?? size);
  } catch {
    return false;
  }
}

/** The entries of a directory, sorted by name; empty if it does not exist. */
export function listDirectory(path: string, log: StoreLog): Deno.DirEntry[] {
  return readDirectory(path, log).sort((a, b) => compareStrings(a.name, b.name));
}

/** As {@linkcode listDirectory}, in the order of the file system. */
export function readDirectory(path: string, log: StoreLog): Deno.DirEntry[] {
  try {
    return [...Deno.readDirSync(path)];
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound || error instanceof Deno.errors.NotADirectory)) {
      log(`Cannot read ${path}: ${messageOf(error)}`, error);
    }
    return [];
  }
}

/**
 * Reads a msgpack file; `undefined` if it does not exist. If it cannot be read, that is logged.
 * @param read How the file is read. Default: by the runtime.
 */
export function readValue(path: string, log: StoreLog, read = readFileIfExists): Value | undefined {
  try {
    const bytes = read(path);
    return bytes === undefined ? undefined : decode(bytes, "disk");
  } catch (error) {
    log(`Cannot read ${path}: ${messageOf(error)}`, error);
    return undefined;
  }
}

/**
 * Writes a whole directory once: under another name, then renamed, which fails if a non-empty directory has the name
 * already. The alternative (a name for each file, and a link that says who was first) takes more system calls, is not
 * faster, and leaves a moment in which half of the directory is there.
 * @param files Contents by name.
 * @param names.essential The file without which the directory does not count: then another one replaces it.
 * @param names.isWhole Whether the contents of that file are complete; a power failure may have cut it. Default: yes if
 * it is not empty.
 * @param names.temporary An unused path in the same directory as `path`.
 * @returns Whether this call wrote it; `undefined` if the parent directory does not exist.
 */
export function writeDirectoryOnce(
  path: string,
  files: ReadonlyMap<string, Uint8Array>,
  names: { readonly essential: string; readonly temporary: string; isWhole?(path: string): boolean },
): boolean | undefined {
  const { essential, temporary } = names;
  const isThere = () => isFilled(`${path}/${essential}`) && (names.isWhole?.(`${path}/${essential}`) ?? true);
  try {
    makeEmpty(temporary);
    for (const [name, bytes] of files) Deno.writeFileSync(`${temporary}/${name}`, bytes, { mode: 0o600 });
    Deno.renameSync(temporary, path);
    return true;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return undefined;
    const there = isThere();
    // Its writer was stopped before all files were in it, or an older version wrote file by file.
    if (!there && isDirectory(path)) {
      for (const name of files.keys()) {
        if (name !== essential) Deno.renameSync(`${temporary}/${name}`, `${path}/${name}`);
      }
      Deno.renameSync(`${temporary}/${essential}`, `${path}/${essential}`);
    }
    remove(temporary, () => {}, { recursive: true });
    if (!there && !isThere()) throw error;
    return !there;
  }
}

/** Makes an empty directory; removes what a failure may have left under its name. */
function makeEmpty(path: string): void {
  try {
    Deno.mkdirSync(path, { mode: 0o700 });
  } catch (error) {
    if (!(error instanceof Deno.errors.AlreadyExists)) throw error;
    Deno.removeSync(path, { recursive: true });
    Deno.mkdirSync(path, { mode: 0o700 });
  }
}

/** Removes the files in `directory` that were last changed before `oldestMs`, in milliseconds since the epoch. */
export function removeOldFiles(directory: string, oldestMs: number, log: StoreLog): void {
  for (const { name } of listDirectory(directory, log)) {
    const path = `${directory}/${name}`;
    if ((changedMs(path) ?? oldestMs) < oldestMs) remove(path, log);
  }
}

/**
 * Removes `path`; a failure is logged.
 * @returns Whether it existed.
 */
export function remove(path: string, log: StoreLog, options: { recursive?: boolean } = {}): boolean {
  try {
    Deno.removeSync(path, options);
    return true;
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) log(`Cannot remove ${path}: ${messageOf(error)}`, error);
    return false;
  }
}

/** Modification time of a file or directory, in milliseconds since the epoch; `undefined` if it does not exist. */
export function changedMs(path: string): number | undefined {
  return statOrUndefined(path)?.mtime?.getTime();
}

/** The error of a store that cannot do `what`: `Cannot <what>: <reason>`. */
export function storeError(what: string, path: string, cause: unknown): StoreError {
  return new StoreError(`Cannot ${what}: ${messageOf(cause)}`, path, { cause });
}

/**
 * Runs `run`, and returns its result.
 * @param what What it does, for the error: `store a load in /var/cache/salt/master/jobs`.
 * @throws {StoreError} With the reason, if `run` throws.
 */
export function storing<T>(what: string, path: string, run: () => T): T {
  try {
    return run();
  } catch (error) {
    throw storeError(what, path, error);
  }
}
