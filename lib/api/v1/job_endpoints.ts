/**
 * Jobs: `/api/v1/jobs`. A user sees own jobs, and those of others with the right to list jobs.
 * @module
 */

import { runChunk } from "#lib/api/calls/run_chunks.ts";
import { sessionCaller } from "#lib/api/endpoints/callers.ts";
import type { ApiParts, ApiRequest, Methods, ValueReply } from "#lib/api/endpoints/endpoint.ts";
import type { IndexedJob } from "#lib/api/endpoints/job_index.ts";
import { UserRights } from "#lib/api/endpoints/rights.ts";
import { ApiError } from "#lib/api/http/api_error.ts";
import { t } from "#lib/api/http/json_schema.ts";
import { InvocationError } from "#lib/errors.ts";
import { DataCache } from "#lib/fleet/data_cache.ts";
import { jobMinions, parseTime } from "#lib/jobs/listing.ts";
import { jobOutcomes } from "#lib/jobs/outcomes.ts";
import type { JobReturn } from "#lib/jobs/store.ts";
import { hasReturned, type Outcome, OUTCOMES } from "#lib/protocol/outcome.ts";
import { isJid, jidToStartTime, makeJid } from "#lib/protocol/jid.ts";
import { compileGlob } from "#lib/text/glob.ts";
import { dumpJson } from "#lib/values/json.ts";
import { asList } from "#lib/values/shape.ts";
import { isMap, map, str, type Value, type ValueMap } from "#lib/values/value.ts";
import { checkedBody } from "./checked_body.ts";
import { limitOf, NEXT, numberOf, PAGE_QUERY, pageOf } from "./pages.ts";

/** Jobs whose returns one request searches. */
const MAX_SEARCHED = 500;
/** Batches of output that one answer has. */
const MAX_BATCHES = 1_000;
/** What a job of a list can be. */
const PROGRESS = ["running", "failed", "returned"];
const FIELDS = ["tgt", "tgt_type", "fun", "arg", "kwarg", "timeout", "metadata", "ret"];

const JOB_FIELDS = {
  jid: t.text(),
  fun: t.any("A function, or a list of them."),
  arg: t.any(),
  tgt: t.any(),
  tgt_type: t.any(),
  user: t.text(),
  start: t.text("As Salt shows it, in UTC."),
};

/** The path `/api/v1/jobs`. */
export const FLEET_JOB_LIST: Methods = {
  GET: {
    summary: "The jobs of the job cache, the newest first.",
    needs: "session",
    rights: "run the runner jobs.list_job, for jobs of others",
    onlyJson: true,
    query: {
      ...PAGE_QUERY,
      user: t.text("Only those of this user."),
      fun: t.text("A glob for the function."),
      outcome: t.oneOf(
        PROGRESS,
        "running: minions have not returned; failed: one failed; returned: all, and none failed.",
      ),
      since: t.text("The earliest start, in UTC: 2026-11-28 12:00."),
      until: t.text("The latest start."),
      search: t.text("A text in function, arguments or target."),
      output: t.text(`A text in the returns; ${MAX_SEARCHED} jobs are searched for a page.`),
    },
    answers: [{
      doc: "A page; with `output`, also fewer than the limit though more may follow.",
      schema: t.object({
        jobs: t.list(t.object({ ...JOB_FIELDS, minions: t.int(), returned: t.int(), failed: t.int() })),
        next: NEXT,
      }),
    }],
    errors: [400],
    handle: listJobs,
  },
  POST: {
    summary: "Starts a job on minions. The same Idempotency-Key within a day answers the same job.",
    needs: "session",
    rights: "run the function on these minions",
    onlyJson: true,
    body: t.object({
      tgt: t.any("The target."),
      tgt_type: t.optional(t.text("Default: glob.")),
      fun: t.either(t.text(), t.list(t.text())),
      arg: t.optional(t.list(t.any())),
      kwarg: t.optional(t.mapOf(t.any())),
      timeout: t.optional(t.number()),
      metadata: t.optional(t.any()),
      ret: t.optional(t.text("Returners, separated by commas.")),
    }),
    answers: [{
      status: 202,
      doc: "The job has begun.",
      schema: t.object({ jid: t.text(), minions: t.list(t.text()), href: t.text() }),
    }],
    errors: [404, 409],
    handle: startJob,
  },
};

/** The path `/api/v1/jobs/JID`. */
export const FLEET_JOB: Methods = {
  GET: {
    summary: "One job: the outcome of each minion, and what it returned.",
    needs: "session",
    rights: "run the runner jobs.list_job, for jobs of others",
    onlyJson: true,
    query: PAGE_QUERY,
    answers: [{
      doc: "The job, with a page of its minions by id.",
      schema: t.object({
        ...JOB_FIELDS,
        total: t.int("The number of its minions."),
        outcomes: t.mapOf(t.int(), "How many minions have each outcome."),
        minions: t.list(t.object({
          id: t.text(),
          outcome: t.oneOf(OUTCOMES),
          return: t.optional(t.any()),
          retcode: t.optional(t.any()),
          out: t.optional(t.any("The outputter that the return asks for.")),
        })),
        next: NEXT,
      }),
    }],
    errors: [400],
    handle: showJob,
  },
  DELETE: {
    summary: "Stops a job on the minions that have not returned.",
    needs: "session",
    rights: "run saltutil.kill_job on them",
    onlyJson: true,
    body: null,
    answers: [{
      status: 202,
      doc: "They were told to; `by` is the job that tells them, null: all have returned.",
      schema: t.object({ jid: t.text(), stopping: t.list(t.text()), by: t.orNull(t.text()) }),
    }],
    errors: [400],
    handle: stopJob,
  },
};

/** The path `/api/v1/jobs/JID/output`. */
export const FLEET_JOB_OUTPUT: Methods = {
  GET: {
    summary: "The output that a minion's commands have written so far, of a job with live output.",
    needs: "session",
    rights: "run the runner jobs.list_job, for jobs of others",
    onlyJson: true,
    query: {
      minion: t.text("Its id."),
      after: t.range(0, 999_999_999, "The `after` of the answer before. Default: 0."),
    },
    answers: [{
      doc: "What came after that; `leftOut` counts lines that were too many.",
      schema: t.object({
        minions: t.list(t.text("The ids that have output.")),
        output: t.list(t.either(
          t.object({ command: t.int(), stream: t.text(), text: t.text() }),
          t.object({ leftOut: t.int() }),
        )),
        after: t.int(),
      }),
    }],
    errors: [400],
    handle: readOutput,
  },
};

/** @throws {ApiError} 404 for a job that is not there, or that the user does not see. */
async function seenJob(
  request: ApiRequest,
  parts: ApiParts,
): Promise<{ readonly jid: string; readonly load: ValueMap }> {
  const rights = UserRights.of(request, parts);
  const { jid } = request.params;
  const load = isJid(jid) ? await parts.store.getLoad(jid) : undefined;
  if (load === undefined || !rights.seenJobs()(load.get("user"))) throw new ApiError(404, "There is no such job");
  return { jid, load };
}

/** What a query asks of a job. */
type JobTest = (job: IndexedJob) => boolean;

async function listJobs(request: ApiRequest, parts: ApiParts): Promise<ValueReply> {
  const { query } = request;
  const sees = UserRights.of(request, parts).seenJobs();
  const [after, output, limit] = [query.get("after"), query.get("output"), limitOf(query)];
  const tests = [(job: IndexedJob) => sees(job.user), ...testsOf(query)];
  const wanted = (await parts.jobs.newest()).filter((job) => tests.every((test) => test(job)));
  const how = { limit, isAfter: ({ jid }: IndexedJob) => after === null || jid < after, cursor: jidOf };
  const { page, next } = output === null || output === ""
    ? pageOf(wanted, how)
    : await searchedPage(wanted.filter(how.isAfter), { output, limit }, parts);
  return { value: map({ jobs: page.map(shownJob), next }) };
}

function jidOf({ jid }: IndexedJob): string {
  return jid;
}

/** @throws {ApiError} 400 for a time or an outcome that is none. */
function testsOf(query: URLSearchParams): JobTest[] {
  const tests: JobTest[] = [];
  const [user, fun, outcome, search] = ["user", "fun", "outcome", "search"].map((name) => query.get(name));
  if (user !== null) tests.push((job) => job.user === user);
  if (fun !== null) {
    const matches = compileGlob(fun);
    tests.push((job) => asList(job.fun).some((name) => matches(str(name))));
  }
  if (outcome !== null) {
    if (!PROGRESS.includes(outcome)) throw new ApiError(400, `outcome must be one of ${PROGRESS.join(", ")}`);
    tests.push((job) => progressOf(job) === outcome);
  }
  if (search !== null && search !== "") {
    const text = search.toLowerCase();
    tests.push(({ fun, arg, tgt }) => dumpJson([fun, arg, tgt]).toLowerCase().includes(text));
  }
  try {
    const [since, until] = ["since", "until"].map((name) => query.get(name)).map((time) => time && parseTime(time));
    if (since) tests.push(({ jid }) => jid.slice(0, 20) >= since);
    if (until) tests.push(({ jid }) => jid.slice(0, 20) <= until);
  } catch (error) {
    if (error instanceof InvocationError) throw new ApiError(400, error.message);
    throw error;
  }
  return tests;
}

function progressOf({ outcomes, minions }: IndexedJob): string {
  if ([...outcomes.values()].some((outcome) => outcome !== "returned")) return "failed";
  return outcomes.size < minions ? "running" : "returned";
}

/** The first jobs whose returns have `output`; ends when enough have been read. */
async function searchedPage(
  jobs: readonly IndexedJob[],
  { output, limit }: { readonly output: string; readonly limit: number },
  { store }: ApiParts,
): Promise<{ readonly page: IndexedJob[]; readonly next: string | null }> {
  const page: IndexedJob[] = [];
  const text = output.toLowerCase();
  for (const [i, job] of jobs.entries()) {
    const returns = [...(await store.getReturns(job.jid)).values()].map((one) => one.return);
    if (returns.some((one) => dumpJson(one).toLowerCase().includes(text))) page.push(job);
    if (page.length === limit || i + 1 === MAX_SEARCHED) {
      return { page, next: i + 1 < jobs.length ? job.jid : null };
    }
  }
  return { page, next: null };
}

function shownJob({ jid, user, fun, arg, tgt, tgtType, minions, outcomes }: IndexedJob): ValueMap {
  const failed = [...outcomes.values()].filter((outcome) => outcome !== "returned").length;
  const counts = { minions: Math.max(minions, outcomes.size), returned: outcomes.size, failed };
  return map({ jid, fun, arg, tgt, tgt_type: tgtType, user, start: jidToStartTime(jid), ...counts });
}

async function startJob(request: ApiRequest, parts: ApiParts): Promise<ValueReply> {
  const body = checkedBody(request, FIELDS);
  const caller = sessionCaller(request, parts);
  const { opts, store, idempotency } = parts;
  const key = { key: request.request.headers.get("idempotency-key"), user: caller.user, body: dumpJson(body) };
  const job = await idempotency.run(key, {
    makeJid: () => makeJid(undefined, { unique: opts.unique_jid }),
    async start(jid) {
      const known = await store.getLoad(jid);
      if (known !== undefined) return { jid, minions: jobMinions(known) };
      const [started] = await runChunk(new Map([...body, ["client", "local_async"], ["jid", jid]]), caller);
      const minions = isMap(started) ? started.get("minions") : undefined;
      if (!Array.isArray(minions) || minions.length === 0) throw new ApiError(404, "No minion matches the target");
      return { jid, minions: minions.map(str) };
    },
  });
  return { value: map({ ...job, href: `/api/v1/jobs/${job.jid}` }), status: 202 };
}

/** The outcomes of the minions of a job, by id. */
async function outcomesOf(
  jid: string,
  load: ValueMap,
  returns: ReadonlyMap<string, JobReturn>,
  { opts, store, log }: ApiParts,
): Promise<Map<string, Outcome>> {
  const ids = new Set([...jobMinions(load), ...returns.keys()]);
  const data = new DataCache(opts.cachedir, { log: log.warning });
  const outcomes = await jobOutcomes(jid, ids, { opts, publishPort: opts.publish_port, jobs: store, data, returns });
  return new Map([...outcomes].map(([id, { outcome }]) => [id, outcome]));
}

async function showJob(request: ApiRequest, parts: ApiParts): Promise<ValueReply> {
  const { jid, load } = await seenJob(request, parts);
  const returns = await parts.store.getReturns(jid);
  const outcomes = await outcomesOf(jid, load, returns, parts);
  const after = request.query.get("after");
  const { page, next } = pageOf([...outcomes.keys()].sort(), {
    limit: limitOf(request.query),
    isAfter: (id) => after === null || id > after,
    cursor: (id) => id,
  });
  const counts: Record<string, number> = {};
  for (const outcome of outcomes.values()) counts[outcome] = (counts[outcome] ?? 0) + 1;
  const field = (name: string): Value => load.get(name) ?? null;
  const head = { jid, fun: field("fun"), arg: field("arg"), tgt: field("tgt"), tgt_type: field("tgt_type") };
  const rest = { user: str(field("user")), start: jidToStartTime(jid), total: outcomes.size, outcomes: counts };
  return {
    value: map({
      ...head,
      ...rest,
      minions: page.map((id) => shownReturn(id, outcomes.get(id), returns.get(id))),
      next,
    }),
  };
}

function shownReturn(id: string, outcome: Outcome | undefined, returned: JobReturn | undefined): ValueMap {
  const shown = map({ id, outcome: outcome ?? "no such minion" });
  if (returned === undefined) return shown;
  shown.set("return", returned.return);
  if (returned.retcode !== undefined) shown.set("retcode", returned.retcode);
  if (returned.out !== undefined) shown.set("out", returned.out);
  return shown;
}

async function stopJob(request: ApiRequest, parts: ApiParts): Promise<ValueReply> {
  const { jid, load } = await seenJob(request, parts);
  const outcomes = await outcomesOf(jid, load, await parts.store.getReturns(jid), parts);
  const stopping = [...outcomes].filter(([, outcome]) => !hasReturned(outcome)).map(([id]) => id);
  if (stopping.length === 0) return { value: map({ jid, stopping, by: null }), status: 202 };
  const low = map({ client: "local_async", tgt: stopping, tgt_type: "list", fun: "saltutil.kill_job", arg: [jid] });
  const [started] = await runChunk(low, sessionCaller(request, parts));
  return { value: map({ jid, stopping, by: isMap(started) ? started.get("jid") ?? null : null }), status: 202 };
}

async function readOutput(request: ApiRequest, parts: ApiParts): Promise<ValueReply> {
  const { jid } = await seenJob(request, parts);
  const { outputs } = parts.store;
  const id = request.query.get("minion");
  const minions = (await outputs.ids(jid)).sort();
  const after = numberOf(request.query, "after", { min: 0, max: 999_999_999 }) ?? 0;
  if (id === null || !minions.includes(id)) return { value: map({ minions, output: [], after }) };
  const batches = (await outputs.read(jid, id)).filter(({ seq }) => seq > after).slice(0, MAX_BATCHES);
  const output = batches.flatMap(({ parts }) => parts.map((part) => map({ ...part })));
  return { value: map({ minions, output, after: batches.at(-1)?.seq ?? after }) };
}
