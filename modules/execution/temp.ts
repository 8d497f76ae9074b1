/**
 * Execution module `temp`: temporary files and directories, which their maker must remove.
 * Source: the functions of Salt 3008.3 `salt/modules/temp.py`.
 * @module
 */

import { joinPath } from "#lib/os/paths.ts";
import { asCommandError } from "#lib/os/command_error.ts";
import { describe } from "#lib/plugins/docs.ts";
import { fn, type JobContext } from "#lib/plugins/job_context.ts";
import { type ModuleFunction, p } from "#lib/plugins/module.ts";
import type { Permissions } from "#lib/plugins/permissions.ts";

const WRITE: Permissions = { read: true, write: true, env: ["TMPDIR"] };
const NAMES = { suffix: p.str(""), prefix: p.str("tmp"), parent: p.str(null) };

interface Names {
  readonly suffix: string;
  readonly prefix: string;
  readonly parent: string | null;
}

/** @throws {CommandError} If it cannot be made. */
function makeTemporary({ suffix, prefix, parent }: Names, make: (options: Deno.MakeTempOptions) => string): string {
  try {
    return make({ suffix, prefix, ...parent !== null && { dir: parent } });
  } catch (error) {
    throw asCommandError(error, joinPath(parent ?? "/tmp", `${prefix}…${suffix}`));
  }
}

export const dir: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Make a directory that only the minion's user may enter, and return its path.",
    "temp.dir",
    "temp.dir prefix='mytemp-' parent='/var/run/'",
  ),
  permissions: WRITE,
  params: NAMES,
  run: (names) => makeTemporary(names, Deno.makeTempDirSync),
});

export const file: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Make a file that only the minion's user may read, and return its path.",
    "temp.file",
    "temp.file prefix='mytemp-' parent='/var/run/'",
  ),
  permissions: WRITE,
  params: NAMES,
  run: (names) => makeTemporary(names, Deno.makeTempFileSync),
});
