/**
 * `/openapi.json`: what the API is, for programs.
 * @module
 */

import { argumentsSchema } from "#lib/api/calls/function_catalogue.ts";
import { t } from "#lib/api/http/json_schema.ts";
import type { ApiParts, ApiRequest, Methods, ValueReply } from "#lib/api/endpoints/endpoint.ts";
import { provenSession } from "#lib/api/endpoints/proven.ts";
import type { PathRoute } from "#lib/api/http/route_table.ts";
import { toValue } from "#lib/values/value.ts";
import { openApiDocument } from "./openapi.ts";

/**
 * The endpoint of the document of a table.
 * @param routes The table; asked for at each request, as the endpoint is in it.
 */
export function openApiMethods(routes: () => readonly PathRoute<Methods>[]): Methods {
  return {
    GET: {
      summary: "This API as an OpenAPI 3.1 document.",
      query: { functions: t.oneOf(["0", "1"], "1: also a type for the arguments of each function; needs a session.") },
      onlyJson: true,
      answers: [{ doc: "The document.", schema: t.mapOf(t.any()) }],
      errors: [401],
      handle: (request, parts) => document(routes(), request, parts),
    },
  };
}

async function document(
  routes: readonly PathRoute<Methods>[],
  request: ApiRequest,
  { functions }: ApiParts,
): Promise<ValueReply> {
  if (request.query.get("functions") !== "1") return { value: toValue(openApiDocument(routes)) };
  // Loading all modules takes memory and time.
  provenSession(request);
  const types = (await functions.all()).map((one) => [`${one.kind}.${one.name}`, argumentsSchema(one)]);
  return { value: toValue(openApiDocument(routes, Object.fromEntries(types))) };
}
