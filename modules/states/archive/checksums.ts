/**
 * The digests of archives that `archive.extracted` keeps in the minion's cache, to see that an archive has changed.
 * Source: Salt 3008.3 `salt/states/archive.py` _checksum_file_path, _update_checksum, _read_cached_checksum.
 * @module
 */

import { createDirectory } from "#lib/os/new_files.ts";
import { dirName, joinPath, relativePath } from "#lib/os/paths.ts";
import { readTextFileIfExists, writeFileAtomic } from "#lib/os/atomic_file.ts";
import type { StateContext } from "#lib/plugins/job_context.ts";
import { str } from "#lib/values/value.ts";

/** A digest with its type. */
export interface StoredSum {
  readonly hash_type: string;
  readonly hsum: string;
}

/** The file that holds the digests of the archive at `path`: `<cachedir>/archive_hash/…`. */
function sumsFile(path: string, { opts }: StateContext): string {
  const relative = `${relativePath(path, opts.cachedir)}.hash`;
  // Of an archive of this host itself, the name has no ending.
  const name = relative.startsWith("../") ? joinPath("local", path.replace(/^\/+/, "")) : relative;
  return joinPath(opts.cachedir, "archive_hash", name);
}

/** The digest of that type which is kept of the archive at `path`. */
export function storedSum(
  path: string,
  context: StateContext,
  type: string = context.opts.hash_type,
): StoredSum | undefined {
  const lines = (readTextFileIfExists(sumsFile(path, context)) ?? "").split("\n");
  const sum = lines.find((line) => line.startsWith(`${type}:`));
  return sum === undefined ? undefined : { hash_type: type, hsum: sum.slice(type.length + 1) };
}

/** Keeps the digest that the archive at `path` has now. */
export async function keepSum(path: string, context: StateContext): Promise<void> {
  const type = context.opts.hash_type;
  const hsum = str(await context.call("file.get_hash", [path, type]));
  const file = sumsFile(path, context);
  const others = (readTextFileIfExists(file) ?? "").split("\n").filter((line) =>
    line.includes(":") && !line.startsWith(`${type}:`)
  );
  createDirectory(dirName(file), { recursive: true });
  writeFileAtomic(file, [...others, `${type}:${hsum}`, ""].join("\n"));
}
