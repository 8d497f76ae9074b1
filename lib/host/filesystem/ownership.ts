/**
 * Owners and modes of files: their names and numbers, as Salt gives them, and changing them.
 * Source: Salt 3008.3, `salt/modules/file.py`, `salt/utils/files.py` normalize_mode.
 * @module
 */

import { stripChars } from "#lib/values/python_text.ts";
import { CommandError } from "#lib/errors.ts";
import { exists, lexists } from "#lib/os/file_kind.ts";
import { type Held, holdDirectory, holdTarget } from "#lib/os/held_path.ts";
import { nodeBuiltin } from "#lib/os/node_builtin.ts";
import { findGroup, findUser } from "#lib/os/users.ts";
import { isInt, repr, str, type Value } from "#lib/values/value.ts";
import { realPath } from "#lib/os/disk_paths.ts";
import { dirName } from "#lib/os/paths.ts";
import { fileStatus } from "./status.ts";

/** The number of a user: a number as it is, a name's, this process's for None; empty text for an unknown one. */
export function userToUid(user: Value): Value {
  if (user === null) return Deno.uid() ?? 0;
  if (isInt(user)) return user;
  return findUser(str(user))?.uid ?? "";
}

/** The number of a group: a number as it is, a name's; empty text for None and an unknown one. */
export function groupToGid(group: Value): Value {
  if (group === null) return "";
  if (isInt(group)) return group;
  return findGroup(str(group))?.gid ?? "";
}

/** The name of the user `uid`, or the number if there is no such user. */
export function uidToUser(uid: number): string | number {
  return findUser(uid)?.name ?? uid;
}

/** The name of the group `gid`, or the number. */
export function gidToGroup(gid: number): string | number {
  return findGroup(gid)?.name ?? gid;
}

/** A mode as Salt compares them: digits, at least four; None stays. */
export function normalizeMode(mode: Value): string | null {
  if (mode === null) return null;
  return stripChars(stripChars(str(mode).replaceAll("0o", "0"), '"'), "'").replace(/^0+/, "").padStart(
    4,
    "0",
  );
}

/**
 * Changes the owner of the file at `path`, or of the link there. A user or group that is empty or None stays.
 * @returns What is wrong, a line each; `undefined` if it was done.
 * @throws What Deno throws if the system refuses.
 */
export function changeOwner(
  path: string,
  { user, group, link = false }: { readonly user: Value; readonly group: Value; readonly link?: boolean },
): string | undefined {
  const uid = userToUid(user), gid = groupToGid(group);
  let problems = "";
  if (uid === "" && user !== null && user !== "") problems += "User does not exist\n";
  if (gid === "" && group !== null && group !== "") problems += "Group does not exist\n";
  const ids = { uid: uid === "" ? -1 : Number(uid), gid: gid === "" ? -1 : Number(gid) };
  if (link) {
    if (problems !== "") throw new CommandError(problems.trimEnd());
    changeLink(path, ids);
    return undefined;
  }
  if (!exists(path)) {
    if (lexists(path) && problems === "") {
      changeLink(path, ids);
      return undefined;
    }
    return `${problems}File not found`;
  }
  if (problems !== "") return problems;
  using held = holdTarget(path);
  refuseForeignName(path, held);
  Deno.chownSync(held.path, ids.uid < 0 ? null : ids.uid, ids.gid < 0 ? null : ids.gid);
  return undefined;
}

function changeLink(path: string, { uid, gid }: { readonly uid: number; readonly gid: number }): void {
  // An id of -1 stays to the system; the runtime takes none below 0.
  using held = holdTarget(path, { follow: false });
  const old = held.status();
  refuseForeignName(path, held, realPath(dirName(path)));
  const ids = [uid < 0 ? old.uid ?? 0 : uid, gid < 0 ? old.gid ?? 0 : gid] as const;
  // The path of a held object is a link of the kernel's.
  if (held.path === path) nodeBuiltin("node:fs").lchownSync(held.path, ...ids);
  else Deno.chownSync(held.path, ...ids);
}

/**
 * A user may have given a file of root's a second name in a directory of the user's own, where the system allows that.
 * @param place The directory of its name: for a link the one that it is in, not the one where it leads.
 * @throws {CommandError} For such a file, which only root could change.
 */
function refuseForeignName(path: string, held: Held, place: string = dirName(realPath(path))): void {
  const { nlink, uid, isDirectory } = held.status();
  if (isDirectory || (nlink ?? 1) < 2 || uid !== 0) return;
  using directory = holdDirectory(place);
  if (directory.status().uid !== 0) {
    throw new CommandError(`${path} is a file of root's that has other names, in a directory of another user`);
  }
}

/**
 * Sets the mode of the file where `path` leads.
 * @returns The mode afterwards, or Salt's text for a mode that is none, or that the system refuses.
 * @throws {CommandError} If there is no such file.
 */
export function setMode(path: string, mode: Value): string {
  return changeMode(path, mode) ?? fileStatus(path).mode;
}

/**
 * As {@linkcode setMode}, for who does not ask for the mode afterwards.
 * @returns Salt's text for a mode that is none, or that the system refuses.
 * @throws {CommandError} If there is no such file.
 */
export function changeMode(path: string, mode: Value): string | undefined {
  const digits = str(mode).replace(/^[0Oo]+/, "") || "0";
  const isMode = /^[0-7]{1,4}$/.test(digits);
  try {
    if (isMode) setBits(path, parseInt(digits, 8));
    else Deno.statSync(path);
  } catch {
    if (!exists(path)) throw new CommandError(`${path}: File not found`);
    // Salt says the same if the system refuses.
    return `Invalid Mode ${digits}`;
  }
  return isMode ? undefined : `Invalid Mode ${digits}`;
}

function setBits(path: string, mode: number): void {
  using held = holdTarget(path);
  refuseForeignName(path, held);
  Deno.chmodSync(held.path, mode);
}

/**
 * Python's octal digits in a number as a mode: 755 is rwxr-xr-x.
 * @throws {CommandError} If it has other digits.
 */
export function parseMode(mode: Value): number {
  const digits = str(mode).replace(/^[0Oo]+/, "") || "0";
  if (!/^[0-7]{1,7}$/.test(digits)) throw new CommandError(`invalid literal for int() with base 8: ${repr(digits)}`);
  return parseInt(digits, 8);
}

/** The mode of a directory for files of `mode`: whoever may read it may enter it. */
export function directoryMode(mode: Value): string {
  return [...str(mode).slice(-3)].map((digit) => digit === "0" ? digit : String(Number(digit) | 1)).join("");
}
