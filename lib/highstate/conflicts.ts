/**
 * State functions that run already: two of one minion would be in each other's way.
 * Source: Salt 3008.3, `_check_queue`, `running` of `salt/modules/state.py`.
 * @module
 */

import { setTimeout } from "../os/timers.ts";
import type { JobContext } from "../plugins/job_context.ts";
import { jidToStartTime } from "../protocol/jid.ts";
import { truthy, type Value, type ValueMap } from "../values/value.ts";

/** Milliseconds between two looks at the running jobs. */
const LOOK_MS = 200;

/** The other state functions that run on this minion, as Salt names them. */
export async function runningStates(context: JobContext): Promise<string[]> {
  const own = context.job.jid;
  return (await context.jobs.running()).filter(({ fun, jid }) => fun.startsWith("state.") && jid !== own).map((job) =>
    `The function "${job.fun}" is running as PID ${job.pid} and was started at ${
      jidToStartTime(job.jid)
    } with jid ${job.jid}`
  );
}

/**
 * What a state function answers instead of running beside others; `undefined` if it may run. With `queue` it waits until
 * the others have ended.
 */
export async function conflictOf(context: JobContext, queue: Value, kwargs: ValueMap): Promise<string[] | undefined> {
  if (truthy(kwargs.get("concurrent"))) return undefined;
  for (;;) {
    const others = await runningStates(context);
    if (others.length === 0) return undefined;
    if (!truthy(queue)) return others;
    context.signal.throwIfAborted();
    await new Promise<void>((done) => setTimeout(done, LOOK_MS));
  }
}
