/**
 * Finds a file below a directory, with its `stat`.
 * @module
 */

import { statOrUndefined } from "#lib/os/file_kind.ts";
import { absolutePath } from "#lib/os/paths.ts";
import type { FoundFile } from "#lib/plugins/file_backend.ts";
import { isBelow, isReallyBelow } from "./safe_path.ts";

/**
 * The file `rel` below `root`; `undefined` if there is none, or it is outside of `root`.
 * @param options.follow Whether links may lead out of the root: then users who may write there decide what is served.
 */
export async function findBelow(
  root: string,
  rel: string,
  { follow }: { readonly follow: boolean },
): Promise<FoundFile | undefined> {
  const path = root.endsWith("/") ? root + rel : `${root}/${rel}`;
  if (!isBelow(absolutePath(root), absolutePath(path))) return undefined;
  // At once: that takes less time than to wait for another thread. What cannot be seen is not there, as in Python.
  const info = statOrUndefined(path);
  if (info === undefined || !info.isFile) return undefined;
  if (!follow && !await isReallyBelow(root, path)) return undefined;
  return { path, rel, stat: statList(info) };
}

/** Python's `list(os.stat(path))`; times are whole seconds. */
function statList(info: Deno.FileInfo): number[] {
  const seconds = (time: Date | null) => Math.floor((time?.getTime() ?? 0) / 1000);
  const { mode, ino, dev, nlink, uid, gid, size, atime, mtime, ctime } = info;
  return [mode, ino, dev, nlink, uid, gid, size].map((n) => n ?? 0).concat([atime, mtime, ctime].map(seconds));
}
