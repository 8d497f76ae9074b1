/**
 * Files and directories that are made or written by name: with the mask of the running call (umask.ts), and, as root,
 * without following what another user puts in the way (held_path.ts).
 * @module
 */

import { rstripChars } from "#lib/values/python_text.ts";
import { lstatIfExists } from "./atomic_file.ts";
import { isDirectory } from "./file_kind.ts";
import { followForChange, type HeldDirectory, holdOpen, holdTarget, inDirectoryOf } from "./held_path.ts";
import { ownUmask, takenBits } from "./umask.ts";
import { writeAll } from "./write_all.ts";

/** How a directory is made. */
export interface NewDirectory {
  /** Whether missing ones above it are made, and one that is there is no error. */
  readonly recursive?: boolean;
  /**
   * Permission bits, of which the mask takes some.
   * @default {0o777}
   */
  readonly mode?: number;
}

/**
 * Makes the directory `path`.
 * @throws What `Deno.mkdirSync` throws.
 */
export function createDirectory(path: string, { recursive = false, mode = 0o777 }: NewDirectory = {}): void {
  if (recursive) {
    if (isDirectory(path)) return;
    const above = path.replace(/(?<!\/)\/+(?:[^/]+\/*)?$/, "");
    if (above !== "" && above !== path) createDirectory(above, { recursive, mode });
  }
  try {
    inDirectoryOf(path, (directory, name) => createIn(directory, name, mode));
  } catch (error) {
    // Somebody else has made it meanwhile.
    if (!recursive || !(error instanceof Deno.errors.AlreadyExists) || !isDirectory(path)) throw error;
  }
}

function createIn(directory: HeldDirectory, name: string, mode: number): void {
  const bits = mode & ~(ownUmask() ?? 0);
  Deno.mkdirSync(directory.at(name), { mode: bits });
  if (takenBits(bits) === 0) return;
  using child = directory.enter(rstripChars(name, "/"));
  Deno.chmodSync(child.path, bits);
}

/** How a file is opened to be written. */
export interface OpenToWrite {
  /** Whether the contents are removed first. */
  readonly truncate?: boolean;
  /** Whether writing continues at the end. */
  readonly append?: boolean;
  /**
   * Permission bits of a file that is made, of which the mask takes some.
   * @default {0o666}
   */
  readonly mode?: number;
}

/**
 * Opens the file `path`, and makes it if it is missing.
 * @throws What `Deno.openSync` throws.
 */
export function openToWrite(path: string, { mode = 0o666, ...how }: OpenToWrite = {}): Deno.FsFile {
  // The system makes no file of such a name, and says why.
  if (path.endsWith("/")) return Deno.openSync(path, { write: true, create: true });
  try {
    return openThere(path, { write: true, ...how });
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
  }
  // A link that leads to nothing is followed: the file is made where it leads.
  if (lstatIfExists(path)?.isSymlink) return openToWrite(followForChange(path, linkedPath), { mode, ...how });
  return inDirectoryOf(path, (directory, name) => {
    const bits = mode & ~(ownUmask() ?? 0);
    const file = Deno.openSync(directory.at(name), { write: true, createNew: true, mode: bits, append: how.append });
    if (takenBits(bits) !== 0) {
      using made = holdOpen(directory, name, file);
      Deno.chmodSync(made.path, bits);
    }
    return file;
  });
}

/** Where the link at `path` leads itself. */
function linkedPath(path: string): string {
  const target = Deno.readLinkSync(path);
  return target.startsWith("/") ? target : path.slice(0, path.lastIndexOf("/") + 1) + target;
}

/**
 * Opens a file that is there.
 * @throws {CommandError} As `holdTarget`.
 * @throws What `Deno.openSync` throws.
 */
export function openThere(path: string, options: Deno.OpenOptions): Deno.FsFile {
  using held = holdTarget(path);
  return held.run(path, () => Deno.openSync(held.path, options));
}

/**
 * The bytes of a file that is read to be changed.
 * @throws {CommandError} As `holdTarget`.
 * @throws What Deno throws.
 */
export function readForChange(path: string): Uint8Array<ArrayBuffer> {
  using held = holdTarget(path);
  return held.run(path, () => Deno.readFileSync(held.path));
}

/**
 * Writes a whole file, which is made if it is missing.
 * @param mode Of a new file.
 * @throws What `Deno.openSync` throws.
 */
export function writeWithUmask(path: string, contents: Uint8Array | string, mode?: number): void {
  const bytes = typeof contents === "string" ? new TextEncoder().encode(contents) : contents;
  using file = openToWrite(path, { truncate: true, mode });
  writeAll(file, bytes);
}
