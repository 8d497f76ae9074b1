/**
 * Jobs that are about other jobs: they ask for them, or end them. They wait for nothing, neither for a place of the
 * rules of `flow` nor in the queue of a minion, and lists of jobs may leave them out.
 * Source: Salt's `salt/modules/saltutil.py`.
 * @module
 */

import { asList } from "#lib/values/shape.ts";
import type { Value } from "#lib/values/value.ts";

/** The function by which commands ask silent minions whether they run a job. */
export const FIND_JOB = "saltutil.find_job";
/** Functions by which commands and runners watch jobs. */
const WATCHING: ReadonlySet<Value> = new Set([FIND_JOB, "saltutil.running"]);
/** All that ask for jobs. */
const ASKING: ReadonlySet<Value> = new Set([...WATCHING, "saltutil.is_running"]);
/** Those that end or signal the job of their first argument, and those that do so with all jobs. */
const ENDING_ONE: ReadonlySet<Value> = new Set(["saltutil.kill_job", "saltutil.signal_job", "saltutil.term_job"]);
const ENDING_ALL: ReadonlySet<Value> = new Set(["saltutil.kill_all_jobs", "saltutil.term_all_jobs"]);

/** Whether a function ends or signals one job or all jobs; `undefined`: neither. */
export function endingOf(fun: Value): "one" | "all" | undefined {
  return ENDING_ONE.has(fun) ? "one" : ENDING_ALL.has(fun) ? "all" : undefined;
}

/** Whether all functions of a job watch other jobs. */
export function watchesJobs(fun: Value): boolean {
  return every(fun, (name) => WATCHING.has(name));
}

/**
 * Whether all functions of a job ask for other jobs, or end them.
 * @param fun One, or those of a job of several functions.
 */
export function isAboutJobs(fun: Value): boolean {
  return every(fun, (name) => ASKING.has(name) || endingOf(name) !== undefined);
}

function every(fun: Value, fits: (name: Value) => boolean): boolean {
  const funs = asList(fun);
  return funs.length > 0 && funs.every(fits);
}
