/**
 * `state.last_run`: what a run did, by its record.
 * @module
 */

import type { JobContext } from "#lib/plugins/job_context.ts";
import { map, type Value } from "#lib/values/value.ts";
import { readRun } from "./record.ts";

/** The record of a run, for people and programs; `null` if there is none. */
export async function lastRun(jid: string | null, { opts, jobs }: Pick<JobContext, "opts" | "jobs">): Promise<Value> {
  const run = readRun(opts.cachedir, jid ?? undefined);
  if (run === undefined) return null;
  const { begun, end, results, unfinished, fun } = run;
  const isRunning = (await jobs.running()).some((job) => job.jid === run.jid);
  return map({
    jid: run.jid,
    fun,
    begun: new Date(begun).toISOString(),
    outcome: end ?? (isRunning ? "running" : "interrupted"),
    unfinished: [...unfinished.keys()],
    states: new Map(results),
  });
}
