/**
 * What an endpoint of the API is: who may ask, and how it answers. The table of routes is made of these.
 * @module
 */

import type { EventFeed } from "./event_feed.ts";
import type { LoginAttempts } from "./login_attempts.ts";
import type { Logger } from "#lib/runtime/log.ts";
import type { MasterOpts } from "#lib/config/options.ts";
import type { RequestBody } from "#lib/api/http/request_body.ts";
import type { RequestCounts } from "./request_counts.ts";
import type { ApiSession, Sessions } from "./sessions.ts";
import type { Tokens } from "#lib/auth/tokens.ts";
import type { Value } from "#lib/values/value.ts";
import type { ValueType } from "#lib/api/http/answer.ts";
import type { ApiSettings } from "./api_settings.ts";

/** What all requests share. */
export interface ApiParts {
  readonly opts: MasterOpts;
  readonly settings: ApiSettings;
  readonly log: Logger;
  readonly sessions: Sessions;
  readonly tokens: Tokens;
  readonly feed: EventFeed;
  readonly attempts: LoginAttempts;
  readonly counts: RequestCounts;
  /** Aborted when the API ends. */
  readonly signal: AbortSignal;
}

/** A request that has passed the checks of its endpoint. */
export interface ApiRequest {
  readonly request: Request;
  /** The address of the peer. */
  readonly address: string;
  /** The parts of the path that the route names. */
  readonly params: Readonly<Record<string, string>>;
  readonly query: URLSearchParams;
  readonly body: RequestBody;
  /** The session; there for endpoints that need one. */
  readonly session: ApiSession | undefined;
  /** The form of the answer. */
  readonly type: ValueType;
  /** Aborted when the client has gone, or the API ends. */
  readonly signal: AbortSignal;
}

/** An answer that is a value. */
export interface ValueReply {
  readonly value: Value;
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
}

/** One method of one path. */
export interface ApiEndpoint {
  /** What it does, for docs/api.md. */
  readonly summary: string;
  /** Whether it needs a session; `token`: a session, or a token of Salt's. Default: no. */
  readonly needs?: "session" | "token";
  /** The names that its query may have; `any`: whatever. Others are answered with 404, as in Salt. */
  readonly query?: readonly string[] | "any";
  /** Whether the answer is no value, so that any `Accept` is right. */
  readonly isRaw?: true;
  handle(request: ApiRequest, parts: ApiParts): Promise<ValueReply | Response> | ValueReply | Response;
}

/** The endpoints of a path by method; GET serves HEAD as well. */
export type Methods = Readonly<Partial<Record<"GET" | "POST" | "PUT" | "DELETE", ApiEndpoint>>>;
