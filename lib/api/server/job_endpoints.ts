/**
 * Running functions and asking for jobs: `/`, `/run`, `/minions`, `/jobs`.
 * Source: Salt 3008.3 `salt/netapi/rest_cherrypy/app.py`; answers of a live salt-api.
 * @module
 */

import type { ApiCaller } from "#lib/api/calls/caller.ts";
import { chunksOf, CLIENT_NAMES, runChunk } from "#lib/api/calls/run_chunks.ts";
import { ApiError } from "#lib/api/http/api_error.ts";
import { isMap, map, str, type Value, type ValueMap } from "#lib/values/value.ts";
import type { ApiParts, ApiRequest, Methods, ValueReply } from "./endpoint.ts";

/** The caller of a request with a session. */
export function sessionCaller({ session, signal }: ApiRequest, { opts, log }: ApiParts): ApiCaller {
  if (session === undefined) throw new ApiError(401, "No authentication credentials given");
  return { opts, log, signal, user: session.user, proof: map({ token: session.token }) };
}

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

/** The path `/`: a welcome, and chunks of a session. */
export const ROOT: Methods = {
  GET: {
    summary: "A welcome, and the names of the clients.",
    handle: () => ({ value: map({ return: "Welcome", clients: [...CLIENT_NAMES] }) }),
  },
  POST: {
    summary: "Runs chunks, one after another.",
    needs: "session",
    query: "any",
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
  const { signal } = request, { opts, log, tokens } = parts;
  const token = low.get("token");
  if (token !== undefined) {
    if (typeof token !== "string" || !/^[0-9a-f]+$/i.test(token)) throw new ApiError(401, "Invalid token");
    const held = tokens.get(token);
    if (held === undefined) throw new ApiError(401, "Authentication error occurred.");
    return { opts, log, signal, user: held.name, proof: map({ token }) };
  }
  return credentialsCaller(low, request, parts);
}

/**
 * The caller whose name and password are in the chunk.
 * @throws {ApiError} 401 if they are not.
 */
export function credentialsCaller(low: ValueMap, { signal }: ApiRequest, { opts, log }: ApiParts): ApiCaller {
  const [username, password, eauth] = ["username", "password", "eauth"].map((name) => low.get(name));
  if (username === undefined || eauth === undefined) throw new ApiError(401, "No authentication credentials given");
  const proof = map({ username, password: password ?? null, eauth });
  return { opts, log, signal, user: str(username), proof };
}

/** `/minions` and `/minions/ID`. */
export const MINIONS: Methods = {
  GET: {
    summary: "The grains of minions, asked for now; the id may be a glob.",
    needs: "session",
    async handle(request, parts) {
      const low = map({ client: "local", tgt: request.params.id ?? "*", fun: "grains.items" });
      return { value: map({ return: await runChunk(low, sessionCaller(request, parts)) }) };
    },
  },
  POST: {
    summary: "Starts a job on minions.",
    needs: "session",
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
    query: ["timeout"],
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
