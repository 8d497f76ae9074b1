/**
 * Access for the users of this host in `publisher_acl`: access control lists give exactly these users the right to
 * enter two directories, to read their own key file, to connect to the ports, and to listen to the event bus. Only on
 * Linux: other systems have no such lists.
 * @module
 */

import { PreflightError } from "#lib/errors.ts";
import { ACL_PASS, ACL_READ, ACL_WRITE, hasAcls, setAclUsers } from "#lib/libc/acl.ts";
import { accessKeyPath } from "#lib/config/master_paths.ts";
import { findUser } from "#lib/os/users.ts";

/** A user in `publisher_acl`. */
export interface AclUser {
  /** The name as written in `publisher_acl`. */
  readonly name: string;
  readonly uid: number;
}

/** A right: go through a directory, read a file, connect to a socket. */
export type AclRight = "pass" | "read" | "connect";

const BITS: Readonly<Record<AclRight, number>> = { pass: ACL_PASS, read: ACL_READ, connect: ACL_READ | ACL_WRITE };

/** The users of this host among `names`, except root and the master's user. */
export function findAclUsers(names: Iterable<string>): AclUser[] {
  return [...names].flatMap((name) => {
    const uid = findUser(name)?.uid;
    return uid === undefined || uid === 0 || uid === Deno.uid() ? [] : [{ name, uid }];
  });
}

/**
 * Gives these users (by id) access to a file or directory of this process, and removes it for all others.
 * @throws {LibcError} If the file system has no access control lists.
 * @throws {PreflightError} If the system has none.
 */
export function openToAclUsers(path: string, right: AclRight, uids: readonly number[]): void {
  if (uids.length === 0 && !mayHaveAcl(path)) return;
  if (!hasAcls()) throw new PreflightError("this system has no access control lists as Linux has");
  setAclUsers(path, uids, BITS[right]);
}

/** Whether the path may have an access control list: its group bits are then the maximum of all its users. */
function mayHaveAcl(path: string): boolean {
  return hasAcls() && ((Deno.statSync(path).mode ?? 0) & 0o070) !== 0;
}

/**
 * Gives the users access to their keys, and to the directories above them.
 * @throws As {@linkcode openToAclUsers}.
 */
export function openKeysToAclUsers(
  { cachedir, sock_dir }: { readonly cachedir: string; readonly sock_dir: string },
  users: readonly AclUser[],
): void {
  for (const path of [cachedir, sock_dir]) openToAclUsers(path, "pass", users.map(({ uid }) => uid));
  for (const { name, uid } of users) openToAclUsers(accessKeyPath(cachedir, name), "read", [uid]);
}
