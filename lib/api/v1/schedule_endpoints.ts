/**
 * How the jobs that minions run by themselves ended last, as far as the job cache knows: `/api/v1/schedule/outcomes`.
 * @module
 */

import type { Methods } from "#lib/api/endpoints/endpoint.ts";
import { UserRights } from "#lib/api/endpoints/rights.ts";
import { t } from "#lib/api/http/json_schema.ts";
import { RETURN_OUTCOMES } from "#lib/protocol/outcome.ts";
import { map, type Value, type ValueMap } from "#lib/values/value.ts";

/** The path `/api/v1/schedule/outcomes`. */
export const SCHEDULE_OUTCOMES: Methods = {
  GET: {
    summary: "How the jobs of schedules ended last, as far as the job cache knows.",
    needs: "session",
    rights: "see the minions; run the runner jobs.list_job",
    onlyJson: true,
    answers: [{
      doc: "The newest return of each job that a schedule ran.",
      schema: t.object({
        minions: t.mapOf(
          t.mapOf(t.object({ jid: t.text(), outcome: t.oneOf(RETURN_OUTCOMES) })),
          "By id, and by the name of the job.",
        ),
      }),
    }],
    async handle(request, parts) {
      const rights = UserRights.of(request, parts);
      rights.checkMayRun("runner", "jobs.list_job");
      const seen = rights.minions(), minions = new Map<Value, ValueMap>();
      for (const { jid, schedule, outcomes } of await parts.jobs.newest()) {
        if (schedule === "") continue;
        for (const [id, outcome] of outcomes) {
          if (!seen.has(id)) continue;
          const own = minions.get(id) ?? new Map<Value, Value>();
          minions.set(id, own);
          // The newest comes first.
          if (!own.has(schedule)) own.set(schedule, map({ jid, outcome }));
        }
      }
      return { value: map({ minions }) };
    },
  },
};
