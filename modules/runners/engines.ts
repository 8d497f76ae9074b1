/**
 * Runner `engines`: what the engines of the master do. Not in Salt.
 * @module
 */

import { runner, runnerDoc, type RunnerFunction } from "#lib/client/runner_context.ts";
import { enginesDirectory, readEngineStatus } from "#lib/engines/status.ts";
import { CommandError } from "#lib/errors.ts";
import { isAlive } from "#lib/jobs/proc_notes.ts";

export const status: RunnerFunction = runner({
  doc: runnerDoc(
    "Show the engines of the master: the state of each, the id of its process, how often it was started, and why it " +
      "ended the last time; and what is wrong with the option `engines`.",
    "engines.status",
  ),
  params: {},
  run(_, { opts }) {
    const report = readEngineStatus(enginesDirectory(opts.cachedir));
    if (report === undefined || !isAlive(report.get("pid"))) throw new CommandError("The master runs no engines");
    report.delete("pid");
    return report;
  },
});
