/**
 * Files that are written completely or not at all: written under a temporary name in the same directory, then renamed.
 * Synchronous on purpose: an MWorker serves one request at a time, and these files are small. Also reads, checks and
 * removes files that may not exist. Knows nothing of the contents.
 * @module
 */

import { writeAll } from "./write_all.ts";

/** Options of {@linkcode writeFileAtomic}. */
export interface AtomicWriteOptions {
  /**
   * Permission bits of the file, set exactly, independent of the umask.
   * @default {0o600}
   */
  readonly mode?: number;
  /**
   * Whether the file must survive a power failure: the contents are synced before the rename, and the name (with the
   * directories that were made) before this returns. Not needed for a crash of the process alone. A synced write takes
   * milliseconds.
   * @default {false}
   */
  readonly sync?: boolean;
  /**
   * Whether missing directories are made, with mode 0700.
   * @default {false}
   */
  readonly makeDirectory?: boolean;
  /**
   * Whether an existing file is kept and is an error, so that one of several writers wins.
   * @default {false}
   */
  readonly createNew?: boolean;
}

/**
 * Writes the whole file `path`. Another process sees the old contents or the new ones, never a part, and never a wider
 * mode. If it fails, the old file stays and no temporary file is left.
 * @throws {Deno.errors.AlreadyExists} With `createNew`, if the file exists.
 * @throws What `Deno.openSync` and `Deno.renameSync` throw (a full disk, no permission, no such directory, …).
 */
export function writeFileAtomic(path: string, contents: Uint8Array | string, options: AtomicWriteOptions = {}): void {
  const mode = options.mode ?? 0o600;
  const slash = path.lastIndexOf("/");
  // A leading dot keeps incomplete keys and jobs out of every listing of the directory.
  const temporary = `${path.slice(0, slash + 1)}.${path.slice(slash + 1, slash + 33)}.${crypto.randomUUID()}.tmp`;
  const bytes = typeof contents === "string" ? new TextEncoder().encode(contents) : contents;
  try {
    // Writable for the owner while it is written; chmod sets a mode of 0400 afterwards.
    const file = Deno.openSync(temporary, { write: true, createNew: true, mode: 0o600 });
    try {
      writeAll(file, bytes);
      if (options.sync) file.syncSync();
    } finally {
      file.close();
    }
    if (mode !== 0o600) Deno.chmodSync(temporary, mode);
    if (options.createNew) {
      Deno.linkSync(temporary, path);
      Deno.removeSync(temporary);
    } else {
      Deno.renameSync(temporary, path);
    }
  } catch (error) {
    removeIfExists(temporary);
    if (!options.makeDirectory || !(error instanceof Deno.errors.NotFound)) throw error;
    if (options.sync) makeDirectorySynced(path.slice(0, slash));
    else Deno.mkdirSync(path.slice(0, slash), { recursive: true, mode: 0o700 });
    return writeFileAtomic(path, contents, { ...options, makeDirectory: false });
  }
  if (options.sync) syncDirectory(directoryOf(path));
}

/** Directories whose names, and those of all directories above them, are known to be on the disk. */
const rooted = new Set<string>();

/**
 * Syncs the entries of the directory `path`: names that were made, renamed or removed survive a power failure from then
 * on. Also syncs the directories above it, once per process, because their maker may not have done so.
 * @throws What `Deno.openSync` throws for `path`. A directory above it that cannot be read was not made by this user,
 * and is skipped.
 */
export function syncDirectory(path: string): void {
  syncNames(path);
  const unknown = [];
  let at = path;
  for (; !rooted.has(at); at = directoryOf(at)) {
    unknown.push(at);
    if (at === "/" || at === ".") break;
  }
  // The name of the topmost unknown one is in a directory that was synced before that name was made.
  const names = unknown.length > 0 && rooted.has(at) ? [...unknown, at] : unknown;
  for (const above of names.slice(1)) {
    try {
      syncNames(above);
    } catch (error) {
      if (!(error instanceof Deno.errors.PermissionDenied || error instanceof Deno.errors.NotCapable)) throw error;
    }
  }
  for (const directory of unknown) rooted.add(directory);
}

function syncNames(path: string): void {
  using directory = Deno.openSync(path);
  directory.syncSync();
}

/** Makes the directory `path` and missing ones above it, mode 0700; each survives a power failure. */
export function makeDirectorySynced(path: string): void {
  try {
    Deno.mkdirSync(path, { mode: 0o700 });
  } catch (error) {
    if (error instanceof Deno.errors.AlreadyExists) return;
    if (!(error instanceof Deno.errors.NotFound)) throw error;
    makeDirectorySynced(directoryOf(path));
    return makeDirectorySynced(path);
  }
  syncDirectory(directoryOf(path));
}

function directoryOf(path: string): string {
  const slash = path.lastIndexOf("/");
  return slash > 0 ? path.slice(0, slash) : slash === 0 ? "/" : ".";
}

/** The bytes of the file `path`; `undefined` if the file or its directory does not exist. */
export function readFileIfExists(path: string): Uint8Array | undefined {
  try {
    return Deno.readFileSync(path);
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
}

/** The text of the file `path` (UTF-8, invalid sequences replaced); `undefined` if it does not exist. */
export function readTextFileIfExists(path: string): string | undefined {
  const bytes = readFileIfExists(path);
  return bytes === undefined ? undefined : new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes);
}

/** The status of `path`, following links; `undefined` if it does not exist. */
export function statIfExists(path: string): Deno.FileInfo | undefined {
  try {
    return Deno.statSync(path);
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
}

/** The status of the entry `path` itself, which may be a link; `undefined` if it does not exist. */
export function lstatIfExists(path: string): Deno.FileInfo | undefined {
  try {
    return Deno.lstatSync(path);
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
}

/**
 * Removes the file `path`.
 * @param options.sync Whether the removal must survive a power failure. Default: false.
 * @returns Whether it existed.
 */
export function removeIfExists(path: string, options: { readonly sync?: boolean } = {}): boolean {
  try {
    Deno.removeSync(path);
    if (options.sync) syncDirectory(directoryOf(path));
    return true;
  } catch (error) {
    if (isMissing(error)) return false;
    throw error;
  }
}

function isMissing(error: unknown): boolean {
  return error instanceof Deno.errors.NotFound || error instanceof Deno.errors.NotADirectory;
}
