/**
 * The user that a service runs as (`user`, `--user`): found before anything is made, become when what only root can do is done.
 * @module
 */

import { LibcError, PreflightError } from "../errors.ts";
import { becomeUser } from "../os/libc_users.ts";
import { findUser, type User } from "../os/users.ts";

/**
 * The account of the user called `name`, if the process is to become that user; `undefined` if it is that user already.
 * @throws {PreflightError} If there is no such user, or the process has no right to change.
 */
export function userToBecome(name: string, uid: number | null = Deno.uid()): User | undefined {
  if (uid === null || name === String(uid)) return undefined;
  const user = findUser(name);
  if (user === undefined) throw new PreflightError(`user: there is no user ${name} on this host`);
  if (user.uid === uid) return undefined;
  if (uid !== 0) {
    throw new PreflightError(`user: only root can run this as ${name}; start it as ${name}, or set user and root_dir`);
  }
  return user;
}

/**
 * Becomes `user` for good, and says so in the environment.
 * @throws {PreflightError} If the system refuses.
 */
export function becomeRunUser(user: User): void {
  try {
    becomeUser(user);
  } catch (error) {
    if (error instanceof LibcError) throw new PreflightError(`user: cannot become ${user.name}: ${error.message}`);
    throw error;
  }
  for (
    const [name, value] of [["HOME", user.home], ["SHELL", user.shell], ["USER", user.name], ["LOGNAME", user.name]]
  ) {
    Deno.env.set(name, value);
  }
}
