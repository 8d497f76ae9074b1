/**
 * The user whose rights a command uses, and the user who gives it. A command given by root becomes the user of the
 * master or minion before it writes, reads a key or loads a module: files that it creates belong to that user, and
 * links planted by that user cannot redirect root. Other users keep their rights.
 * Source: Salt's `check_user`, which does so in `salt-run` and `salt-key`.
 * @module
 */

import { callingUser } from "./calling_user.ts";
import { LibcError, PreflightError } from "#lib/errors.ts";
import { actAsUser } from "#lib/libc/users.ts";
import { giveLogFile } from "#lib/runtime/log_file.ts";
import { becomeRunUser, userToBecome } from "#lib/programs/run_user.ts";
import type { User } from "#lib/os/users.ts";

/** The options that decide it. */
export interface ServiceUserOpts {
  /** The user of the master or minion. */
  readonly user: string;
  /** The log file, which root makes for that user where only root can. */
  readonly log_file: string;
}

/**
 * Takes the rights of the service's user permanently, if this process is root's.
 * @returns The user who runs the command, as sent to the master.
 * @throws {PreflightError} If there is no such user.
 */
export function becomeServiceUser(opts: ServiceUserOpts): string {
  const caller = callingUser();
  const user = prepare(opts);
  if (user !== undefined) becomeRunUser(user);
  return caller;
}

/** A command that has the rights of the service's user, and can still read what the caller can. */
export interface ActingCommand {
  /** The user who gives the command, as sent to the master. */
  readonly caller: string;
  /** Does something with the caller's rights. */
  asCaller<T>(act: () => T): T;
}

/**
 * As {@linkcode becomeServiceUser}, for a command that reads files of the caller's while it runs.
 * @throws {PreflightError} If there is no such user.
 */
export function actAsServiceUser(opts: ServiceUserOpts): ActingCommand {
  const caller = callingUser();
  const user = prepare(opts);
  if (user === undefined) return { caller, asCaller: (act) => act() };
  try {
    return { caller, asCaller: actAsUser(user) };
  } catch (error) {
    if (error instanceof LibcError) throw new PreflightError(`user: cannot act as ${user.name}: ${error.message}`);
    throw error;
  }
}

function prepare({ user: name, log_file }: ServiceUserOpts): User | undefined {
  const user = Deno.uid() === 0 ? userToBecome(name) : undefined;
  if (user === undefined) return undefined;
  try {
    giveLogFile(log_file, user);
  } catch {
    // The log is opened as that user next; that step reports the problem.
  }
  return user;
}
