/**
 * Whether only root decides where a path leads. Root may act there by the path's name; everywhere else it acts with the rights of
 * the user for whom it acts: a link that somebody plants leads that user no further than they get anyway.
 *
 * Permission bits count, and no access control lists: who gets rights by one was given them by root.
 * @module
 */

import { findGroup, type User } from "./users.ts";

/** As many links as the kernel follows in one path. */
const MAX_LINKS = 40;
const STICKY = 0o1000, GROUP_WRITES = 0o020, OTHERS_WRITE = 0o002;

/**
 * Whether nobody but root can change what the absolute path `path` leads to, be it there or not: each directory on the way,
 * those of links as well, is root's, and `user` may make or rename nothing in it.
 * @param user For whom root acts; root: nobody at all may.
 * @throws What `Deno.lstatSync` throws, but for what is missing.
 */
export function isTrustedPath(path: string, user: User): boolean {
  let names = path.split("/").filter((name) => name !== "");
  let directory = "";
  for (let links = 0; names.length > 0;) {
    const [name, ...rest] = names;
    const entry = `${directory}/${name}`;
    const found = lstatIfExists(entry);
    if (!isRoots(directory === "" ? "/" : directory, { user, entry: found })) return false;
    if (found === undefined) return true; // what is not there yet, root will make
    names = rest;
    if (name === "..") directory = directory.slice(0, Math.max(0, directory.lastIndexOf("/")));
    else if (!found.isSymlink) directory = name === "." ? directory : entry;
    else {
      if (++links > MAX_LINKS) return false;
      const target = Deno.readLinkSync(entry);
      if (target.startsWith("/")) directory = "";
      names = [...target.split("/").filter((part) => part !== ""), ...rest];
    }
  }
  return true;
}

/** Whether `user` and every stranger must leave an entry of a directory as it is. */
function isRoots(directory: string, { user, entry }: { user: User; entry: Deno.FileInfo | undefined }): boolean {
  const { uid, gid, mode } = Deno.lstatSync(directory);
  if (uid !== 0) return false;
  const bits = mode ?? 0;
  const writes = (bits & OTHERS_WRITE) !== 0 || ((bits & GROUP_WRITES) !== 0 && isMember(user, gid ?? 0));
  // In a sticky directory nobody renames or removes what is root's.
  return !writes || ((bits & STICKY) !== 0 && (entry === undefined || entry.uid === 0));
}

function isMember({ name, uid, gid }: User, group: number): boolean {
  if (uid === 0) return group !== 0;
  return gid === group || (findGroup(group)?.members.includes(name) ?? false);
}

function lstatIfExists(path: string): Deno.FileInfo | undefined {
  try {
    return Deno.lstatSync(path);
  } catch (error) {
    const missing = error instanceof Deno.errors.NotFound || error instanceof Deno.errors.NotADirectory;
    if (missing) return undefined;
    throw error;
  }
}
