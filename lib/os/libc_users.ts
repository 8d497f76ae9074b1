/**
 * Whose rights the process has. Apart from libc.ts, as Deno takes 0.1 ms for each function of a library that is opened, and most
 * processes are who they are. The C library changes all threads of the process at once. Source: POSIX.1-2024; initgroups(3).
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

/** A user to become: ids from the password file, and the name, which `initgroups` wants. */
export interface UserIds {
  /** Login name. */
  readonly name: string;
  /** User id. */
  readonly uid: number;
  /** Primary group id. */
  readonly gid: number;
}

function takeGroups({ name, gid }: UserIds): void {
  check("initgroups", libc().initgroups(new TextEncoder().encode(`${name}\0`), gid));
}

/**
 * Drops this process's rights to those of `user`, for good: groups first, then gid, then uid.
 * @throws {LibcError} Without the right to do so.
 */
export function becomeUser(user: UserIds): void {
  takeGroups(user);
  check("setgid", libc().setgid(user.gid));
  check("setuid", libc().setuid(user.uid));
}

/**
 * Gives this process, which is root's, the rights of `user` until it takes its own back.
 * @returns Does something with root's rights; synchronous, as every thread has them meanwhile.
 * @throws {LibcError} Without the right to do so.
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
