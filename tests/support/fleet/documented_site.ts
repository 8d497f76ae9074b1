/**
 * A salt-api whose JSON answers are checked against its own OpenAPI document.
 * @module
 */

import { matchRoute, type PathRoute } from "#lib/api/http/route_table.ts";
import type { Methods } from "#lib/api/endpoints/endpoint.ts";
import { apiRoutes } from "#lib/api/server/routes.ts";
import { apiSettings } from "#lib/api/endpoints/api_settings.ts";
import { openApiDocument, openApiPath } from "#lib/api/server/openapi.ts";
import { OpenApiCheck } from "#tests/support/openapi_check.ts";
import { map } from "#lib/values/value.ts";
import { ApiSite } from "./api_site.ts";

const ROUTES: readonly PathRoute<Methods>[] = apiRoutes(apiSettings(map({ port: 0, host: "127.0.0.1" })).settings);
const CHECK = new OpenApiCheck(JSON.parse(JSON.stringify(openApiDocument(ROUTES))));

/** A running API. */
export class DocumentedSite extends ApiSite {
  /**
   * As {@linkcode ApiSite.ask}.
   * @throws {Error} If the answer is not as documented.
   */
  override async ask(
    method: string,
    path: string,
    options: Parameters<ApiSite["ask"]>[2] = {},
  ): ReturnType<ApiSite["ask"]> {
    const answer = await super.ask(method, path, options);
    const route = matchRoute(ROUTES, path.split("?")[0]);
    const found = ROUTES.find(({ target }) => target === route?.target);
    const { status, body } = answer;
    const problems = CHECK.problems({
      method,
      path: openApiPath(found?.path ?? ""),
      status,
      type: "application/json",
      body,
    });
    if (problems.length > 0) throw new Error(problems.join("\n"));
    return answer;
  }
}
