/**
 * What a query leaves of jobs, for stores that can read all of them only.
 * @module
 */

import { watchesJobs } from "#lib/protocol/about_jobs.ts";
import { compareStrings } from "#lib/values/value.ts";
import { formatJob, hasSearch, jobFilter } from "./listing.ts";
import type { JobEntry, JobQuery } from "./store.ts";

/** Jobs above a limit that are kept before they are sorted. */
const CHUNK = 1_000;

/**
 * The jobs that a query asks for.
 * @throws {InvocationError} For an invalid search.
 */
export async function* listed(jobs: Iterable<JobEntry>, query: JobQuery): AsyncGenerator<JobEntry> {
  const { limit, newestFirst } = query;
  const fits = queryFilter(query);
  if (limit === undefined && newestFirst !== true) {
    for (const job of jobs) if (fits(job)) yield job;
    return;
  }
  // Not the loads of all jobs: with ten thousand, the collector would copy each several times.
  const fitting: JobEntry[] = [];
  for (const job of jobs) {
    if (!fits(job)) continue;
    fitting.push(job);
    if (limit !== undefined && fitting.length >= 2 * limit + CHUNK) keepNewest(fitting, limit);
  }
  keepNewest(fitting, limit ?? fitting.length);
  yield* fitting;
}

function keepNewest(jobs: JobEntry[], limit: number): void {
  jobs.sort((a, b) => compareStrings(b.jid, a.jid));
  jobs.length = Math.min(jobs.length, limit);
}

/**
 * Whether a job fits a query, apart from its limit.
 * @throws {InvocationError} For an invalid search.
 */
export function queryFilter(query: JobQuery): (job: JobEntry) => boolean {
  const { before, hidesWatching } = query;
  const search = hasSearch(query) ? jobFilter(query) : undefined;
  return ({ jid, load }) =>
    (before === undefined || compareStrings(jid, before) < 0) &&
    !(hidesWatching === true && watchesJobs(load.get("fun") ?? null)) &&
    (search === undefined || search(jid, formatJob(load)));
}
