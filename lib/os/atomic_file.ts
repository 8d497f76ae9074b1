/**
 * Files that are whole or absent: written to a temporary name in the same directory, then renamed.
 *
 * Synchronous on purpose: an MWorker serves one request at a time, and these files are small. Knows nothing of what
 * the files hold. Also what is asked of such files everywhere: what it is and what is in it, if it is there; and away with it.
 * @module
 */

/** How {@linkcode writeFileAtomic} writes. */
export interface AtomicWriteOptions {
  /** Permission bits of the file, set exactly, whatever the umask. @default {0o600} */
  readonly mode?: number;
  /**
   * Whether the file must survive a power failure: its contents are on the disk before the name is, and the name before this
   * returns, with the directories that were made for it. A crash of the process alone costs nothing without it; with it, a write
   * takes milliseconds. @default {false}
   */
  readonly sync?: boolean;
  /** Whether directories that are missing are made, with mode 0700. @default {false} */
  readonly makeDirectory?: boolean;
  /** Whether a file that is already there stays and is an error: of several writers, one wins. @default {false} */
  readonly createNew?: boolean;
}

/**
 * Writes the file `path`, whole: another process sees the old contents or the new ones, never a part, and never the new
 * ones with a mode wider than asked. A failure leaves the old file, and no temporary one.
 * @throws {Deno.errors.AlreadyExists} With `createNew`, if there is such a file.
 * @throws What `Deno.openSync` and `Deno.renameSync` throw (a full disk, no permission, no such directory, …).
 */
export function writeFileAtomic(path: string, contents: Uint8Array | string, options: AtomicWriteOptions = {}): void {
  const mode = options.mode ?? 0o600;
  const slash = path.lastIndexOf("/");
  // A leading dot keeps half-written keys and jobs out of every listing of the directory.
  const temporary = `${path.slice(0, slash + 1)}.${path.slice(slash + 1, slash + 33)}.${crypto.randomUUID()}.tmp`;
  const bytes = typeof contents === "string" ? new TextEncoder().encode(contents) : contents;
  try {
    // Owner-writable while it is being filled: a mode of 0400 comes with chmod.
    const file = Deno.openSync(temporary, { write: true, createNew: true, mode: 0o600 });
    try {
      for (let written = 0; written < bytes.length;) written += file.writeSync(bytes.subarray(written));
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

/** Directories whose own names, and those of all above them, are known to be on the disk. */
const rooted = new Set<string>();

/**
 * Has the system write to the disk which names are in the directory `path`: what was made, renamed or removed in it survives a power
 * failure from then on. So does the directory: whoever made it may not have synced those above it, which is done once a process.
 * @throws What `Deno.openSync` throws for `path`. A directory above it that may not be read was not made by this user.
 */
export function syncDirectory(path: string): void {
  syncNames(path);
  const unknown = [];
  for (let at = path; !rooted.has(at); at = directoryOf(at)) {
    unknown.push(at);
    if (at === "/" || at === ".") break;
  }
  for (const above of unknown.slice(1)) {
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

/** Makes the directory `path`, mode 0700, with those above it that are missing; each survives a power failure. */
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

/** The bytes of the file `path`; `undefined` if there is no such file, or no directory of it. */
export function readFileIfExists(path: string): Uint8Array | undefined {
  try {
    return Deno.readFileSync(path);
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
}

/** The text of the file `path` (UTF-8, broken sequences replaced); `undefined` if there is no such file. */
export function readTextFileIfExists(path: string): string | undefined {
  const bytes = readFileIfExists(path);
  return bytes === undefined ? undefined : new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes);
}

/** What the system knows of `path`, or of what a link there leads to; `undefined` if there is nothing. */
export function statIfExists(path: string): Deno.FileInfo | undefined {
  try {
    return Deno.statSync(path);
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
}

/**
 * Removes the file `path`.
 * @param options.sync Whether it must stay away after a power failure. @default {false}
 * @returns Whether there was one.
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
