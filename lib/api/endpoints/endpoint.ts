/**
 * What an endpoint of the API is: who may ask, and how it answers. The table of routes is made of these.
 * @module
 */

import type { ApiTokens } from "./api_tokens.ts";
import type { EndWatches } from "./end_watches.ts";
import type { AuditLog } from "#lib/auth/audit_log.ts";
import type { FunctionCatalogue } from "#lib/api/calls/function_catalogue.ts";
import type { EventFeed } from "./event_feed.ts";
import type { LivingTokens } from "./living_tokens.ts";
import type { LoginAttempts } from "./login_attempts.ts";
import type { IdempotencyKeys } from "./idempotency.ts";
import type { JobIndex } from "./job_index.ts";
import type { JobStore } from "#lib/jobs/store.ts";
import type { Logger } from "#lib/runtime/log.ts";
import type { MasterOpts } from "#lib/config/options.ts";
import type { ClientOrigin } from "#lib/api/http/client_origin.ts";
import type { JsonSchema } from "#lib/api/http/json_schema.ts";
import type { OidcLogIns } from "./oidc_log_ins.ts";
import type { Plans } from "./plans.ts";
import type { HttpAnswer, IncomingRequest, RequestConnection } from "#lib/api/http/exchange.ts";
import type { RequestBody } from "#lib/api/http/request_body.ts";
import type { RequestCounts } from "./request_counts.ts";
import type { ApiSession, Sessions } from "./sessions.ts";
import type { EauthToken, Tokens } from "#lib/auth/tokens.ts";
import type { TraceContext } from "#lib/tracing/trace_context.ts";
import type { Value } from "#lib/values/value.ts";
import type { ValueType } from "#lib/api/http/answer.ts";
import type { ApiSettings } from "./api_settings.ts";

/** What all requests share. */
export interface ApiParts {
  readonly opts: MasterOpts;
  readonly settings: ApiSettings;
  readonly log: Logger;
  readonly sessions: Sessions;
  readonly apiTokens: ApiTokens;
  /** Tells streams that their session or API token has ended. */
  readonly ends: EndWatches;
  readonly tokens: Tokens;
  readonly livingTokens: LivingTokens;
  readonly feed: EventFeed;
  readonly attempts: LoginAttempts;
  readonly counts: RequestCounts;
  readonly audit: AuditLog;
  readonly functions: FunctionCatalogue;
  /** The job cache. */
  readonly store: JobStore;
  readonly jobs: JobIndex;
  readonly idempotency: IdempotencyKeys;
  readonly plans: Plans;
  /** Log-ins by a provider; `undefined`: none is configured. */
  readonly oidc: OidcLogIns | undefined;
  /** When its certificate ends, in milliseconds since the epoch; `undefined`: it has none. */
  certificateEndsMs(): number | undefined;
  /** Aborted when the API ends. */
  readonly signal: AbortSignal;
}

/** A request that has passed the checks of its endpoint. */
export interface ApiRequest {
  readonly request: IncomingRequest;
  readonly connection: RequestConnection;
  /** Where it comes from. */
  readonly client: ClientOrigin;
  /** The parts of the path that the route names. */
  readonly params: Readonly<Record<string, string>>;
  readonly query: URLSearchParams;
  readonly body: RequestBody;
  /** The session; there for endpoints that need one. */
  readonly session: ApiSession | undefined;
  /** The session's token of Salt's, or the one that the request has itself; there for endpoints that need one. */
  readonly held: EauthToken | undefined;
  /** The form of the answer. */
  readonly type: ValueType;
  /** Aborted when the client has gone, or the API ends. */
  readonly signal: AbortSignal;
  /** Its span, if it is traced. */
  readonly trace?: TraceContext;
}

/** An answer that is a value. */
export interface ValueReply {
  readonly value: Value;
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
}

/** One form of an endpoint's answers. */
export interface AnswerType {
  /** Default: 200. */
  readonly status?: number;
  /** What it says. */
  readonly doc: string;
  /** The type of the value, of an answer that is one. */
  readonly schema?: JsonSchema;
  /** The media type of an answer that is no value. */
  readonly media?: string;
}

/** The names of a query, each with its type. */
export type QueryTypes = Readonly<Record<string, JsonSchema>>;

/** One method of one path. What it says of itself is the source of docs/api.md and of /openapi.json. */
export interface ApiEndpoint {
  /** What it does. */
  readonly summary: string;
  /** Whether it needs a session; `token`: a session, or a token of Salt's. Default: no. */
  readonly needs?: "session" | "token";
  /** What the user must be allowed besides, in words. */
  readonly rights?: string;
  /** The names that its query may have; `any`: whatever. Others are answered with 404, as in Salt. */
  readonly query?: QueryTypes | "any";
  /** Whether the answer is no value, so that any `Accept` is right. */
  readonly isRaw?: true;
  /** Whether bodies and answers are JSON and nothing else. */
  readonly onlyJson?: true;
  /** The answers that are no errors. */
  readonly answers: readonly AnswerType[];
  /** The statuses of its own errors, besides those that all endpoints have. */
  readonly errors?: readonly number[];
  handle(request: ApiRequest, parts: ApiParts): Promise<ValueReply | HttpAnswer> | ValueReply | HttpAnswer;
}

/** A method that may have a body. */
export interface BodyEndpoint extends ApiEndpoint {
  /** The type of the body; `null`: it has none. */
  readonly body: JsonSchema | null;
}

/** The endpoints of a path by method; GET serves HEAD as well. */
export type Methods = Readonly<{
  GET?: ApiEndpoint;
  POST?: BodyEndpoint;
  PUT?: BodyEndpoint;
  DELETE?: BodyEndpoint;
}>;
