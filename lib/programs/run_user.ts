/**
 * The user of a service (`user`, `--user`): looked up before anything is made; the process changes to it after all that
 * needs root.
 * @module
 */

import { LibcError, PreflightError } from "#lib/errors.ts";
import { becomeUser } from "#lib/libc/users.ts";
import { findUser, type User } from "#lib/os/users.ts";

/**
 * The account `name`, if the process must change to that user; `undefined` if it runs as that user already.
 * @throws {PreflightError} If there is no such user, or the process may not change to it.
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
 * Changes to `user` permanently, and updates the environment.
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
