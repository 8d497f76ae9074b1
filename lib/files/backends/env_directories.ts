/**
 * The directories of an environment that a request names, where `__env__` stands for environments that the options do
 * not name: the one way from such a name to a path.
 * Source: Salt 3008.3 `salt/fileserver/roots.py`, `salt/pillar/__init__.py` __gen_opts, which replace without a check.
 * @module
 */

import { realPath } from "#lib/os/disk_paths.ts";
import { normalPath } from "#lib/os/paths.ts";
import { isBelow, MAX_PATH_BYTES } from "./safe_path.ts";

/** The environment whose directories stand for all that are not named, and the text in them that becomes the name. */
export const ANY_ENV = "__env__";

/**
 * The directories in `listed` with the environment's name in place of `__env__`: each is below the directory that
 * contains `__env__`.
 * @param options.follow Whether links may lead out of that directory.
 * @returns `undefined` if the name is not valid as a part of a path, or leads elsewhere.
 */
export function environmentDirectories(
  listed: readonly string[],
  saltenv: string,
  { follow }: { readonly follow: boolean },
): string[] | undefined {
  if (!isSafeEnv(saltenv)) return undefined;
  const directories: string[] = [];
  for (const root of listed) {
    const placed = root.replaceAll(ANY_ENV, () => saltenv);
    if (root.includes(ANY_ENV)) {
      const top = root.slice(0, root.lastIndexOf("/", root.indexOf(ANY_ENV)) + 1) || ".";
      if (!isBelow(normalPath(top), normalPath(placed))) return undefined;
      if (!follow && !isBelow(realPath(top), realPath(placed))) return undefined;
    }
    directories.push(placed);
  }
  return directories;
}

/** Whether an environment's name can safely be a part of a path. */
function isSafeEnv(saltenv: string): boolean {
  if (saltenv.length > MAX_PATH_BYTES || saltenv.includes("\0")) return false;
  return saltenv.split("/").every((step) => step !== "" && step !== "." && step !== "..");
}
