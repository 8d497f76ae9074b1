/**
 * Runner `batch`: batch jobs, those that an operator waits for and those in the background.
 * Source: the functions and results of Salt 3008.3 `salt/runners/batch.py`.
 * @module
 */

import { isAlive } from "#lib/jobs/proc_notes.ts";
import type { BatchState } from "#lib/jobs/store.ts";
import { batchEvent } from "#lib/protocol/tags.ts";
import { p } from "#lib/plugins/module.ts";
import { runner, type RunnerContext, runnerDoc, type RunnerFunction } from "#lib/client/runner_context.ts";
import { float, map, type ValueMap } from "#lib/values/value.ts";

export const status: RunnerFunction = runner({
  doc: runnerDoc(
    "Show the progress of a batch job; None if there is no such job, or if it is no batch job.",
    "batch.status 20240610120000000000",
  ),
  params: { jid: p.str() },
  async run({ jid }, context) {
    const state = await context.jobs.batches.read(jid);
    return state === undefined ? null : summary(state);
  },
});

export const list_active: RunnerFunction = runner({
  doc: runnerDoc("List the running batch jobs, each as batch.status shows it.", "batch.list_active"),
  params: {},
  run: async (_, context) => (await context.jobs.batches.active()).filter((state) => !isLost(state)).map(summary),
});

export const stop: RunnerFunction = runner({
  doc: runnerDoc(
    `Stop a batch job: no further minion gets the job. Return whether there was something to stop.

kill : False
    Also kill the job on the minions that run it. Otherwise they complete it, and their returns are stored.`,
    "batch.stop 20240610120000000000",
    "batch.stop 20240610120000000000 kill=True",
  ),
  params: { jid: p.str(), kill: p.bool(false) },
  async run({ jid, kill }, context) {
    const state = await context.jobs.batches.read(jid);
    if (state === undefined || state.halted !== undefined || state.pending.length + state.active.size === 0) {
      return false;
    }
    // First, so that no further minion starts while the running ones get a signal.
    if (isLost(state)) await context.jobs.batches.save({ ...state, halted: "stop" });
    else await context.fire(batchEvent(jid, "stop"), map({ jid, reason: "stop" }));
    if (kill) await killOn([...state.active.keys()], jid, context);
    return true;
  },
});

async function killOn(ids: readonly string[], jid: string, context: RunnerContext): Promise<void> {
  if (ids.length === 0) return;
  await context.local.run([...ids], "saltutil.kill_job", { tgtType: "list", arg: [jid] });
}

/** Whether the process that ran a batch has ended before the batch was over. */
function isLost({ halted, pid }: BatchState): boolean {
  return halted === undefined && pid !== undefined && !isAlive(pid);
}

function summary(state: BatchState): ValueMap {
  const over = state.pending.length + state.active.size === 0;
  const lost = !over && isLost(state);
  return map({
    jid: state.jid,
    fun: state.fun,
    tgt: state.tgt,
    tgt_type: state.tgtType,
    total: state.minions.length,
    completed: state.done.size,
    active: state.active.size,
    pending: state.pending.length,
    failed: state.failed.size,
    batch_size: state.size,
    halted: state.halted !== undefined || lost,
    halted_reason: state.halted ?? (lost ? "its process ended" : null),
    driver: state.driver,
    user: state.user,
    created: float(state.createdMs / 1000),
    last_progress: float(state.progressMs / 1000),
    age_seconds: float((Date.now() - state.progressMs) / 1000),
  });
}
