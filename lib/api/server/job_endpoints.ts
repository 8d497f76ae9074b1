/**
 * Running functions and asking for jobs: `/`, `/run`, `/minions`, `/jobs`.
 * Source: Salt 3008.3 `salt/netapi/rest_cherrypy/app.py`; answers of a live salt-api.
 * @module
 */

import type { ApiCaller } from "#lib/api/calls/caller.ts";
import { chunksOf, CLIENT_NAMES, runChunk } from "#lib/api/calls/run_chunks.ts";
import { ApiError } from "#lib/api/http/api_error.ts";
import { t } from "#lib/api/http/json_schema.ts";
import { isMap, map, str, type Value, type ValueMap } from "#lib/values/value.ts";
import { auditFor } from "#lib/api/endpoints/auditing.ts";
import { credentialsCaller, sessionCaller } from "#lib/api/endpoints/callers.ts";
import type { AnswerType, ApiParts, ApiRequest, Methods, ValueReply } from "#lib/api/endpoints/endpoint.ts";

/** A chunk, and who runs it. */
interface Call {
  readonly low: ValueMap;
  readonly caller: ApiCaller;
}

async function runAll(calls: readonly Call[]): Promise<Value[]> {
  const entries: Value[] = [];
  for (const { low, caller } of calls) entries.push(...await runChunk(low, caller));
  return entries;
}

const CHUNKS = t.either(t.named("Chunk"), t.list(t.named("Chunk")));
const RESULTS: AnswerType = {
  doc: "One entry for each chunk; of local_batch, one for each minion.",
  schema: t.object({ return: t.list(t.any()) }),
};

/** The path `/`: a welcome, and chunks of a session. */
export const ROOT: Methods = {
  GET: {
    summary: "A welcome, and the names of the clients.",
    answers: [{ doc: "The welcome.", schema: t.object({ return: t.text(), clients: t.list(t.text()) }) }],
    handle: () => ({ value: map({ return: "Welcome", clients: [...CLIENT_NAMES] }) }),
  },
  POST: {
    summary: "Runs chunks, one after another.",
    needs: "session",
    rights: "each function, by the rules of external_auth",
    query: "any",
    body: CHUNKS,
    answers: [RESULTS],
    errors: [401, 504],
    async handle(request, parts) {
      const caller = sessionCaller(request, parts);
      const { data, isForm } = request.body;
      const calls = chunksOf(data, isForm).map((low) => ({ low, caller }));
      return { value: map({ return: await runAll(calls) }) };
    },
  },
};

/** The path `/run`: chunks without a session. */
export const RUN_ONCE: Methods = {
  POST: {
    summary: "Runs chunks that hold their own credentials: username, password, eauth; or a token of Salt's.",
    rights: "each function, by the rules of external_auth",
    body: CHUNKS,
    answers: [RESULTS],
    errors: [401, 504],
    async handle(request, parts) {
      const chunks = chunksOf(request.body.data, request.body.isForm);
      // All have their callers before one runs.
      const calls = chunks.map((low) => ({ low, caller: ownCaller(low, request, parts) }));
      return { value: map({ return: await runAll(calls) }) };
    },
  },
};

/**
 * The caller whose credentials are in the chunk.
 * @throws {ApiError} 401 if there are none.
 */
function ownCaller(low: ValueMap, request: ApiRequest, parts: ApiParts): ApiCaller {
  const { signal, trace } = request, { opts, log, tokens } = parts;
  const token = low.get("token");
  if (token !== undefined) {
    if (typeof token !== "string" || !/^[0-9a-f]+$/i.test(token)) throw new ApiError(401, "Invalid token");
    const held = tokens.get(token);
    if (held === undefined) throw new ApiError(401, "Authentication error occurred.");
    const record = auditFor(held.name, request, parts);
    return { opts, log, signal, record, trace, user: held.name, proof: map({ token }) };
  }
  return credentialsCaller(low, request, parts);
}

/** `/minions` and `/minions/ID`. */
export const MINIONS: Methods = {
  GET: {
    summary: "The grains of minions, asked for now; the id may be a glob.",
    needs: "session",
    rights: "grains.items on these minions",
    answers: [{ doc: "The grains by id.", schema: t.object({ return: t.list(t.mapOf(t.any())) }) }],
    errors: [400],
    async handle(request, parts) {
      const low = map({ client: "local", tgt: request.params.id ?? "*", fun: "grains.items" });
      return { value: map({ return: await runChunk(low, sessionCaller(request, parts)) }) };
    },
  },
  POST: {
    summary: "Starts a job on minions.",
    needs: "session",
    rights: "each function, by the rules of external_auth",
    body: CHUNKS,
    answers: [{
      status: 202,
      doc: "The jobs that have begun.",
      schema: t.object({
        return: t.list(t.open({ jid: t.optional(t.text()), minions: t.optional(t.list(t.text())) })),
        _links: t.object({ jobs: t.list(t.object({ href: t.text() })) }),
      }),
    }],
    handle: startJob,
  },
};

async function startJob(request: ApiRequest, parts: ApiParts): Promise<ValueReply> {
  const caller = sessionCaller(request, parts);
  const chunks = chunksOf(request.body.data, request.body.isForm);
  const started = await runAll(chunks.map((low) => ({ low: new Map(low).set("client", "local_async"), caller })));
  const jids = started.flatMap((job) => isMap(job) && job.has("jid") ? [str(job.get("jid") ?? "")] : []);
  const jobs = jids.map((jid) => map({ href: `/jobs/${jid}` }));
  return { value: map({ return: started, _links: { jobs } }), status: 202 };
}

/** The path `/jobs`: what was run. */
export const JOBS: Methods = {
  GET: {
    summary: "The jobs of the job cache.",
    needs: "session",
    rights: "the runner jobs.list_jobs",
    answers: [{
      doc: "The jobs by id.",
      schema: t.object({ return: t.list(t.mapOf(t.open({ Function: t.any(), StartTime: t.text() }))) }),
    }],
    errors: [400, 504],
    async handle(request, parts) {
      const low = map({ client: "runner", fun: "jobs.list_jobs" });
      return { value: map({ return: await runChunk(low, sessionCaller(request, parts)) }) };
    },
  },
};

/** `/jobs/JID`. */
export const JOB: Methods = {
  GET: {
    summary: "One job, and its returns.",
    needs: "session",
    rights: "the runner jobs.list_job",
    query: { timeout: t.text("Not used.") },
    answers: [{
      doc: "The job; of one that nobody knows, `info` has an Error.",
      schema: t.object({
        info: t.list(t.open({ jid: t.text(), Result: t.optional(t.mapOf(t.any())), Error: t.optional(t.text()) })),
        return: t.list(t.mapOf(t.any())),
      }),
    }],
    errors: [400, 504],
    async handle(request, parts) {
      const { jid } = request.params;
      const low = map({ client: "runner", fun: "jobs.list_job", kwarg: { jid } });
      const [job] = await runChunk(low, sessionCaller(request, parts));
      const info = new Map<Value, Value>([["jid", jid], ...(isMap(job) ? job : [])]);
      const results = info.get("Result");
      const returns: ValueMap = new Map();
      if (isMap(results)) {
        for (const [id, result] of results) returns.set(id, isMap(result) ? result.get("return") ?? null : null);
      }
      return { value: map({ info: [info], return: [returns] }) };
    },
  },
};
