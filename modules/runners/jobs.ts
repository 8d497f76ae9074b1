/**
 * Runner `jobs`: jobs that run, and jobs that ran, out of the job cache.
 * Source: the functions and results of Salt 3008.3 `salt/runners/jobs.py`.
 * @module
 */

import { CommandError } from "#lib/errors.ts";
import { isJid } from "#lib/protocol/jid.ts";
import type { JobQuery, JobReturn } from "#lib/jobs/store.ts";
import type { JobOutcome } from "#lib/jobs/outcomes.ts";
import { formatJob, formatStartedJob, jobMinions } from "#lib/jobs/listing.ts";
import { armoredSignature } from "#lib/operators/job_signature.ts";
import { writeFileAtomic } from "#lib/os/atomic_file.ts";
import { p } from "#lib/plugins/module.ts";
import { jobReader, LOCAL_CACHE } from "#lib/returners/master_returners.ts";
import { LiveLines } from "#lib/output/live_lines.ts";
import { plainRetcode } from "#lib/protocol/retcode.ts";
import { outcomeOfReturn, silenceText } from "#lib/protocol/outcome.ts";
import { formatOutput } from "#lib/output/outputters.ts";
import { runner, type RunnerContext, runnerDoc, type RunnerFunction } from "#lib/client/runner_context.ts";
import { truncateList } from "#lib/text/truncate.ts";
import { runningRunners } from "#lib/client/runner_notes.ts";
import { listOrEmpty } from "#lib/values/shape.ts";
import { compareStrings, isMap, map, truthy, type Value, type ValueMap } from "#lib/values/value.ts";

import { auditChains, auditedValue, headsText } from "./_chains.ts";
import { type JobsContext, readingJobs } from "./_job_reader.ts";

/** Number of jobs that list_jobs shows on a terminal without a limit. */
const ON_TERMINAL = 50;

/** Arguments that many of the functions share, as Salt has them. */
const EXT_SOURCE = p.str(null);
const DISPLAY_PROGRESS = p.bool(false);

export const list_jobs: RunnerFunction = runner({
  doc: runnerDoc(
    `List the jobs of the cache by their ids, the newest last.

ext_source
    The returner to read, or local_cache, the master's own files. The option ext_job_cache counts more, and
    master_job_cache less.

outputter
    The outputter to show the result with.

limit
    How many of the newest to list; 0: all. Default: all, and 50 on a terminal. Not in Salt.

filter_find_job : True
    Omit saltutil.find_job and saltutil.running, which commands use to watch jobs, unless search_function names
    them. Not in Salt.

A job must match all filters:

search_metadata
    A dictionary; the job's metadata must hold one of its pairs.

search_function
    Globs, as a list or separated by commas, for the job's function. With them each job has two more fields, not in Salt:
    \`Returned\`, the number of minions that returned, and \`Failed\`, how many of them with a return code other than 0.

search_target
    Globs for the target, as it was given.

start_time, end_time
    The earliest and the latest start of the job, in UTC: 2015, Mar 16 19:00 or 2015-03-16 19:00.`,
    "jobs.list_jobs",
    "jobs.list_jobs search_function='test.*,pkg.install' search_target='web*'",
    `jobs.list_jobs search_metadata='{"team": "ops"}'`,
    "jobs.list_jobs start_time='2015, Mar 16 19:00' end_time='2015, Mar 18 22:00'",
  ),
  params: {
    ext_source: EXT_SOURCE,
    outputter: p.str(null),
    search_metadata: p.any(null),
    search_function: p.any(null),
    search_target: p.any(null),
    start_time: p.str(null),
    end_time: p.str(null),
    display_progress: DISPLAY_PROGRESS,
    limit: p.int(null),
    filter_find_job: p.bool(true),
  },
  async run({ ext_source, outputter, display_progress, limit, filter_find_job, ...search }, asked) {
    await querying(asked, ext_source, display_progress, " for jobs.");
    const context = await readingJobs(asked, ext_source, "all");
    const max = limit ?? (context.forTerminal ? ON_TERMINAL : 0);
    const jobs = await listJobs(context, {
      metadata: search.search_metadata,
      fun: search.search_function,
      target: search.search_target,
      startTime: search.start_time,
      endTime: search.end_time,
      // One more tells whether there are more.
      ...max > 0 && { limit: max + 1 },
    }, filter_find_job);
    const last = async (count: number) => {
      const lastJobs = new Map(count > 0 ? [...jobs].slice(-count) : jobs);
      if (truthy(search.search_function)) {
        const jids = [...lastJobs.keys()].filter((jid) => typeof jid === "string");
        await addOutcomes(lastJobs, await readingJobs(asked, ext_source, jids));
      }
      return withOutputter(lastJobs, outputter);
    };
    if (max <= 0 || jobs.size <= max) return await last(0);
    if (limit === null) context.print(`The newest ${max} jobs; limit=0 shows all.`);
    return await last(max);
  },
});

/** Adds to jobs how many minions returned, and how many failed. */
async function addOutcomes(jobs: ValueMap, context: JobsContext): Promise<void> {
  for (const [jid, job] of jobs) {
    if (typeof jid !== "string" || !isMap(job)) continue;
    const returns = [...(await context.jobs.getReturns(jid)).values()];
    job.set("Returned", returns.length);
    job.set("Failed", returns.filter(({ retcode }) => plainRetcode(retcode ?? 0) !== 0).length);
  }
}

export const list_jobs_filter: RunnerFunction = runner({
  doc: runnerDoc(
    `List the newest jobs of the cache, the oldest of them first.

count
    How many.

filter_find_job : True
    Omit saltutil.find_job and saltutil.running, which commands use to watch jobs.`,
    "jobs.list_jobs_filter 50",
    "jobs.list_jobs_filter 100 filter_find_job=False",
  ),
  params: {
    count: p.int(),
    filter_find_job: p.bool(true),
    ext_source: EXT_SOURCE,
    outputter: p.str(null),
    display_progress: DISPLAY_PROGRESS,
  },
  async run({ count, filter_find_job, ext_source, outputter, display_progress }, asked) {
    await querying(asked, ext_source, display_progress, " for jobs.");
    const context = await readingJobs(asked, ext_source, "all");
    const jobs: ValueMap[] = [];
    const query = { limit: Math.max(0, count), hidesWatching: filter_find_job };
    for await (const { jid, load } of context.jobs.list(query)) {
      const { StartTime, ...headings } = Object.fromEntries(formatStartedJob(jid, load));
      jobs.push(map({ ...headings, JID: jid, StartTime }));
    }
    return withOutputter(jobs.reverse(), outputter);
  },
});

export const list_job: RunnerFunction = runner({
  doc: runnerDoc(
    "Show one job: function, target, time and returns.",
    "jobs.list_job 20130916125524463507",
    "jobs.list_job 20130916125524463507 --out=pprint",
  ),
  params: { jid: p.str(), ext_source: EXT_SOURCE, display_progress: DISPLAY_PROGRESS },
  async run({ jid, ext_source, display_progress }, asked) {
    await querying(asked, ext_source, display_progress);
    const context = await readingJobs(asked, ext_source, [jid]);
    return new Map<Value, Value>([["jid", jid], ...await describeJob(context, jid)]);
  },
});

export const print_job: RunnerFunction = runner({
  doc: runnerDoc(
    "Show one job under its id: function, target, time and returns.",
    "jobs.print_job 20130916125524463507",
  ),
  params: { jid: p.str(), ext_source: EXT_SOURCE },
  async run({ jid, ext_source }, context) {
    return new Map([[jid, await describeJob(await readingJobs(context, ext_source, [jid]), jid)]]);
  },
});

export const lookup_jid: RunnerFunction = runner({
  doc: runnerDoc(
    `Show the returns of a job, with the outputter that its minions requested. Minions that have not returned are listed in the
log, with their state.

returned : True
    Show the minions that returned.

missing : False
    Also show those that did not, with the reason, as in jobs.outcomes.

display_progress : False
    Fire an event for each step.`,
    "jobs.lookup_jid 20130916125524463507",
    "jobs.lookup_jid 20130916125524463507 missing=True",
  ),
  params: {
    jid: p.str(),
    ext_source: EXT_SOURCE,
    returned: p.bool(true),
    missing: p.bool(false),
    display_progress: DISPLAY_PROGRESS,
  },
  async run({ jid, ext_source, returned, missing, display_progress }, asked) {
    await querying(asked, ext_source, display_progress);
    const context = await readingJobs(asked, ext_source, [jid]);
    // Programs get Salt's result; a user who mistyped the id gets an error.
    if (!await context.jobs.exists(jid)) {
      context.log("error", noSuchJob(jid));
      context.setRetcode(1);
    }
    const returns = await context.jobs.getReturns(jid);
    const result: ValueMap = new Map();
    for (const [id, stored] of returns) {
      if (display_progress) await context.progress(map({ message: id }));
      if (returned) result.set(id, stored.return);
    }
    if (missing) {
      const outcomes = await outcomesOf(context, jid, returns);
      for (const id of jobMinions(await context.jobs.getLoad(jid))) {
        if (returns.has(id)) continue;
        const outcome = outcomes.get(id)?.outcome;
        result.set(id, outcome === undefined ? "Minion did not return" : silenceText(outcome));
      }
    } else {
      const unfinished = await unfinishedText(context, jid, returns);
      if (unfinished !== undefined) context.log("warning", unfinished);
    }
    const out = [...returns.values()].at(0)?.out;
    return withOutputter(result, typeof out === "string" ? out : null);
  },
});

export const exit_success: RunnerFunction = runner({
  doc: runnerDoc(
    "Return for each minion of a job whether it returned, with the return code 0. Salt looks whether the return is true instead.",
    "jobs.exit_success 20160520145827701627",
  ),
  params: { jid: p.str(), ext_source: EXT_SOURCE },
  async run({ jid, ext_source }, asked) {
    const context = await readingJobs(asked, ext_source, [jid]);
    const returns = await context.jobs.getReturns(jid);
    const success: ValueMap = new Map((await targetedMinions(context, jid)).map((id) => [id, false]));
    for (const [id, stored] of returns) success.set(id, isSuccess(stored));
    return success;
  },
});

export const last_run: RunnerFunction = runner({
  doc: runnerDoc(
    "Show the newest job, as jobs.print_job does, of those that match the filters of jobs.list_jobs; False if none does.",
    "jobs.last_run",
    "jobs.last_run target=nodename",
    "jobs.last_run function='cmd.run'",
    `jobs.last_run metadata='{"team": "ops"}'`,
  ),
  params: {
    ext_source: EXT_SOURCE,
    outputter: p.str(null),
    metadata: p.any(null),
    function: p.any(null),
    target: p.any(null),
    display_progress: DISPLAY_PROGRESS,
  },
  async run({ ext_source, outputter, metadata, function: fun, target, display_progress }, asked) {
    if (truthy(metadata) && !isMap(metadata)) return false;
    await querying(asked, ext_source, display_progress, " for jobs.");
    const context = await readingJobs(asked, ext_source, "all");
    const [newest] = (await listJobs(context, { metadata, fun, target, limit: 1 })).keys();
    if (newest === undefined) return false;
    const found = await readingJobs(asked, ext_source, [String(newest)]);
    return withOutputter(new Map([[newest, await describeJob(found, String(newest))]]), outputter);
  },
});

export const active: RunnerFunction = runner({
  doc: runnerDoc(
    "Ask every minion what it is running, and show each job with the minions that run it and those that returned.",
    "jobs.active",
  ),
  params: { display_progress: DISPLAY_PROGRESS },
  async run({ display_progress }, context) {
    const answers = await context.local.run("*", "saltutil.running", { timeoutS: context.opts.timeout });
    if (display_progress) {
      await context.progress(map({ message: `Attempting to contact minions: ${[...answers.keys()].join(", ")}` }));
    }
    const active = new Map<string, { job: ValueMap; running: ValueMap[] }>();
    for (const [id, { return: jobs }] of answers) {
      if (display_progress) await context.progress(map({ message: `Received reply from minion ${id}` }));
      for (const job of listOrEmpty(jobs)) {
        const jid = isMap(job) ? job.get("jid") : undefined;
        if (!isMap(job) || typeof jid !== "string" || !isJid(jid)) continue;
        const entry = active.get(jid) ?? { job, running: [] };
        entry.running.push(new Map([[id, job.get("pid") ?? null]]));
        active.set(jid, entry);
      }
    }
    const { jobs } = await readingJobs(context, null, [...active.keys()]);
    const shown: ValueMap = new Map();
    for (const [jid, { job, running }] of active) {
      const shownJob = formatStartedJob(jid, job);
      const returned = await jobs.getReturns(jid);
      // A minion whose return came after its answer is not running the job any more.
      const still = running.filter((one) => [...one.keys()].every((id) => !returned.has(String(id))));
      shownJob.set("Running", still).set("Returned", [...returned.keys()]);
      if (still.length > 0) shown.set(jid, shownJob);
    }
    return shown;
  },
});

export const outcomes: RunnerFunction = runner({
  doc: runnerDoc(
    `Return the outcome of a job on each of its minions, and when the master last received news of it: returned, failed,
running, received, interrupted, refused, cancelled, not received, connected to another master; the database is away, not
connected, no such minion. Not in Salt.`,
    "jobs.outcomes 20130916125524463507",
  ),
  params: { jid: p.str() },
  async run({ jid }, context) {
    await checkThere(context, jid);
    const outcomes = await outcomesOf(context, jid);
    return new Map([...outcomes].map(([id, { outcome, sinceMs }]) => {
      const since = sinceMs === undefined ? null : new Date(sinceMs).toISOString();
      return [id, map({ outcome, since })];
    }));
  },
});

export const attach: RunnerFunction = runner({
  doc: runnerDoc(
    `Print the returns of a job so far, then further ones, until every minion has returned or will not: for a command that was
interrupted, or ran with --async. For a job with --live, the output of its commands is printed first. The result is the
outcome of each minion. Not in Salt.`,
    "jobs.attach 20130916125524463507",
  ),
  params: { jid: p.str() },
  async run({ jid }, context) {
    await checkThere(context, jid);
    const outcomes = new Map<string, string>();
    using live = new LiveLines({ write: (text) => context.print(text.slice(0, -1)), color: false, omitShown: true });
    const attached = context.local.attach(jid, (id, parts) => live.show(id, parts));
    for await (const { id, returned, outcome, out } of attached) {
      outcomes.set(id, outcome);
      const shownReturn = live.end(id, returned ?? null);
      if (returned !== undefined) {
        context.print(formatOutput(new Map([[id, shownReturn]]), { out: out ?? "nested", color: false }));
      }
    }
    if ([...outcomes.values()].some((outcome) => outcome !== "returned")) context.setRetcode(1);
    return outcomes;
  },
});

export const audit: RunnerFunction = runner({
  doc: runnerDoc(
    `Compare the chains of minions (job_chain) with the job cache, both ways: each job of a chain with the stored one, each
record that a return named with the chain, each signed job that was returned with the records. Return what differs; the
return code is 1 if anything does. Not in Salt.

tgt, tgt_type
    The minions.

export
    A directory, which may be a git repository elsewhere: the last record of each chain is written to it, in a file that
    is signed by the operator (sign in ~/.saltrc). ssh-keygen -Y verify -n salt-job@1 checks it.`,
    "jobs.audit",
    "jobs.audit 'web*' export=/srv/heads",
  ),
  params: { tgt: p.any("*"), tgt_type: p.str("glob"), export: p.str(null) },
  async run({ tgt, tgt_type, export: directory }, context) {
    if (directory !== null && context.local.signer === undefined) {
      throw new CommandError("export= needs an operator's key: sign in ~/.saltrc");
    }
    const audited = await auditChains(context, { tgt, tgtType: tgt_type });
    if (directory !== null && context.local.signer !== undefined) {
      const now = new Date(), path = `${directory}/heads-${now.toISOString().replace(/[:.]/g, "")}.json`;
      const text = headsText(audited, now);
      const signature = armoredSignature(await context.local.signer.sign(new TextEncoder().encode(text)));
      writeFileAtomic(path, text, { mode: 0o644 });
      writeFileAtomic(`${path}.sig`, signature, { mode: 0o644 });
    }
    if ([...audited.values()].some(({ problems }) => problems.length > 0)) context.setRetcode(1);
    return auditedValue(audited);
  },
});

export const master: RunnerFunction = runner({
  doc: runnerDoc("Show the runners that are running on this master.", "jobs.master"),
  params: {},
  run: (_, context) => runningRunners(context.opts.cachedir),
});

/** @throws {CommandError} If there is no such job. */
async function checkThere(context: RunnerContext, jid: string): Promise<void> {
  if (!await context.jobs.exists(jid)) throw new CommandError(noSuchJob(jid));
}

function noSuchJob(jid: string): string {
  return `There is no job ${jid} in the job cache`;
}

/** The outcome of a job on each of its minions. */
async function outcomesOf(
  context: Pick<JobsContext, "jobs" | "local">,
  jid: string,
  returns?: ReadonlyMap<string, JobReturn>,
): Promise<Map<string, JobOutcome>> {
  return await context.local.outcomes(jid, jobMinions(await context.jobs.getLoad(jid)), returns);
}

/** The minions that have not returned, by acknowledgement; `undefined` if none is missing. No minion is asked. */
async function unfinishedText(
  context: JobsContext,
  jid: string,
  returns: ReadonlyMap<string, JobReturn>,
): Promise<string | undefined> {
  const missing = jobMinions(await context.jobs.getLoad(jid)).filter((id) => !returns.has(id));
  if (missing.length === 0) return undefined;
  const acks = await context.jobs.acks.all(jid);
  const states = Map.groupBy(missing, (id) => acks.get(id)?.state ?? "no word");
  const parts = [...states].map(([state, ids]) => `${state}: ${truncateList(ids, 10)}`);
  return `${missing.length} of ${missing.length + returns.size} minions have not returned: ${parts.join("; ")}`;
}

/** A job under Salt's headings, with its returns and its outcome on each minion. */
async function describeJob(context: JobsContext, jid: string): Promise<ValueMap> {
  const job = formatStartedJob(jid, await context.jobs.getLoad(jid));
  const returns = await context.jobs.getReturns(jid);
  job.set("Result", new Map([...returns].map(([id, stored]) => [id, asMap(stored)])));
  if (context.opts.job_cache_store_endtime) {
    const endTime = await context.jobs.getEndTime(jid);
    if (endTime !== undefined) job.set("EndTime", endTime);
  }
  const outcomes = await outcomesOf(context, jid, returns);
  // If all minions have returned, Salt's keys say everything.
  if ([...outcomes.values()].some(({ outcome }) => outcome !== "returned" && outcome !== "failed")) {
    job.set("Outcomes", new Map([...outcomes].map(([id, { outcome }]) => [id, outcome])));
  }
  return job;
}

/** As Salt has it: the place in the minion's chain is for jobs.audit. */
function asMap({ chain: _, ...stored }: JobReturn): ValueMap {
  return map({ ...stored });
}

/** The jobs that fit, the newest last. */
async function listJobs(context: JobsContext, query: JobQuery, filterWatching = true): Promise<ValueMap> {
  const hidesWatching = filterWatching && !truthy(query.fun);
  const jobs = new Map<string, ValueMap>();
  for await (const { jid, load } of context.jobs.list({ ...query, hidesWatching })) {
    const job = formatStartedJob(jid, load);
    if (context.opts.job_cache_store_endtime) {
      const endTime = await context.jobs.getEndTime(jid);
      if (endTime !== undefined) job.set("EndTime", endTime);
    }
    jobs.set(jid, job);
  }
  const sorted: ValueMap = new Map();
  for (const jid of [...jobs.keys()].sort(compareStrings)) sorted.set(jid, jobs.get(jid) ?? null);
  return sorted;
}

/** The ids of the minions that a job is for. */
async function targetedMinions(context: JobsContext, jid: string): Promise<string[]> {
  const minions = formatJob(await context.jobs.getLoad(jid)).get("Minions");
  return Array.isArray(minions) ? minions.filter((id) => typeof id === "string") : [];
}

/** A result, and under which outputter it is to be shown, if that is not the default. */
function withOutputter(data: Value, outputter: string | null): Value {
  return truthy(outputter) ? new Map<Value, Value>([["outputter", outputter], ["data", data]]) : data;
}

async function querying(context: RunnerContext, source: string | null, display: boolean, what = ""): Promise<void> {
  if (!display) return;
  const name = jobReader(context.opts, source) ?? LOCAL_CACHE;
  await context.progress(map({ message: `Querying returner${what === "" ? ":" : ""} ${name}${what}` }));
}

/** Whether a minion succeeded. A return without a code, of an old cache, is judged as Salt judges it. */
function isSuccess(stored: JobReturn): boolean {
  return stored.retcode === undefined ? truthy(stored.return) : outcomeOfReturn(stored) === "returned";
}
