/**
 * Moves a file that has been fetched to its place: atomically, so that no process sees a part of it, and with its final
 * mode.
 * @module
 */

import { copyBytes, putBeside } from "#lib/host/filesystem/contents.ts";
import { followForChange, inDirectoryOf, renameHeld } from "#lib/os/held_path.ts";
import { openThere } from "#lib/os/new_files.ts";
import { currentUmask } from "#lib/os/umask.ts";
import { realPath } from "#lib/os/disk_paths.ts";
import { dirName } from "#lib/os/paths.ts";
import { isDirectory, isFile } from "#lib/os/file_kind.ts";
import { statIfExists } from "#lib/os/atomic_file.ts";
import { writeAll } from "#lib/os/write_all.ts";

/**
 * Makes the directories above a place in the cache, with mode 0700. A file that is where a directory is to be is an old
 * copy, and is removed.
 */
export function makeCacheDirectory(path: string): void {
  try {
    Deno.mkdirSync(path, { recursive: true, mode: 0o700 });
  } catch (error) {
    const blocked = error instanceof Deno.errors.AlreadyExists || error instanceof Deno.errors.NotADirectory;
    let at = path;
    while (blocked && at.length > 1 && !isFile(at)) at = dirName(at);
    if (!blocked || at.length <= 1) throw error;
    Deno.removeSync(at);
    Deno.mkdirSync(path, { recursive: true, mode: 0o700 });
  }
}

/** Moves `from` into the cache, with mode 0600. A directory that is there is an old copy, and is removed. */
export function placeInCache(from: string, dest: string): void {
  Deno.chmodSync(from, 0o600);
  inDirectory(dirName(dest), () => {
    try {
      moveOver(from, dest);
    } catch (error) {
      if (!isDirectory(dest)) throw error;
      Deno.removeSync(dest, { recursive: true });
      moveOver(from, dest);
    }
  });
}

/**
 * Runs a function that writes into a directory of the cache; if the directory does not exist, creates it like
 * {@linkcode makeCacheDirectory} does.
 */
export function inDirectory<T>(directory: string, put: () => T): T {
  try {
    return put();
  } catch (error) {
    if (isDirectory(directory)) throw error;
    makeCacheDirectory(directory);
    return put();
  }
}

/**
 * Moves `from` to a path of this host. A link is followed. An existing file keeps its owner and mode; a device or pipe
 * is written to.
 * @param options.mode The mode of a new file. Default: 0666 without the bits of the umask.
 */
export function placeOnHost(from: string, dest: string, { mode }: { readonly mode?: number } = {}): void {
  const old = statIfExists(dest);
  if (old !== undefined && !old.isFile) {
    copyInto(from, dest);
    return Deno.removeSync(from);
  }
  if (old !== undefined && (old.uid !== Deno.uid() || old.gid !== Deno.gid())) Deno.chownSync(from, old.uid, old.gid);
  Deno.chmodSync(from, (old?.mode ?? mode ?? 0o666 & ~currentUmask()) & 0o7777);
  moveOver(from, followForChange(dest, realPath));
}

/** Renames; to another file system it copies first, into the target's directory. */
function moveOver(from: string, to: string): void {
  try {
    renameHeld(from, to);
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "EXDEV")) throw error;
    const { uid, gid, mode } = Deno.statSync(from);
    inDirectoryOf(to, (directory, name) => {
      putBeside({ directory, name, prefix: "." }, (file) => copyBytes(from, file), (made) => {
        if (uid !== Deno.uid() || gid !== Deno.gid()) Deno.chownSync(made.path, uid, gid);
        Deno.chmodSync(made.path, (mode ?? 0o600) & 0o7777);
      });
    });
    Deno.removeSync(from);
  }
}

/** Bytes that are copied at once. */
const BLOCK = 1 << 20;

function copyInto(from: string, to: string): void {
  using source = Deno.openSync(from);
  using target = openThere(to, { write: true });
  const block = new Uint8Array(BLOCK);
  for (let length = source.readSync(block); length !== null; length = source.readSync(block)) {
    writeAll(target, block.subarray(0, length));
  }
}
