/**
 * Whether the API and what it needs work, for load balancers and service managers. Both say nothing secret, and need no
 * session.
 * @module
 */

import { isMasterRunning } from "#lib/client/master_running.ts";
import { t } from "#lib/api/http/json_schema.ts";
import { map } from "#lib/values/value.ts";
import type { Methods } from "#lib/api/endpoints/endpoint.ts";

const STATUS = t.object({ status: t.text() });
const READY = t.object({
  status: t.text(),
  certificate_ends: t.optional(t.int("When the certificate of this API ends, in seconds since the epoch.")),
});

/** The path `/health/live`: whether this process answers. */
export const HEALTH_LIVE: Methods = {
  GET: {
    summary: "200: this process answers.",
    answers: [{ doc: "It answers.", schema: STATUS }],
    handle: () => ({ value: map({ status: "ok" }) }),
  },
};

/** The path `/health/ready`: whether requests can be served. */
export const HEALTH_READY: Methods = {
  GET: {
    summary: "200: the master runs; 503: `failed` names what does not.",
    answers: [
      { doc: "Requests can be served.", schema: READY },
      { status: 503, doc: "They cannot.", schema: t.object({ status: t.text(), failed: t.list(t.text()) }) },
    ],
    async handle(_, { opts, certificateEndsMs }) {
      const endsMs = certificateEndsMs();
      if (await isMasterRunning(opts.sock_dir)) {
        return {
          value: map({ status: "ok", ...endsMs !== undefined && { certificate_ends: Math.floor(endsMs / 1000) } }),
        };
      }
      return { value: map({ status: "unavailable", failed: ["master"] }), status: 503 };
    },
  },
};
