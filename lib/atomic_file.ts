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
   * Whether the contents must be on the disk before the name is. Salt's own files survive a crash of the process without
   * it; it costs milliseconds. @default {false}
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
    Deno.mkdirSync(path.slice(0, slash), { recursive: true, mode: 0o700 });
    writeFileAtomic(path, contents, { ...options, makeDirectory: false });
  }
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

/** Removes the file `path`. @returns Whether there was one. */
export function removeIfExists(path: string): boolean {
  try {
    Deno.removeSync(path);
    return true;
  } catch (error) {
    if (isMissing(error)) return false;
    throw error;
  }
}

function isMissing(error: unknown): boolean {
  return error instanceof Deno.errors.NotFound || error instanceof Deno.errors.NotADirectory;
}
