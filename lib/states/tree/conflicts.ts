/**
 * Finds state functions that are running already: two on one minion would conflict.
 * Source: Salt 3008.3, `_check_queue`, `running` of `salt/modules/state.py`.
 * @module
 */

import { sleep } from "#lib/os/sleep.ts";
import type { JobContext, RunningJob } from "#lib/plugins/job_context.ts";
import { jidToStartTime } from "#lib/protocol/jid.ts";
import { str, truthy, type Value, type ValueMap } from "#lib/values/value.ts";

/** Milliseconds between two checks of the running jobs. */
const LOOK_MS = 200;

/** The other state functions that run on this minion, as Salt names them. */
export async function runningStates(context: JobContext): Promise<string[]> {
  return (await otherRuns(context)).map((job) =>
    `The function "${job.fun}" is running as PID ${job.pid} and was started at ${
      jidToStartTime(job.jid)
    } with jid ${job.jid}`
  );
}

async function otherRuns(context: JobContext): Promise<RunningJob[]> {
  const own = context.job.jid;
  return (await context.jobs.running()).filter(({ fun, jid }) => fun.startsWith("state.") && jid !== own);
}

/**
 * The refusal of a state function that must not run at the same time as others; `undefined` if it may run. With `queue`
 * it waits until those that came before it have ended; a number: only if fewer than this number run or wait.
 */
export async function conflictOf(context: JobContext, queue: Value, kwargs: ValueMap): Promise<string[] | undefined> {
  if (truthy(kwargs.get("concurrent"))) return undefined;
  const wanted = queue ?? context.opts.state_queue;
  const first = await otherRuns(context);
  if (first.length === 0) return undefined;
  const max = typeof wanted === "number" && wanted > 0 ? wanted : Infinity;
  const waits = typeof wanted === "number" ? first.length < max : truthy(wanted);
  if (!waits) return await runningStates(context);
  // Later runs wait for this one, or refuse to run.
  const own = str(context.job.jid ?? "");
  while ((await otherRuns(context)).some(({ jid }) => jid < own)) await sleep(LOOK_MS, context.signal);
  return undefined;
}
