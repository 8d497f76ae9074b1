/**
 * Execution module `temp`: temporary files and directories, which their maker must remove.
 * Source: the functions of Salt 3008.3 `salt/modules/temp.py`.
 * @module
 */

import { describe } from "../../lib/plugins/docs.ts";
import { fn, type JobContext } from "../../lib/plugins/job_context.ts";
import { type ModuleFunction, str } from "../../lib/plugins/module.ts";
import type { Permissions } from "../../lib/plugins/permissions.ts";

const WRITE: Permissions = { read: true, write: true, env: ["TMPDIR"] };
const NAMES = { suffix: str(""), prefix: str("tmp"), parent: str(null) };

export const dir: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Make a directory that only the minion's user may enter, and return its path.",
    "temp.dir",
    "temp.dir prefix='mytemp-' parent='/var/run/'",
  ),
  permissions: WRITE,
  params: NAMES,
  run: ({ suffix, prefix, parent }) => Deno.makeTempDirSync({ suffix, prefix, dir: parent ?? undefined }),
});

export const file: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Make a file that only the minion's user may read, and return its path.",
    "temp.file",
    "temp.file prefix='mytemp-' parent='/var/run/'",
  ),
  permissions: WRITE,
  params: NAMES,
  run: ({ suffix, prefix, parent }) => Deno.makeTempFileSync({ suffix, prefix, dir: parent ?? undefined }),
});
