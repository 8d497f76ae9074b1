/**
 * Directories and what is in them: making, copying, moving, removing, and the bytes that they hold.
 * Source: Salt 3008.3, `salt/modules/file.py`; `salt/utils/files.py` recursive_copy.
 * @module
 */

import { rstripChars } from "#lib/values/python_text.ts";
import { holdDirectory, holdTarget, inDirectoryOf, renameHeld } from "#lib/os/held_path.ts";
import { createDirectory, openToWrite } from "#lib/os/new_files.ts";
import { CommandError, InvocationError } from "#lib/errors.ts";
import { pythonOsError } from "#lib/os/deno_texts.ts";
import { isDirectory, isFile, lexists } from "#lib/os/file_kind.ts";
import { copyAttributes } from "#lib/libc/inodes.ts";
import { copyBytes, copyKeeping } from "./contents.ts";
import { isLink, linkTarget, walk } from "#lib/os/disk_paths.ts";
import { baseName, dirName, joinPath, normalPath, splitPath } from "#lib/os/paths.ts";

/** Called with each directory that was made, to give it its owner and mode. */
export type OnCreated = (path: string) => Promise<void>;

/**
 * `file.makedirs`: the directories above `path`.
 * @returns Salt's sentence if there was nothing to do.
 * @throws {InvocationError} For a path that never reaches a root.
 */
export async function makeParents(path: string, made: OnCreated): Promise<string | null> {
  let directory = normalPath(dirName(path));
  if (isDirectory(directory)) return `Directory '${directory}' already exists`;
  if (lexists(directory)) return `The path '${directory}' already exists and is not a directory`;
  const missing: string[] = [];
  while (!isDirectory(directory)) {
    missing.unshift(directory);
    const above = dirName(directory);
    if (above === directory) {
      throw new InvocationError(
        `Recursive creation for path '${directory}' would result in an infinite loop. Please use an absolute path.`,
      );
    }
    directory = above;
  }
  for (const each of missing) await makeDirectory(each, made);
  return null;
}

/** `file.mkdir`: a directory, and those above it. */
export async function makeDirectory(path: string, made: OnCreated): Promise<void> {
  const directory = normalPath(path);
  if (!isDirectory(directory)) await makeDirectories(directory, made);
}

/**
 * `file.makedirs_perms`: a directory that is not there yet, and those above it.
 * @throws What Deno throws if it is there.
 */
export async function makeDirectories(path: string, made: OnCreated): Promise<void> {
  let [head, tail] = splitPath(path);
  if (tail === "") [head, tail] = splitPath(head);
  if (head !== "" && tail !== "" && !lexists(head)) {
    await makeDirectories(head, made);
    if (tail === ".") return;
  }
  createDirectory(path);
  await made(path);
}

/**
 * Copies the contents of a file, as Python's `copyfile`.
 * @throws What Deno throws.
 */
export function copyContents(from: string, to: string): void {
  using target = openToWrite(to, { truncate: true });
  copyBytes(from, target);
}

/**
 * Copies a file with its mode, as Python's `copy`. No other user can read the copy before it has that.
 * @throws {CommandError} For a pipe, which would block; else what Deno throws.
 */
export function copyWithMode(from: string, to: string): void {
  const info = Deno.statSync(from);
  if (info.isFifo) throw new CommandError(`'${from}' is a named pipe`);
  Deno.openSync(to, { write: true, create: true, mode: 0o600 }).close();
  copyContents(from, to);
  using held = holdTarget(to);
  Deno.chmodSync(held.path, (info.mode ?? 0o644) & 0o7777);
}

/** Copies the files of a tree over another one, which keeps what else it has: `cp -r`. */
export function copyOver(from: string, to: string): void {
  for (const { path, files } of walk(from)) {
    const target = joinPath(to, path.slice(from.length).replace(/^\/+/, ""));
    if (!lexists(target)) createDirectory(target, { recursive: true });
    for (const name of files) copyContents(joinPath(path, name), joinPath(target, name));
  }
}

/** Copies a tree with modes and times, as Python's `copytree`: links become what they lead to, unless `links`. */
export function copyTree(from: string, to: string, { links = false }: { readonly links?: boolean } = {}): void {
  createDirectory(to, { recursive: true });
  for (const { name } of Deno.readDirSync(from)) {
    const [source, target] = [joinPath(from, name), joinPath(to, name)];
    const link = links ? linkTarget(source) : undefined;
    if (link !== undefined) linkHeld(link, target);
    else if (isDirectory(source)) copyTree(source, target, { links });
    else copyKeeping(source, target);
  }
  const info = Deno.statSync(from);
  using made = holdDirectory(to);
  copyAttributes(from, made.path);
  Deno.chmodSync(made.path, (info.mode ?? 0o755) & 0o7777);
  if (info.atime !== null && info.mtime !== null) Deno.utimeSync(made.path, info.atime, info.mtime);
}

/** Moves a file or a tree, into `to` if that is a directory, also to another file system: Python's `shutil.move`. */
export function moveAny(from: string, to: string): void {
  let target = to;
  if (isDirectory(to)) {
    target = joinPath(to, baseName(rstripChars(from, "/")));
    if (lexists(target)) throw new CommandError(`Destination path '${target}' already exists`);
  }
  try {
    renameHeld(from, target);
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "EXDEV")) throw error;
    const link = linkTarget(from);
    if (link !== undefined) linkHeld(link, target);
    else if (isDirectory(from)) copyTree(from, target, { links: true });
    else copyKeeping(from, target);
    removeHeld(from, true);
  }
}

/** What `file.rmdir` did. */
export interface RemovedDirectories {
  readonly deleted: string[];
  /** Path and reason of what could not be removed. */
  readonly errors: [path: string, reason: string][];
  readonly result: boolean;
}

/**
 * Removes an empty directory, with `recurse` also the empty ones in it.
 * @param options.before Only what was changed before this time, in seconds since the epoch.
 */
export function removeEmpty(
  path: string,
  { recurse, before }: { readonly recurse: boolean; readonly before: number | undefined },
): RemovedDirectories {
  const deleted: string[] = [], errors: [string, string][] = [];
  const old = (directory: string) =>
    before === undefined || (Deno.statSync(directory).mtime?.getTime() ?? 0) / 1000 < before;
  const remove = (directory: string) => {
    try {
      if (!Deno.lstatSync(directory).isDirectory) throw new CommandError(`[Errno 20] Not a directory: '${directory}'`);
      Deno.removeSync(directory);
      deleted.push(directory);
      return true;
    } catch (error) {
      if (error instanceof Deno.errors.NotCapable) throw error;
      errors.push([directory, pythonOsError(error, directory)]);
      return false;
    }
  };
  if (recurse) {
    const emptied = [...walk(path)].reverse();
    for (const { path: at, directories } of emptied) {
      for (const name of directories) if (old(joinPath(at, name))) remove(joinPath(at, name));
    }
  }
  let result = recurse && errors.length === 0;
  if (old(path)) result = remove(path) && (result || !recurse);
  return { deleted, errors, result };
}

/** The bytes of a file, or of all files below a directory, each counted once. */
export function measureTree(path: string): number {
  if (isFile(path)) return Deno.statSync(path).size;
  const seen = new Set<number | null>();
  let total = 0;
  for (const { path: at, files } of walk(path)) {
    for (const name of files) {
      const info = statIfReadable(joinPath(at, name));
      if (info === undefined || seen.has(info.ino)) continue;
      seen.add(info.ino);
      total += info.size;
    }
  }
  return total;
}

function statIfReadable(path: string): Deno.FileInfo | undefined {
  try {
    return Deno.statSync(path);
  } catch (error) {
    if (error instanceof Deno.errors.NotCapable) throw error;
    return undefined;
  }
}

/**
 * `file.remove`: a file, a link, or a directory with all in it.
 * @returns Whether there was anything.
 */
export function removeAny(path: string): boolean {
  if (!lexists(path)) return false;
  // Deno does not follow links here, nor links that another user creates meanwhile.
  removeHeld(path, isDirectory(path) && !isLink(path));
  return true;
}

function removeHeld(path: string, recursive: boolean): void {
  inDirectoryOf(path, (directory, name) => Deno.removeSync(directory.at(name), { recursive }));
}

function linkHeld(target: string, path: string): void {
  inDirectoryOf(path, (directory, name) => Deno.symlinkSync(target, directory.at(name)));
}
