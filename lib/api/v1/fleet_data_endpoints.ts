/**
 * What the fleet is set up with, asked for with the functions that show it, and by their rights: `/api/v1/schedule`,
 * `/api/v1/beacons`, `/api/v1/pillar`, `/api/v1/files`, `/api/v1/queues`.
 * @module
 */

import { runChunk } from "#lib/api/calls/run_chunks.ts";
import { sessionCaller } from "#lib/api/endpoints/callers.ts";
import type { ApiParts, ApiRequest, Methods } from "#lib/api/endpoints/endpoint.ts";
import { UserRights } from "#lib/api/endpoints/rights.ts";
import { ApiError } from "#lib/api/http/api_error.ts";
import { t } from "#lib/api/http/json_schema.ts";
import { readPresence } from "#lib/fleet/presence_file.ts";
import { QUESTION } from "#lib/jobs/listing.ts";
import { isMap, map, str, type Value, type ValueMap } from "#lib/values/value.ts";
import { fullReturns, isReturn } from "./full_returns.ts";

/** A path that asks the minions of a target for one function. */
function askedOfMinions(
  { fun, summary, doc, kwarg }: {
    readonly fun: string;
    readonly summary: string;
    readonly doc: string;
    readonly kwarg?: ValueMap;
  },
): Methods {
  return {
    GET: {
      summary,
      needs: "session",
      rights: `run ${fun} on these minions`,
      onlyJson: true,
      query: {
        target: t.text("A target. Default: all that are connected and that the rules reach."),
        type: t.text("Its type. Default: glob."),
      },
      answers: [{ doc, schema: t.object({ minions: t.mapOf(t.any(), "By id; who does not answer is absent.") }) }],
      errors: [400],
      async handle(request, parts) {
        const { query } = request;
        const target = query.get("target");
        const tgt = target ?? connectedIds(request, parts);
        if (tgt.length === 0) return { value: map({ minions: new Map() }) };
        const low = map({
          fun,
          tgt,
          tgt_type: target === null ? "list" : query.get("type") ?? "glob",
          kwarg: kwarg ?? new Map(),
          metadata: QUESTION,
        });
        const answers = [...await fullReturns(low, request, parts)].filter(([, full]) => isReturn(full));
        return { value: map({ minions: new Map(answers.map(([id, full]) => [id, full.get("ret") ?? null])) }) };
      },
    },
  };
}

/** The connected minions that the user sees: nobody waits for others. */
function connectedIds(request: ApiRequest, parts: ApiParts): string[] {
  const { present } = readPresence(parts.opts.cachedir);
  return [...UserRights.of(request, parts).minions()].filter((id) => present.has(id)).sort();
}

const AS_DATA = map({ return_yaml: false });

/** The path `/api/v1/schedule`. */
export const FLEET_SCHEDULES: Methods = askedOfMinions({
  fun: "schedule.list",
  summary: "The schedules of minions.",
  doc: "The jobs by name.",
  kwarg: AS_DATA,
});

/** The path `/api/v1/beacons`. */
export const FLEET_BEACONS: Methods = askedOfMinions({
  fun: "beacons.list",
  summary: "The beacons of minions.",
  doc: "The beacons by name.",
  kwarg: AS_DATA,
});

/** The path `/api/v1/pillar`. */
export const FLEET_PILLAR: Methods = askedOfMinions({
  fun: "pillar.obfuscate",
  summary: "The pillar of minions, with the types of its values in place of them.",
  doc: "The names, as a tree.",
});

/** @throws {ApiError} 400 with what a runner says that failed. */
function listIn(result: Value | undefined): Value[] {
  if (Array.isArray(result)) return result;
  throw new ApiError(400, str(result ?? "The master gave no result"));
}

const QUEUE = t.object({
  queue: t.text(),
  kind: t.oneOf(["reactor", "returner", "outbox", "queue"]),
  waiting: t.int("What waits in it."),
  oldest: t.text("When the oldest of it came; empty: nothing waits, or it is not known."),
  dropped: t.int("What was dropped since the start."),
  error: t.text("The last error; empty: none."),
});

/** The path `/api/v1/queues`. */
export const MASTER_QUEUES: Methods = {
  GET: {
    summary: "The queues of the master: what waits for the reactor, for returners, for the database of jobs.",
    needs: "session",
    rights: "run the runner overview.queues",
    onlyJson: true,
    answers: [{ doc: "The queues.", schema: t.object({ queues: t.list(QUEUE) }) }],
    errors: [400, 504],
    async handle(request, parts) {
      const low = map({ client: "runner", fun: "overview.queues" });
      const [table] = await runChunk(low, sessionCaller(request, parts));
      return { value: map({ queues: listIn(isMap(table) ? table.get("data") : table) }) };
    },
  },
};

/** The path `/api/v1/files`. */
export const MASTER_FILES: Methods = {
  GET: {
    summary: "The files that the master serves.",
    needs: "session",
    rights: "run the runner fileserver.file_list",
    onlyJson: true,
    query: { saltenv: t.text("Default: base.") },
    answers: [{ doc: "Their paths.", schema: t.object({ saltenv: t.text(), files: t.list(t.text()) }) }],
    errors: [400, 504],
    async handle(request, parts) {
      const saltenv = request.query.get("saltenv") ?? "base";
      const low = map({ client: "runner", fun: "fileserver.file_list", kwarg: map({ saltenv }) });
      const [files] = await runChunk(low, sessionCaller(request, parts));
      return { value: map({ saltenv, files: listIn(files).map(str) }) };
    },
  },
};
