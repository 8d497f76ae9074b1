/**
 * What the fleet is set up with, asked for with the functions that show it, and by their rights: `/api/v1/schedule`,
 * `/api/v1/beacons`, `/api/v1/pillar`, `/api/v1/files`.
 * @module
 */

import { runChunk } from "#lib/api/calls/run_chunks.ts";
import { sessionCaller } from "#lib/api/endpoints/callers.ts";
import type { Methods } from "#lib/api/endpoints/endpoint.ts";
import { ApiError } from "#lib/api/http/api_error.ts";
import { t } from "#lib/api/http/json_schema.ts";
import { isMap, map, str, type ValueMap } from "#lib/values/value.ts";

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
      query: { target: t.text("A target. Default: all."), type: t.text("Its type. Default: glob.") },
      answers: [{ doc, schema: t.object({ minions: t.mapOf(t.any(), "By id; who does not answer is absent.") }) }],
      errors: [400],
      async handle(request, parts) {
        const { query } = request;
        const low = map({
          client: "local",
          fun,
          tgt: query.get("target") ?? "*",
          tgt_type: query.get("type") ?? "glob",
          kwarg: kwarg ?? new Map(),
        });
        const [minions] = await runChunk(low, sessionCaller(request, parts));
        return { value: map({ minions: isMap(minions) ? minions : new Map() }) };
      },
    },
  };
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
      if (!Array.isArray(files)) throw new ApiError(400, str(files ?? "The master gave no result"));
      return { value: map({ saltenv, files: files.map(str) }) };
    },
  },
};
