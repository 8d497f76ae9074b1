/**
 * The table of routes: what is served where. docs/api.md is made of it.
 * @module
 */

import { rstripChars } from "#lib/values/python_text.ts";
import type { ApiSettings } from "#lib/api/endpoints/api_settings.ts";
import type { Methods } from "#lib/api/endpoints/endpoint.ts";
import type { PathRoute } from "#lib/api/http/route_table.ts";
import { CONSOLE } from "./console_endpoint.ts";
import { EVENTS, hookMethods, statsMethods } from "./event_endpoints.ts";
import { HEALTH_LIVE, HEALTH_READY } from "./health_endpoints.ts";
import { JOB, JOBS, MINIONS, ROOT, RUN_ONCE } from "./job_endpoints.ts";
import { KEYS } from "./key_endpoints.ts";
import { METRICS } from "./metrics_endpoint.ts";
import { openApiMethods } from "./openapi_endpoint.ts";
import { AUDIT } from "#lib/api/v1/audit_endpoints.ts";
import { DRIFT, MINION_DRIFT } from "#lib/api/v1/drift_endpoints.ts";
import {
  FLEET_BEACONS,
  FLEET_PILLAR,
  FLEET_SCHEDULES,
  MASTER_FILES,
  MASTER_QUEUES,
} from "#lib/api/v1/fleet_data_endpoints.ts";
import { PLAN_APPLY, PLAN_BY_HASH, PLANS } from "#lib/api/v1/plan_endpoints.ts";
import { EVENT_PAGES, EVENT_STREAM } from "#lib/api/v1/event_endpoints.ts";
import { FLEET, FLEET_GRAINS, FLEET_JOBS, FLEET_MINION, TARGET_PREVIEW } from "#lib/api/v1/fleet_endpoints.ts";
import { FUNCTION_BY_NAME, FUNCTIONS } from "#lib/api/v1/function_endpoints.ts";
import { FLEET_JOB, FLEET_JOB_LIST, FLEET_JOB_OUTPUT } from "#lib/api/v1/job_endpoints.ts";
import { SCHEDULE_OUTCOMES } from "#lib/api/v1/schedule_endpoints.ts";
import { FLEET_KEY_ACCEPT, FLEET_KEYS } from "#lib/api/v1/key_endpoints.ts";
import { SESSIONS, TOKEN_BY_ID, TOKENS } from "#lib/api/v1/token_endpoints.ts";
import { SOCKET_OF_SESSION, SOCKET_OF_TOKEN } from "./websocket_endpoint.ts";
import { OIDC_CALLBACK, OIDC_LOGIN } from "./oidc_endpoints.ts";
import { LOGIN, LOGOUT, TOKEN } from "./session_endpoints.ts";

/** The routes that are served with these settings. */
export function apiRoutes(settings: ApiSettings): PathRoute<Methods>[] {
  const hook = rstripChars(settings.webhook_url, "/");
  const routes: Record<string, Methods> = {
    "/": ROOT,
    "/run": { GET: ROOT.GET, ...RUN_ONCE },
    "/token": { GET: ROOT.GET, ...TOKEN },
    "/keys": KEYS,
    "/keys/:id": { GET: KEYS.GET },
    "/events": EVENTS,
    "/ws": { GET: SOCKET_OF_SESSION },
    "/ws/:token": { GET: SOCKET_OF_TOKEN },
    "/openapi.json": openApiMethods(() => table),
    "/console/*file": CONSOLE,
    "/health/live": HEALTH_LIVE,
    "/health/ready": HEALTH_READY,
    "/metrics": METRICS,
    "/stats": statsMethods(settings.stats_disable_auth),
    [`${hook}/*rest`]: hookMethods(settings.webhook_disable_auth),
  };
  const withSessions: Record<string, Methods> = {
    "/login": LOGIN,
    "/login/oidc": OIDC_LOGIN,
    "/login/oidc/callback": OIDC_CALLBACK,
    "/logout": LOGOUT,
    "/minions": MINIONS,
    "/minions/:id": { GET: MINIONS.GET },
    "/jobs": JOBS,
    "/jobs/:jid": JOB,
    "/api/v1/minions": FLEET,
    "/api/v1/minions/:id": FLEET_MINION,
    "/api/v1/minions/:id/grains": FLEET_GRAINS,
    "/api/v1/minions/:id/jobs": FLEET_JOBS,
    "/api/v1/minions/:id/drift": MINION_DRIFT,
    "/api/v1/targets/preview": TARGET_PREVIEW,
    "/api/v1/functions": FUNCTIONS,
    "/api/v1/functions/:name": FUNCTION_BY_NAME,
    "/api/v1/jobs": FLEET_JOB_LIST,
    "/api/v1/jobs/:jid": FLEET_JOB,
    "/api/v1/jobs/:jid/output": FLEET_JOB_OUTPUT,
    "/api/v1/keys": FLEET_KEYS,
    "/api/v1/keys/:id/accept": FLEET_KEY_ACCEPT,
    "/api/v1/plans": PLANS,
    "/api/v1/plans/:hash": PLAN_BY_HASH,
    "/api/v1/plans/:hash/apply": PLAN_APPLY,
    "/api/v1/drift": DRIFT,
    "/api/v1/schedule": FLEET_SCHEDULES,
    "/api/v1/schedule/outcomes": SCHEDULE_OUTCOMES,
    "/api/v1/beacons": FLEET_BEACONS,
    "/api/v1/pillar": FLEET_PILLAR,
    "/api/v1/files": MASTER_FILES,
    "/api/v1/queues": MASTER_QUEUES,
    "/api/v1/audit": AUDIT,
    "/api/v1/events": EVENT_PAGES,
    "/api/v1/events/stream": EVENT_STREAM,
    "/api/v1/sessions": SESSIONS,
    "/api/v1/tokens": TOKENS,
    "/api/v1/tokens/:id": TOKEN_BY_ID,
  };
  const served = { ...routes, ...settings.enable_sessions ? withSessions : {} };
  const table = Object.entries(served).map(([path, target]): PathRoute<Methods> => ({ path, target }));
  return table;
}
