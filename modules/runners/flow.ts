/**
 * Runner `flow`: what the rules of the option `flow` have let pass and held back. Salt has none of this name.
 * @module
 */

import { readFlowStatus } from "#lib/flow/flow_counts.ts";
import { runner, runnerDoc, type RunnerFunction } from "#lib/client/runner_context.ts";

export const status: RunnerFunction = runner({
  doc: runnerDoc(
    `Show each rule of the option \`flow\` with its counts since the master started: jobs, returns and events that passed, jobs that
were sent back to wait, requests of minions that were answered late, and events that were dropped. A rule with \`running\` counts
the minions that were sent a job, and shows how many have a place and how many wait for one.`,
    "flow.status",
  ),
  params: {},
  run: (_, { opts }) => readFlowStatus(opts.sock_dir),
});
