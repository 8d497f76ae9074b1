/**
 * The files of the stores, as files: what a directory holds, what a msgpack file holds, how old one is, and the error of a
 * store that cannot do its work. What they mean, the stores know: lib/jobs/cache.ts, lib/fleet/data_cache.ts and others.
 * @module
 */

import { isDirectory } from "./file_kind.ts";
import { readFileIfExists } from "./atomic_file.ts";
import { StoreError } from "../errors.ts";
import { decode } from "../values/msgpack.ts";
import { compareStrings, type Value } from "../values/value.ts";

/** Hears of what cannot be read, removed or stored. */
export type CacheLog = (message: string) => void;

/**
 * Whether there is a regular file at `path`, and something in it: after a power failure a name may be all that is left of a file.
 * @param bytes How much is to be in it, where that is known.
 */
export function isFilled(path: string, bytes?: number): boolean {
  try {
    const { isFile, size } = Deno.statSync(path);
    return isFile && size > 0 && size === (bytes ?? size);
  } catch {
    return false;
  }
}

/** What a directory holds, sorted by name; nothing if it is not there. */
export function listDirectory(path: string, log: CacheLog): Deno.DirEntry[] {
  try {
    return [...Deno.readDirSync(path)].sort((a, b) => compareStrings(a.name, b.name));
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound || error instanceof Deno.errors.NotADirectory)) {
      log(`Cannot read ${path}: ${reason(error)}`);
    }
    return [];
  }
}

/**
 * The value in a msgpack file; `undefined` if it is not there, or cannot be read, which the log is told.
 * @param read How the file is read. Default: by the runtime.
 */
export function readValue(path: string, log: CacheLog, read = readFileIfExists): Value | undefined {
  try {
    const bytes = read(path);
    return bytes === undefined ? undefined : decode(bytes, "disk");
  } catch (error) {
    log(`Cannot read ${path}: ${reason(error)}`);
    return undefined;
  }
}

/**
 * Writes a directory, whole, that nobody else has written: made under another name, and renamed, which fails where one with
 * something in it stands. With a name of its own for each file, and a link to say who was first, there were more calls to the
 * system, no faster, and a moment in which only half of the directory was there.
 * @param files Contents by name.
 * @param names.essential The file without which the directory does not count: then another one takes its place.
 * @param names.isWhole Whether that file, in which there is something, counts: one that a power failure has cut does not. Default: it does.
 * @param names.temporary A path in the same directory as `path` that nobody else uses.
 * @returns Whether it was this call that wrote it; `undefined` if the directory that it is to be in is not there.
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
    // Whoever made it was stopped before all was in it, or it is of a version that wrote file by file.
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

/** Makes a directory that is empty, whatever a failure left under its name. */
function makeEmpty(path: string): void {
  try {
    Deno.mkdirSync(path, { mode: 0o700 });
  } catch (error) {
    if (!(error instanceof Deno.errors.AlreadyExists)) throw error;
    Deno.removeSync(path, { recursive: true });
    Deno.mkdirSync(path, { mode: 0o700 });
  }
}

/** Removes what is at `path`; the log hears why it cannot. @returns Whether there was something. */
export function remove(path: string, log: CacheLog, options: { recursive?: boolean } = {}): boolean {
  try {
    Deno.removeSync(path, options);
    return true;
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) log(`Cannot remove ${path}: ${reason(error)}`);
    return false;
  }
}

/** When a file was last changed, in milliseconds since the epoch; `undefined` if it is not there. */
export function changedMs(path: string): number | undefined {
  try {
    return Deno.statSync(path).mtime?.getTime();
  } catch {
    return undefined;
  }
}

/** The error of a store that cannot do `what`: `Cannot <what>: <reason>`. */
export function storeError(what: string, path: string, cause: unknown): StoreError {
  return new StoreError(`Cannot ${what}: ${reason(cause)}`, path, { cause });
}

/**
 * What `run` gives.
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

function reason(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
