/**
 * The OpenAPI document of the API, made from its table of routes.
 * Source: spec.openapis.org, OpenAPI 3.1.
 * @module
 */

import type { AnswerType, ApiEndpoint, BodyEndpoint, Methods } from "#lib/api/endpoints/endpoint.ts";
import { CLIENT_NAMES } from "#lib/api/calls/run_chunks.ts";
import { type JsonSchema, t } from "#lib/api/http/json_schema.ts";
import { statusText, VALUE_TYPES } from "#lib/api/http/answer.ts";
import { BODY_TYPES, JSON_TYPES } from "#lib/api/http/request_body.ts";
import type { PathRoute } from "#lib/api/http/route_table.ts";
import { RETURN_OUTCOMES } from "#lib/protocol/outcome.ts";
import { LICENSE, VERSION } from "#lib/version.ts";

/** The types that several endpoints use, by name. */
const NAMED: Readonly<Record<string, JsonSchema>> = {
  Chunk: t.open({
    client: t.optional(t.oneOf(CLIENT_NAMES, "Where the function runs. POST /minions needs none.")),
    fun: t.optional(t.either(t.text("module.function"), t.list(t.text()))),
    tgt: t.optional(t.any("The target, of functions on minions.")),
    tgt_type: t.optional(t.text("The type of the target. Default: glob.")),
    arg: t.optional(t.any("Arguments by place; a value that is no list is the only one.")),
    kwarg: t.optional(t.mapOf(t.any(), "Arguments by name.")),
    timeout: t.optional(t.either(t.number(), t.text())),
    full_return: t.optional(t.any("true: with return codes.")),
  }, "One call. Fields that are not named here are arguments of runners and wheel functions."),
  Error: t.object({
    error: t.object({
      status: t.int("The status of the answer."),
      code: t.text("The status in words."),
      message: t.text("A sentence for the caller."),
      request: t.text("The id under which the log has the cause of a status 500."),
    }),
  }),
  MinionJob: t.object({
    jid: t.text(),
    fun: t.any("A function, or a list of them; null: not known."),
    outcome: t.orNull(t.oneOf(RETURN_OUTCOMES, "null: it has not returned.")),
  }),
  Session: t.object({
    token: t.text("Sent as X-Auth-Token."),
    expire: t.number("Seconds since the epoch."),
    start: t.number("Seconds since the epoch."),
    user: t.text(),
    eauth: t.text(),
    perms: t.either(t.list(t.any()), t.mapOf(t.any())),
  }),
};

/** The statuses of errors of every endpoint: a wrong address or host, query, Accept, too much, our fault, no master. */
const COMMON_ERRORS = [403, 404, 406, 421, 429, 431, 500, 503];
/** Those of endpoints with a body besides. */
const BODY_ERRORS = [400, 408, 413];

/** The document for these routes. */
export function openApiDocument(
  routes: readonly PathRoute<Methods>[],
  functions: Readonly<Record<string, JsonSchema>> = {},
): Readonly<Record<string, unknown>> {
  const errors = [...new Set(routes.flatMap(({ target }) => Object.values(target).flatMap(errorStatuses)))];
  return {
    openapi: "3.1.1",
    info: {
      title: "salt-api",
      version: VERSION,
      description: "The REST API of a master: the routes of Salt's rest_cherrypy, and its own under /api/v1.",
      license: { name: LICENSE, identifier: LICENSE },
    },
    servers: [{ url: "/" }],
    paths: Object.fromEntries(routes.map(({ path, target }) => [openApiPath(path), pathItem(path, target)])),
    components: {
      schemas: { ...NAMED, ...functions },
      responses: Object.fromEntries(errors.map((status) => [`Error${status}`, errorResponse(status)])),
      securitySchemes: {
        header: { type: "apiKey", in: "header", name: "X-Auth-Token" },
        cookie: { type: "apiKey", in: "cookie", name: "session_id" },
      },
    },
  };
}

/** `/jobs/:jid` as `/jobs/{jid}`. */
export function openApiPath(path: string): string {
  return path.replace(/[:*](\w+)/g, "{$1}");
}

function pathItem(path: string, methods: Methods): Readonly<Record<string, unknown>> {
  const parameters = [...path.matchAll(/([:*])(\w+)/g)].map(([, kind, name]) => ({
    name,
    in: "path",
    required: true,
    schema: t.text(kind === "*" ? "May have slashes, or be empty." : undefined),
  }));
  const operations = Object.entries(methods).map(([method, endpoint]) => [
    method.toLowerCase(),
    operation(`${method.toLowerCase()} ${path}`, endpoint),
  ]);
  return { ...parameters.length > 0 && { parameters }, ...Object.fromEntries(operations) };
}

function operation(name: string, endpoint: ApiEndpoint | BodyEndpoint): Readonly<Record<string, unknown>> {
  const { summary, needs, rights, query, answers } = endpoint;
  const body = bodyOf(endpoint);
  const parameters = query === undefined || query === "any" ? [] : Object.entries(query).map(([name, schema]) => ({
    name,
    in: "query",
    schema,
  }));
  const plain = answers.map((answer): [string, unknown] => [
    String(answer.status ?? 200),
    answerResponse(answer, endpoint),
  ]);
  const failed = errorStatuses(endpoint).map((status): [string, unknown] => [
    String(status),
    { $ref: `#/components/responses/Error${status}` },
  ]);
  return {
    operationId: name.replace(/[^A-Za-z0-9]+(\w?)/g, (_, letter: string) => letter.toUpperCase()),
    summary,
    ...rights !== undefined && { description: `Needs the right to ${rights}.` },
    ...needs !== undefined && { security: [{ header: [] }, { cookie: [] }] },
    ...parameters.length > 0 && { parameters },
    ...body !== null && { requestBody: requestBody(body, endpoint) },
    // An own answer goes before the error of the same status.
    responses: Object.fromEntries([...failed, ...plain]),
  };
}

function bodyOf(endpoint: ApiEndpoint | BodyEndpoint): JsonSchema | null {
  return "body" in endpoint ? endpoint.body : null;
}

function requestBody(schema: JsonSchema, { onlyJson }: ApiEndpoint): Readonly<Record<string, unknown>> {
  const types = onlyJson ? JSON_TYPES : BODY_TYPES;
  return { content: Object.fromEntries(types.map((type) => [type, { schema }])) };
}

function answerResponse({ doc, schema, media }: AnswerType, { onlyJson }: ApiEndpoint): unknown {
  if (media !== undefined) return { description: doc, content: { [media]: {} } };
  if (schema === undefined) return { description: doc };
  const types = onlyJson ? JSON_TYPES : VALUE_TYPES;
  return { description: doc, content: Object.fromEntries(types.map((type) => [type, { schema }])) };
}

/** The statuses of all errors of an endpoint. */
function errorStatuses(endpoint: ApiEndpoint | BodyEndpoint): number[] {
  const own = [...endpoint.errors ?? [], ...endpoint.needs === undefined ? [] : [401]];
  const statuses = [...COMMON_ERRORS, ...bodyOf(endpoint) === null ? [] : BODY_ERRORS, ...own];
  return [...new Set(statuses)].sort((a, b) => a - b);
}

function errorResponse(status: number): unknown {
  const schema = t.named("Error");
  const values = VALUE_TYPES.map((type) => [type, { schema }]);
  return {
    description: statusText(status),
    content: { ...Object.fromEntries(values), "text/html": { schema: t.text() } },
  };
}
