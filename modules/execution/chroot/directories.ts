/**
 * The functions of `chroot` for directories that a process can have as its root.
 * Source: Salt 3008.3 `salt/modules/chroot.py` exist, create, in_chroot.
 * @module
 */

import { messageOf } from "#lib/errors.ts";
import { isDirectory } from "#lib/os/file_kind.ts";
import { describe } from "#lib/plugins/docs.ts";
import { fn, type JobContext } from "#lib/plugins/job_context.ts";
import { type ModuleFunction, p } from "#lib/plugins/module.ts";

/** The directories of an environment, with their modes. */
const DIRECTORIES: readonly (readonly [name: string, mode: number])[] = [["dev", 0o755], ["proc", 0o555], [
  "sys",
  0o555,
]];

export const exist: ModuleFunction<JobContext> = fn({
  doc: describe("Whether a directory has `dev`, `proc` and `sys` of an environment.", "chroot.exist /chroot"),
  permissions: "all",
  params: { root: p.str() },
  run: ({ root }) => isEnvironment(root),
});

export const create: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Make a directory with empty `dev`, `proc` and `sys`. Return whether it is there: a part of it that was there\n" +
      "before is an error in the log.",
    "chroot.create /chroot",
  ),
  permissions: "all",
  params: { root: p.str() },
  run: ({ root }, { log }) => {
    if (isEnvironment(root)) return true;
    try {
      for (const [name, mode] of DIRECTORIES) {
        Deno.mkdirSync(root, { recursive: true });
        Deno.mkdirSync(`${root}/${name}`, { mode });
      }
      return true;
    } catch (error) {
      log("error", `Error when trying to create chroot directories: ${messageOf(error)}`);
      return false;
    }
  },
});

export const in_chroot: ModuleFunction<JobContext> = fn({
  doc: describe("Whether the minion's mounts are others than those of the first process.", "chroot.in_chroot"),
  permissions: "all",
  params: {},
  run: () => {
    try {
      return Deno.readTextFileSync("/proc/1/mountinfo") !== Deno.readTextFileSync("/proc/self/mountinfo");
    } catch {
      return false; // as in Salt
    }
  },
});

/** Whether a directory has `dev`, `proc` and `sys`. */
export function isEnvironment(root: string): boolean {
  return isDirectory(root) && DIRECTORIES.every(([name]) => isDirectory(`${root}/${name}`));
}
