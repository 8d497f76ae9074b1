/**
 * Decides whether only root controls the target of a path. If so, root may act there by name; otherwise it acts with
 * the rights of the user for whom it acts, so that a planted link gives that user no additional rights. Checks
 * permission bits, not access control lists: only root can have granted rights by one.
 * @module
 */

import { lstatIfExists } from "./atomic_file.ts";
import { findGroup, type User } from "./users.ts";

const ROOT: User = { name: "root", passwd: "x", uid: 0, gid: 0, gecos: "", home: "/root", shell: "" };
/** The kernel's maximum number of links in one path. */
const MAX_LINKS = 40;
const STICKY = 0o1000, GROUP_WRITES = 0o020, OTHERS_WRITE = 0o002;

/**
 * Whether only root can change the target of the absolute path `path`, whether it exists or not: each directory on the
 * way, also of links, belongs to root, and `user` cannot create or rename anything in it.
 * @param user The user for whom root acts. For root itself, no other user may change the path.
 * @throws What `Deno.lstatSync` throws, except for missing files.
 */
export function isTrustedPath(path: string, user: User): boolean {
  let names = path.split("/").filter((name) => name !== "");
  let directory = "";
  for (let links = 0; names.length > 0;) {
    const [name, ...rest] = names;
    const entry = `${directory}/${name}`;
    const info = lstatIfExists(entry);
    if (!isRoots(directory === "" ? "/" : directory, { user, entry: info })) return false;
    if (info === undefined) return true; // root will create what does not exist yet
    names = rest;
    if (name === "..") directory = directory.slice(0, Math.max(0, directory.lastIndexOf("/")));
    else if (!info.isSymlink) directory = name === "." ? directory : entry;
    else {
      if (++links > MAX_LINKS) return false;
      const target = Deno.readLinkSync(entry);
      if (target.startsWith("/")) directory = "";
      names = [...target.split("/").filter((part) => part !== ""), ...rest];
    }
  }
  return true;
}

/**
 * Whether only root can change what the existing file `path` contains, and which file that is.
 * @throws As {@linkcode isTrustedPath}.
 */
export function isTrustedFile(path: string): boolean {
  const { uid, gid, mode } = Deno.statSync(path);
  const bits = mode ?? 0;
  if (uid !== 0 || (bits & OTHERS_WRITE) !== 0 || ((bits & GROUP_WRITES) !== 0 && gid !== 0)) return false;
  return isTrustedPath(path, ROOT);
}

/** Whether `user` and others cannot change an entry of a directory. */
function isRoots(directory: string, { user, entry }: { user: User; entry: Deno.FileInfo | undefined }): boolean {
  const { uid, gid, mode } = Deno.lstatSync(directory);
  if (uid !== 0) return false;
  const bits = mode ?? 0;
  const writes = (bits & OTHERS_WRITE) !== 0 || ((bits & GROUP_WRITES) !== 0 && isMember(user, gid ?? 0));
  // In a sticky directory nobody else renames or removes root's entries.
  return !writes || ((bits & STICKY) !== 0 && (entry === undefined || entry.uid === 0));
}

function isMember({ name, uid, gid }: User, group: number): boolean {
  if (uid === 0) return group !== 0;
  return gid === group || (findGroup(group)?.members.includes(name) ?? false);
}
