/**
 * What is in a minion's cache of files.
 * @module
 */

import { cachedCopy, type CachePlace, environmentDirectory, localFilesPath } from "./cache_paths.ts";
import { fileDigest, sameHash } from "./file_digest.ts";
import { walk } from "#lib/os/disk_paths.ts";
import { dirName, joinPath } from "#lib/os/paths.ts";
import { isFile, mayExist } from "#lib/os/file_kind.ts";
import { makeCacheDirectory } from "./placing.ts";
import { compareStrings } from "#lib/values/value.ts";
import { removeIfExists } from "#lib/os/atomic_file.ts";

/**
 * Copies a file of this host into the cache, unless there is the same already.
 * @returns The path of the copy; empty if there is no such file.
 */
export async function cacheLocalFile(path: string, place: CachePlace): Promise<string> {
  if (!mayExist(path)) return "";
  const existing = cachedCopy(path, place);
  if (isFile(existing) && sameHash(await fileDigest(path, "sha256"), await fileDigest(existing, "sha256"))) {
    return existing;
  }
  const copy = localFilesPath(path, place.cachedir);
  makeCacheDirectory(dirName(copy));
  const temporary = `${dirName(copy)}/.${crypto.randomUUID()}.part`;
  try {
    await Deno.copyFile(path, temporary);
    await Deno.chmod(temporary, 0o600);
    await Deno.rename(temporary, copy);
  } catch (error) {
    removeIfExists(temporary);
    throw error;
  }
  return copy;
}

/** The paths of all copies: of an environment's files, and of this host's own. */
export function cachedFiles(place: CachePlace): string[] {
  const directories = [environmentDirectory(place), `${place.cachedir}/localfiles`];
  const paths = directories.flatMap((directory) =>
    [...walk(directory)].flatMap(({ path, files }) => files.map((name) => joinPath(path, name)))
  );
  return paths.sort(compareStrings);
}
