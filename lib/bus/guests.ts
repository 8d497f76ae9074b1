/**
 * Guests of the master: the users of this host whom `publisher_acl` names. What they need is opened to each of them by an access
 * control list, and to nobody else: the way into two directories, their own key file, the ports, and the event bus to listen to.
 * Linux's alone: other systems have no such lists.
 * @module
 */

import { PreflightError } from "../errors.ts";
import { ACL_PASS, ACL_READ, ACL_WRITE, hasAcls, setAclUsers } from "../os/libc_acl.ts";
import { accessKeyPath } from "../config/master_paths.ts";
import { findUser } from "../os/users.ts";

/** One of them. */
export interface Guest {
  /** As `publisher_acl` spells it. */
  readonly name: string;
  /** The user id. */
  readonly uid: number;
}

/** What a guest may do: go through a directory, read a file, connect to a socket. */
export type GuestRight = "pass" | "read" | "connect";

const BITS: Readonly<Record<GuestRight, number>> = { pass: ACL_PASS, read: ACL_READ, connect: ACL_READ | ACL_WRITE };

/** The users of this host among `names` who have not the master's rights anyway. */
export function findGuests(names: Iterable<string>): Guest[] {
  return [...names].flatMap((name) => {
    const uid = findUser(name)?.uid;
    return uid === undefined || uid === 0 || uid === Deno.uid() ? [] : [{ name, uid }];
  });
}

/**
 * Opens what is this process's to the users with these ids, and closes it to other guests.
 * @throws {LibcError} Where the file system keeps no access control lists.
 * @throws {PreflightError} Where the system has none.
 */
export function openToGuests(path: string, right: GuestRight, uids: readonly number[]): void {
  if (uids.length === 0 && !mayHaveGuests(path)) return;
  if (!hasAcls()) throw new PreflightError("this system has no access control lists as Linux has");
  setAclUsers(path, uids, BITS[right]);
}

/** The bits of the group are the most that any guest may. */
function mayHaveGuests(path: string): boolean {
  return hasAcls() && ((Deno.statSync(path).mode ?? 0) & 0o070) !== 0;
}

/**
 * Opens the way to their keys, and those, to the guests.
 * @throws As {@linkcode openToGuests}.
 */
export function admitGuests(
  { cachedir, sock_dir }: { readonly cachedir: string; readonly sock_dir: string },
  guests: readonly Guest[],
): void {
  for (const path of [cachedir, sock_dir]) openToGuests(path, "pass", guests.map(({ uid }) => uid));
  for (const { name, uid } of guests) openToGuests(accessKeyPath(cachedir, name), "read", [uid]);
}
