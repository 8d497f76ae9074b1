/**
 * Writes the files of a package to a directory, as they will be on the host.
 * @module
 */

import type { PackageFile, SystemPackage } from "./system_packages.ts";

/**
 * Writes the tree of a package to `directory`; every file has the time `epoch`, in seconds.
 * @returns The sum of the sizes of its files, in bytes.
 */
export function writeTree({ files, directories }: SystemPackage, directory: string, epoch: number): number {
  for (const path of directories) makeDirectory(`${directory}${path}`);
  let bytes = 0;
  for (const file of files) {
    makeDirectory(parentOf(`${directory}${file.path}`));
    bytes += writeFile(file, `${directory}${file.path}`);
  }
  setTimes(directory, epoch);
  return bytes;
}

function writeFile(file: PackageFile, path: string): number {
  if ("link" in file) {
    Deno.symlinkSync(file.link, path);
    return 0;
  }
  if ("text" in file) Deno.writeTextFileSync(path, file.text);
  else Deno.copyFileSync(file.file, path);
  // The umask of whoever makes the release does not count.
  Deno.chmodSync(path, file.mode ?? 0o644);
  return Deno.statSync(path).size;
}

function makeDirectory(path: string): void {
  try {
    if (Deno.statSync(path).isDirectory) return;
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
  }
  makeDirectory(parentOf(path));
  Deno.mkdirSync(path);
  Deno.chmodSync(path, 0o755);
}

function parentOf(path: string): string {
  return path.slice(0, path.lastIndexOf("/"));
}

/** Sets the times of everything in `directory`, and of itself, to `epoch`, in seconds. Links have their own time. */
export function setTimes(directory: string, epoch: number): void {
  for (const { name, isDirectory, isFile } of Deno.readDirSync(directory)) {
    const path = `${directory}/${name}`;
    if (isDirectory) setTimes(path, epoch);
    if (isFile) Deno.utimeSync(path, epoch, epoch);
  }
  Deno.utimeSync(directory, epoch, epoch);
}
