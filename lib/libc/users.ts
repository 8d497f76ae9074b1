/**
 * Changes the user of the process. Separate from libc.ts because Deno takes 0.1 ms for each function of a library that
 * is opened, and most processes keep their user. The C library changes all threads of the process at once.
 * Source: POSIX.1-2024; initgroups(3).
 * @module
 */

import { cLibrary } from "./c_library.ts";
import { check } from "./libc.ts";

const SYMBOLS = {
  setgid: { parameters: ["u32"], result: "i32" },
  setuid: { parameters: ["u32"], result: "i32" },
  setegid: { parameters: ["u32"], result: "i32" },
  seteuid: { parameters: ["u32"], result: "i32" },
  initgroups: { parameters: ["buffer", "u32"], result: "i32" },
} as const;

const libc = cLibrary(SYMBOLS);

/** A user: ids from the password file, and the name for `initgroups`. */
export interface UserIds {
  readonly name: string;
  readonly uid: number;
  /** Primary group id. */
  readonly gid: number;
}

function takeGroups({ name, gid }: UserIds): void {
  check("initgroups", libc().initgroups(new TextEncoder().encode(`${name}\0`), gid));
}

/**
 * Drops this process's rights to those of `user` permanently: groups first, then gid, then uid.
 * @throws {LibcError} Without permission.
 */
export function becomeUser(user: UserIds): void {
  takeGroups(user);
  check("setgid", libc().setgid(user.gid));
  check("setuid", libc().setuid(user.uid));
}

/**
 * Gives this process, which must be root's, the rights of `user` until the returned function takes root's rights back.
 * @returns Runs `act` with root's rights. It must be synchronous, as all threads have these rights meanwhile.
 * @throws {LibcError} Without permission.
 */
export function actAsUser(user: UserIds): <T>(act: () => T) => T {
  takeGroups(user);
  check("setegid", libc().setegid(user.gid));
  check("seteuid", libc().seteuid(user.uid));
  return (act) => {
    check("seteuid", libc().seteuid(0));
    try {
      return act();
    } finally {
      check("seteuid", libc().seteuid(user.uid));
    }
  };
}
