/**
 * POSIX access control lists: rights on a file for single users, in addition to its owner, group and others. Only on
 * Linux. Separate from libc.ts because few processes need them.
 * Source: acl(5), setxattr(2), `linux/posix_acl_xattr.h`.
 * @module
 */

import { cString } from "./c_string.ts";
import { cLibrary } from "./c_library.ts";
import { LibcError } from "#lib/errors.ts";
import { check } from "./libc.ts";

const SYMBOLS = {
  setxattr: { parameters: ["buffer", "buffer", "buffer", "usize", "i32"], result: "i32", optional: true },
  getxattr: { parameters: ["buffer", "buffer", "buffer", "usize"], result: "isize", optional: true },
} as const;

const libc = cLibrary(SYMBOLS);

const NAME = cString("system.posix_acl_access");
const VERSION = 2;
/** Bytes of the header (a version), and of an entry: tag, permissions and id. */
const HEADER = 4, ENTRY = 8;
const USER_OBJ = 0x01, USER = 0x02, GROUP_OBJ = 0x04, MASK = 0x10, OTHER = 0x20;
const NO_ID = 0xffffffff;
/** The kernel's maximum size of a list. */
const MAX_BYTES = 65_536;

/** Permission bits of an entry. */
export const ACL_READ = 4, ACL_WRITE = 2, ACL_PASS = 1;

/** Whether this system has access control lists. */
export function hasAcls(): boolean {
  return Deno.build.os === "linux";
}

/**
 * Gives exactly these `users` (by id) the rights `bits` on the file `path`, in addition to those of its owner, its
 * group and others. The file must belong to this process. An empty list removes all of them.
 * @throws {LibcError} If the file system does not support lists, or not of this length.
 */
export function setAclUsers(path: string, users: readonly number[], bits: number): void {
  const { setxattr } = libc();
  if (!setxattr) throw new LibcError("setxattr");
  const mode = Deno.statSync(path).mode ?? 0;
  const groupPermissions = groupBits(path);
  if (groupPermissions === undefined && users.length === 0) return;
  const group = groupPermissions ?? (mode >> 3) & 7;
  const ids = [...new Set(users)].sort((a, b) => a - b);
  const entries: [tag: number, bits: number, id: number][] = [
    [USER_OBJ, (mode >> 6) & 7, NO_ID],
    ...ids.map((id): [number, number, number] => [USER, bits, id]),
    [GROUP_OBJ, group, NO_ID],
    ...ids.length > 0 ? [[MASK, group | bits, NO_ID] as [number, number, number]] : [],
    [OTHER, mode & 7, NO_ID],
  ];
  const list = new Uint8Array(HEADER + entries.length * ENTRY);
  const view = new DataView(list.buffer);
  view.setUint32(0, VERSION, true);
  for (const [i, [tag, rights, id]] of entries.entries()) {
    view.setUint16(HEADER + i * ENTRY, tag, true);
    view.setUint16(HEADER + i * ENTRY + 2, rights, true);
    view.setUint32(HEADER + i * ENTRY + 4, id, true);
  }
  check("setxattr", setxattr(cString(path), NAME, list, BigInt(list.length), 0));
}

/**
 * The group's rights on the file. If the file has a list, the group bits of its mode are the maximum for all listed
 * users.
 */
function groupBits(path: string): number | undefined {
  const list = new Uint8Array(MAX_BYTES);
  const length = Number(libc().getxattr?.(cString(path), NAME, list, BigInt(list.length)) ?? -1);
  const view = new DataView(list.buffer);
  for (let at = HEADER; at + ENTRY <= length; at += ENTRY) {
    if (view.getUint16(at, true) === GROUP_OBJ) return view.getUint16(at + 2, true);
  }
  return undefined;
}
