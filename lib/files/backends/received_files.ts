/**
 * The files that minions push to the master, piece by piece: `<cachedir>/minions/<id>/files/<path>`. A file exists when
 * its last piece has been received: until then it is in `<cachedir>/minions/<id>/receiving`.
 *
 * A piece is written at its offset, so that a repeated one does no harm; Salt appends it. A piece that would leave a
 * gap is refused. Source: Salt 3008.3 `salt/master.py` _file_recv; CVE-2021-25282.
 * @module
 */

import { hashHex } from "#lib/crypto/hash.ts";
import { dirName, normalPath } from "#lib/os/paths.ts";
import { isGone } from "#lib/os/deno_texts.ts";
import { findBelow } from "./find_below.ts";
import { isBelow, isReallyBelow } from "./safe_path.ts";

/** A piece of a file. */
export interface ReceivedPiece {
  /** Its path below the minion's directory. */
  readonly path: string;
  /** Where the piece belongs. */
  readonly loc: number;
  readonly data: Uint8Array;
  /** The size of the whole file, as its minion sees it at first. */
  readonly size: number | undefined;
}

/** The directory of the files that minion `id` pushed. */
export function pushedFiles(cachedir: string, id: string): string {
  return `${cachedir}/minions/${id}/files`;
}

/**
 * Stores a piece.
 * @returns Whether it was stored; false if its path leads out of the minion's directory, or pieces before it are
 * missing.
 */
export async function receivePiece(
  minion: { readonly cachedir: string; readonly id: string },
  piece: ReceivedPiece,
): Promise<boolean> {
  const root = pushedFiles(minion.cachedir, minion.id);
  const path = targetOf(root, piece.path);
  if (path === undefined || !await isReallyBelow(root, path)) return false;
  const partial = `${minion.cachedir}/minions/${minion.id}/receiving/${hashHex(path, "sha256").slice(0, 32)}`;
  try {
    return await keep(piece, path, partial);
  } catch (error) {
    // A file is where a directory would have to be, or the other way round.
    if (isOccupied(error)) return false;
    throw error;
  }
}

async function keep({ loc, data, size }: ReceivedPiece, path: string, partial: string): Promise<boolean> {
  if (loc === 0) await makeDirectories(path, partial);
  // Without a size the last piece is not known. Pieces after the last one were added meanwhile.
  const whole = size === undefined || (loc > 0 && !await isThere(partial));
  const into = whole ? path : partial;
  if (!await write(into, loc, data)) return false;
  if (!whole && loc + data.length >= size) {
    if (await isDirectory(path)) return false;
    await Deno.rename(partial, path);
  }
  return true;
}

async function write(path: string, loc: number, data: Uint8Array): Promise<boolean> {
  using file = await Deno.open(path, { write: true, create: loc === 0, truncate: loc === 0 });
  if (loc > 0) {
    if ((await file.stat()).size < loc) return false;
    await file.seek(loc, Deno.SeekMode.Start);
  }
  for (let at = 0; at < data.length;) at += await file.write(data.subarray(at));
  return true;
}

function targetOf(root: string, path: string): string | undefined {
  if (path.includes("\0") || path.length > 4096) return undefined;
  const normal = normalPath(path);
  if (normal === "." || normal.startsWith("/") || normal === ".." || normal.startsWith("../")) return undefined;
  const target = `${root}/${normal}`;
  return isBelow(root, target) ? target : undefined;
}

async function makeDirectories(...paths: readonly string[]): Promise<void> {
  for (const path of paths) await Deno.mkdir(dirName(path), { recursive: true });
}

function isOccupied(error: unknown): boolean {
  return isGone(error) || error instanceof Deno.errors.NotADirectory || error instanceof Deno.errors.AlreadyExists ||
    error instanceof Deno.errors.IsADirectory || error instanceof Deno.errors.FilesystemLoop ||
    (error instanceof Error && "code" in error && error.code === "ENAMETOOLONG");
}

async function isThere(path: string): Promise<boolean> {
  const slash = path.lastIndexOf("/");
  return await findBelow(path.slice(0, slash), path.slice(slash + 1), { follow: false }) !== undefined;
}

async function isDirectory(path: string): Promise<boolean> {
  try {
    return (await Deno.lstat(path)).isDirectory;
  } catch (error) {
    if (isGone(error)) return false;
    throw error;
  }
}
