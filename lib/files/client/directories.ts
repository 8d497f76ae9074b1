/**
 * Directories of a file server, and their places on this host.
 * @module
 */

import { dirName } from "#lib/os/paths.ts";
import { createDirectory } from "#lib/os/new_files.ts";
import { isDirectory } from "#lib/os/file_kind.ts";

/** Whether there is a directory at `path`; with `make` it is created if necessary. */
export function directoryOnHost(path: string, make: boolean): boolean {
  if (isDirectory(path)) return true;
  if (make) createDirectory(path, { recursive: true });
  return make;
}

/** Those of `paths` that are below a directory, and not in another one whose name begins with the same text. */
export function filesBelow(directory: string, paths: readonly string[]): string[] {
  return paths.filter((path) => path[directory.length] === "/" && path.startsWith(directory));
}

/** The destination of a file below `directory`: below `dest`, with the name of the directory. */
export function minionPath(path: string, directory: string, dest: string): string {
  const parent = dirName(directory);
  return `${dest}/${path.slice(parent.length).replace(/^\/+/, "")}`;
}
