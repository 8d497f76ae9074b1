/**
 * Execution module `engines`: what the engines of this minion do. Not in Salt.
 * @module
 */

import { enginesDirectory, readEngineStatus } from "#lib/engines/status.ts";
import { describe } from "#lib/plugins/docs.ts";
import { fn, type JobContext } from "#lib/plugins/job_context.ts";
import type { ModuleFunction } from "#lib/plugins/module.ts";
import { map } from "#lib/values/value.ts";

export const status: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Show the engines of this minion: the state of each, the id of its process, how often it was started, and why it\n" +
      "ended the last time; and what is wrong with the option `engines`.",
    "engines.status",
  ),
  permissions: { read: ["{cachedir}/engines"] },
  params: {},
  run(_, { opts }) {
    const report = readEngineStatus(enginesDirectory(opts.cachedir));
    report?.delete("pid");
    return report ?? map({ engines: map({}), mistakes: [] });
  },
});
