/**
 * Runner `returners`: what returners of the master do. Not in Salt.
 * @module
 */

import { runner, runnerDoc, type RunnerFunction } from "#lib/client/runner_context.ts";
import { EVENT_OPTIONS, masterReturners } from "#lib/returners/master_returners.ts";
import { map } from "#lib/values/value.ts";
import { returnerLag } from "./_waiting.ts";

export const status: RunnerFunction = runner({
  doc: runnerDoc(
    `Show the returners of the options event_return, master_return, master_job_cache and ext_job_cache: how many events of the log they still have to read, since
when the oldest of them waits, what was stored and lost, and the last error.`,
    "returners.status",
  ),
  params: {},
  run(_, { opts }) {
    return map(Object.fromEntries(EVENT_OPTIONS.map((option) => [
      option,
      map(Object.fromEntries(
        masterReturners(option, opts).names.map((name) => [name, map({ ...returnerLag(option, name, opts) })]),
      )),
    ])));
  },
});
