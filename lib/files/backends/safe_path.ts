/**
 * Checks paths from minions, and whether a path is below a root. Source: Salt 3008.3
 * `salt/fileserver/__init__.py` find_file, `salt/utils/verify.py` clean_path; CVE-2020-11652, CVE-2024-22231,
 * CVE-2024-22232.
 * @module
 */

import { realPath } from "#lib/os/disk_paths.ts";
import { normalPath } from "#lib/os/paths.ts";

/** Maximum number of bytes of a path. */
export const MAX_PATH_BYTES = 4096;

/**
 * `path` without `.` and empty steps; `undefined` if it is absolute, empty or has `../`, or invalid on every system.
 */
export function safePath(path: string): string | undefined {
  if (path === "" || path.length > MAX_PATH_BYTES || path.includes("\0")) return undefined;
  if (path.startsWith("/") || path.includes("../") || path.split("/").includes("..")) return undefined;
  return normalPath(path);
}

/** Whether the lexical path `path` is `root` or below it. */
export function isBelow(root: string, path: string): boolean {
  return path === root || path.startsWith(root === "/" ? "/" : `${root}/`);
}

/**
 * Whether `path`, with all links followed, is below `root`. For missing parts, the place where they would be created
 * counts.
 */
export async function isReallyBelow(root: string, path: string): Promise<boolean> {
  const [realRoot, real] = await Promise.all([followLinks(root), followLinks(path)]);
  return isBelow(realRoot, real);
}

/** The path with all links followed, also if its last parts do not exist. */
export async function followLinks(path: string): Promise<string> {
  try {
    return await Deno.realPath(path);
  } catch {
    return realPath(path);
  }
}

/** A name of an environment as the name of a file: Salt's `safe_filename_leaf`. */
export function fileNameOf(saltenv: string): string {
  return saltenv.replace(/[\\:/*?"<>|]/g, (char) => encodeURIComponent(char).replace("*", "%2A"));
}

/** The environment of which {@linkcode fileNameOf} made a name. */
export function environmentOf(name: string): string {
  try {
    return decodeURIComponent(name);
  } catch {
    return name; // with a % of its own
  }
}
