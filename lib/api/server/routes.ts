/**
 * The table of routes: what is served where. docs/api.md is made of it.
 * @module
 */

import type { ApiSettings } from "#lib/api/endpoints/api_settings.ts";
import type { Methods } from "#lib/api/endpoints/endpoint.ts";
import type { PathRoute } from "#lib/api/http/route_table.ts";
import { EVENTS, hookMethods, statsMethods } from "./event_endpoints.ts";
import { HEALTH_LIVE, HEALTH_READY } from "./health_endpoints.ts";
import { JOB, JOBS, MINIONS, ROOT, RUN_ONCE } from "./job_endpoints.ts";
import { KEYS } from "./key_endpoints.ts";
import { openApiMethods } from "./openapi_endpoint.ts";
import { LOGIN, LOGOUT, TOKEN } from "./session_endpoints.ts";

/** The routes that are served with these settings. */
export function apiRoutes(settings: ApiSettings): PathRoute<Methods>[] {
  const hook = settings.webhook_url.replace(/\/+$/, "");
  const routes: Record<string, Methods> = {
    "/": ROOT,
    "/run": RUN_ONCE,
    "/token": TOKEN,
    "/keys": KEYS,
    "/keys/:id": { GET: KEYS.GET },
    "/events": EVENTS,
    "/openapi.json": openApiMethods(() => table),
    "/health/live": HEALTH_LIVE,
    "/health/ready": HEALTH_READY,
    "/stats": statsMethods(settings.stats_disable_auth),
    [`${hook}/*rest`]: hookMethods(settings.webhook_disable_auth),
  };
  const withSessions: Record<string, Methods> = {
    "/login": LOGIN,
    "/logout": LOGOUT,
    "/minions": MINIONS,
    "/minions/:id": { GET: MINIONS.GET },
    "/jobs": JOBS,
    "/jobs/:jid": JOB,
  };
  const served = { ...routes, ...settings.enable_sessions ? withSessions : {} };
  const table = Object.entries(served).map(([path, target]): PathRoute<Methods> => ({ path, target }));
  return table;
}
