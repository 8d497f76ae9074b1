/**
 * The audit log: `/api/v1/audit`.
 * @module
 */

import { UserRights } from "#lib/api/endpoints/rights.ts";
import type { Methods } from "#lib/api/endpoints/endpoint.ts";
import { ApiError } from "#lib/api/http/api_error.ts";
import { t } from "#lib/api/http/json_schema.ts";
import { auditPath, readAudit } from "#lib/auth/audit_log.ts";
import { map } from "#lib/values/value.ts";
import { limitOf, NEXT, numberOf, PAGE_QUERY } from "./pages.ts";

const OUTCOMES = ["done", "refused", "failed"];

/** The path `/api/v1/audit`. */
export const AUDIT: Methods = {
  GET: {
    summary: "The audit log, the newest entry first.",
    needs: "session",
    rights: "run every wheel function (@wheel), as it shows what all users did",
    onlyJson: true,
    query: {
      ...PAGE_QUERY,
      user: t.text("Only entries of this user."),
      outcome: t.oneOf(OUTCOMES, "Only those."),
    },
    answers: [{
      doc: "A page.",
      schema: t.object({
        entries: t.list(t.open({
          n: t.int("Its number, from 1."),
          at: t.text(),
          user: t.text(),
          from: t.text(),
          token: t.text(),
          what: t.text(),
          target: t.text(),
          count: t.orNull(t.int()),
          outcome: t.oneOf(OUTCOMES),
        })),
        next: NEXT,
      }),
    }],
    errors: [400],
    async handle(request, parts) {
      if (!UserRights.of(request, parts).isAdministrator) {
        throw new ApiError(401, "Authorization error occurred: the audit log");
      }
      const { query } = request;
      const outcome = query.get("outcome"), user = query.get("user");
      if (outcome !== null && !OUTCOMES.includes(outcome)) {
        throw new ApiError(400, `outcome must be one of ${OUTCOMES.join(", ")}`);
      }
      const { entries, next } = await readAudit(auditPath(parts.opts.cachedir), {
        before: numberOf(query, "after", { min: 1, max: 999_999_999_999 }),
        limit: limitOf(query),
        wants: (entry) =>
          (user === null || entry.get("user") === user) && (outcome === null || entry.get("outcome") === outcome),
      });
      return { value: map({ entries, next: next === undefined ? null : String(next) }) };
    },
  },
};
