/**
 * The directories above a program's own ones: several programs of several users share them (`/var/cache/salt`,
 * `/etc/salt`), so that they are open to all, whoever makes them first.
 * @module
 */

import { statIfExists } from "./atomic_file.ts";
import { dirName } from "./paths.ts";

/**
 * Makes a directory if it is missing, and the missing ones above it, all with mode 0755 whatever the umask: a service
 * that runs as another user must be able to pass.
 * @throws What `Deno.mkdirSync` throws.
 */
export function makeSharedDirectory(path: string): void {
  if (path === "/" || path === "." || statIfExists(path) !== undefined) return;
  makeSharedDirectory(dirName(path));
  try {
    Deno.mkdirSync(path, { mode: 0o755 });
  } catch (error) {
    // Another program, which starts at the same time, has made it.
    if (error instanceof Deno.errors.AlreadyExists) return;
    throw error;
  }
  Deno.chmodSync(path, 0o755);
}

/**
 * Makes what is missing above the own directories of a program, which makes those later, closed to others, and would
 * close what is above them too.
 */
export function openSharedParents(
  { cachedir, pki_dir }: { readonly cachedir: string; readonly pki_dir: string },
): void {
  for (const path of [cachedir, pki_dir]) {
    try {
      makeSharedDirectory(dirName(path));
    } catch (error) {
      // Who may not make them cannot make the program's own directory either, and hears so if it is needed.
      const forbidden = error instanceof Deno.errors.PermissionDenied || error instanceof Deno.errors.NotADirectory ||
        error instanceof Deno.errors.NotCapable;
      if (!forbidden) throw error;
    }
  }
}
