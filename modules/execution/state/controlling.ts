/**
 * The functions of the execution module `state` that control runs: pauses, requests, disabled states, the last run.
 * Source: Salt 3008.3 `salt/modules/state.py`; `last_run` is not in Salt.
 * @module
 */

import { runningStates } from "#lib/states/tree/conflicts.ts";
import { describe } from "#lib/plugins/docs.ts";
import { fn, type JobContext } from "#lib/plugins/job_context.ts";
import { type ModuleFunction, p } from "#lib/plugins/module.ts";
import { disabledRuns, setDisabledRuns } from "#lib/states/control/disabling.ts";
import { clearHigh } from "#lib/states/run/high_cache.ts";
import { lastRun } from "#lib/states/control/last_run.ts";
import { ALL_STATES, knownPauses, pauseRun, resumeRun } from "#lib/states/control/pauses.ts";
import { readRequests, removeRequest } from "#lib/states/control/requests.ts";
import { awaitEvents } from "#lib/states/control/watching_events.ts";
import type { Value } from "#lib/values/value.ts";

const JID = "jid\n    The job of the run.";
const STATE_ID = "state_id\n    The ID of a state. Default: any.";

export const running: ModuleFunction<JobContext> = fn({
  doc: describe(
    "List the other state functions that run on this minion.\n\nconcurrent : False\n    With True nothing is listed.",
    "state.running",
  ),
  params: { concurrent: p.bool(false) },
  run: ({ concurrent }, context) => concurrent ? [] : runningStates(context),
});

export const pause: ModuleFunction<JobContext> = fn({
  doc: describe(
    `Pause a run before a state.\n\n${JID}\n\n${STATE_ID}\n\nduration\n    Seconds after which the run continues without state.resume.`,
    "state.pause 20171130110407769519",
    "state.pause 20171130110407769519 vim 20",
  ),
  permissions: { read: ["{cachedir}"], write: ["{cachedir}"] },
  params: { jid: p.str(), state_id: p.str(null), duration: p.float(null) },
  run: ({ jid, state_id, duration }, { opts }) =>
    pauseRun(opts.cachedir, jid, {
      id: state_id ?? ALL_STATES,
      ...duration !== null && duration > 0 && { duration: Math.trunc(duration) },
    }),
});

export const soft_kill: ModuleFunction<JobContext> = fn({
  doc: describe(
    `End a run before a state.\n\n${JID}\n\n${STATE_ID}`,
    "state.soft_kill 20171130110407769519",
    "state.soft_kill 20171130110407769519 vim",
  ),
  permissions: { read: ["{cachedir}"], write: ["{cachedir}"] },
  params: { jid: p.str(), state_id: p.str(null) },
  run: ({ jid, state_id }, { opts }) => pauseRun(opts.cachedir, jid, { id: state_id ?? ALL_STATES, kill: true }),
});

export const resume: ModuleFunction<JobContext> = fn({
  doc: describe(
    `Resume a paused run.\n\n${JID}\n\n${STATE_ID}`,
    "state.resume 20171130110407769519",
    "state.resume 20171130110407769519 vim",
  ),
  permissions: { read: ["{cachedir}"], write: ["{cachedir}"] },
  params: { jid: p.str(), state_id: p.str(null) },
  run: ({ jid, state_id }, { opts }) => resumeRun(opts.cachedir, jid, state_id ?? ALL_STATES),
});

export const get_pauses: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Return the pauses and soft kills of runs, by job.\n\njid\n    A job, or a list of them.",
    "state.get_pauses",
  ),
  permissions: { read: ["{cachedir}"] },
  params: { jid: p.any(null) },
  run: ({ jid }, context) => knownPauses(jid, context),
});

export const disable: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Disable SLS files, state functions or the highstate on this minion.\n\nstates\n    Names, with commas or as a list.",
    "state.disable highstate",
    "state.disable bind.config,test.succeed_without_changes",
  ),
  permissions: "all",
  params: { states: p.any() },
  run: ({ states }, context) => setDisabledRuns(states, true, context),
});

export const enable: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Enable what `state.disable` disabled.\n\nstates\n    Names, with commas or as a list.",
    "state.enable highstate",
  ),
  permissions: "all",
  params: { states: p.any() },
  run: ({ states }, context) => setDisabledRuns(states, false, context),
});

export const list_disabled: ModuleFunction<JobContext> = fn({
  doc: describe("List what `state.disable` disabled.", "state.list_disabled"),
  params: {},
  run: (_bound, context): Value => {
    const disabled = disabledRuns(context);
    return disabled.length > 0 ? disabled : "";
  },
});

export const check_request: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Return the stored requests, with the results of their runs in test mode.\n\nname\n    Only the request of that name.",
    "state.check_request",
  ),
  permissions: { read: ["{cachedir}"] },
  params: { name: p.str(null) },
  run: ({ name }, { opts }) => readRequests(opts.cachedir, name),
});

export const clear_request: ModuleFunction<JobContext> = fn({
  doc: describe("Delete a request without running it.\n\nname\n    Its name. Default: all.", "state.clear_request"),
  permissions: { read: ["{cachedir}"], write: ["{cachedir}"] },
  params: { name: p.str(null) },
  run: ({ name }, { opts }) => removeRequest(opts.cachedir, name),
});

export const clear_cache: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Remove the high data that runs with `cache=True` would use. Returns the files' names.",
    "state.clear_cache",
  ),
  permissions: { read: ["{cachedir}"], write: ["{cachedir}"] },
  params: {},
  run: (_bound, { opts }) => clearHigh(opts.cachedir),
});

export const last_run: ModuleFunction<JobContext> = fn({
  doc: describe(
    `Return the result of a state run, also of one that ended with its minion: \`outcome\` is finished, stopped (failhard, soft_kill),
aborted, running or interrupted; \`states\` are the results, and \`unfinished\` the states that had begun. Not in Salt.

jid
    The job of the run. Default: the last one.`,
    "state.last_run",
  ),
  permissions: { read: ["{cachedir}"] },
  outputter: "highstate",
  params: { jid: p.str(null) },
  run: ({ jid }, context) => lastRun(jid, context),
});

export const event: ModuleFunction<JobContext> = fn({
  doc: describe(
    `Print the events of a bus, one per line, until \`count\` events have been received.

tagmatch : *
    A glob or a regular expression for their tags.

count : -1
    How many; a negative number: forever.

quiet : False
    Print nothing.

sock_dir
    The directory of the bus's sockets.

pretty : False
    Indent the data.

node : minion
    Whose bus: \`minion\` or \`master\`.`,
    "state.event pretty=True",
  ),
  permissions: "all",
  params: {
    tagmatch: p.str("*"),
    count: p.int(-1),
    quiet: p.bool(false),
    sock_dir: p.str(null),
    pretty: p.bool(false),
    node: p.str("minion"),
  },
  run: (bound, context) => awaitEvents(bound, context),
});
