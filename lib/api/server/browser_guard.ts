/**
 * What protects users whose browser visits other sites too: the names that we answer to, requests of other sites, and
 * who may read answers.
 * Source: fetch.spec.whatwg.org (CORS, Sec-Fetch-Site); RFC 9110, status 421.
 * @module
 */

import { ApiError } from "#lib/api/http/api_error.ts";
import type { ApiSettings } from "#lib/api/endpoints/api_settings.ts";
import { type ClientOrigin, isIpAddress } from "#lib/api/http/client_origin.ts";
import type { IncomingRequest } from "#lib/api/http/exchange.ts";

/** Headers that pages of `cors_origins` may send, and read. */
const CORS_SENT = "Accept, Content-Type, Idempotency-Key, Last-Event-ID, X-Auth-Token";
const CORS_READ = "X-Auth-Token, Retry-After";
/** Seconds that a browser keeps the answer to a preflight. */
const CORS_MAX_AGE_S = 600;

/**
 * A site of somebody else whose name suddenly means our address must get no answer: a browser would take it for that
 * site's own. A name is needed for that, so addresses are served, and over TLS the certificate has our names.
 * @param own The name of this host.
 * @throws {ApiError} 421 for a name that is not ours.
 */
export function checkHost({ host }: ClientOrigin, settings: ApiSettings, own: string): void {
  const hasCertificate = settings.ssl_crt !== null && !settings.disable_ssl;
  if (host === "" || (hasCertificate && settings.api_hosts.length === 0)) return;
  const name = host.replace(/:\d+$/, "").replace(/^\[(.*)\]$/, "$1").replace(/\.$/, "").toLowerCase();
  const names = ["localhost", own.toLowerCase(), ...settings.api_hosts.map((one) => one.toLowerCase())];
  if (isIpAddress(name) || names.includes(name)) return;
  throw new ApiError(421, `This API is not served under the name '${name}'; the option api_hosts names its names`);
}

/**
 * A WebSocket that a page opens with the cookie must be of our own page: no other protection stops it.
 * @throws {ApiError} 403 if it is not.
 */
export function checkOwnOrigin(request: IncomingRequest, client: ClientOrigin): void {
  const origin = request.headers.get("origin");
  if (origin === null || origin === ownOrigin(client)) return;
  throw new ApiError(403, "A WebSocket of another site is not opened; put the token into the path");
}

/** The origin of our own pages, as the client addresses us. */
function ownOrigin({ isSecure, host }: ClientOrigin): string {
  return `${isSecure ? "https" : "http"}://${host}`;
}

/**
 * A browser sends the cookie with requests of other sites as well: what changes something must come from our own pages,
 * and be JSON, which no form can send.
 * @throws {ApiError} 403 if it does not.
 */
export function checkSameSite(request: IncomingRequest, client: ClientOrigin): void {
  if (request.method === "GET" || request.method === "HEAD") return;
  const site = request.headers.get("sec-fetch-site");
  const origin = request.headers.get("origin");
  // No browser: these send one of both.
  if (site === null && origin === null) return;
  const isOwn = site === null ? origin === ownOrigin(client) : site === "same-origin";
  if (!isOwn) throw new ApiError(403, "A request of another site is not answered; send the token as X-Auth-Token");
  // A body without a type is refused anyway.
  const type = request.headers.get("content-type")?.split(";")[0].trim().toLowerCase();
  if (type !== undefined && type !== "application/json") {
    throw new ApiError(403, "A request with the cookie alone must be JSON; send the token as X-Auth-Token");
  }
}

/** The headers with which a page of another site may read the answer; none unless `cors_origins` names the site. */
export function corsHeaders(request: IncomingRequest, { cors_origins }: ApiSettings): Readonly<Record<string, string>> {
  if (cors_origins.length === 0) return {};
  const origin = request.headers.get("origin");
  if (origin === null || origin === "null" || !cors_origins.includes(origin)) return { Vary: "Origin" };
  const shown = { "Access-Control-Allow-Origin": origin, "Access-Control-Expose-Headers": CORS_READ, Vary: "Origin" };
  if (request.method !== "OPTIONS") return shown;
  return {
    ...shown,
    "Access-Control-Allow-Headers": CORS_SENT,
    "Access-Control-Allow-Methods": request.headers.get("access-control-request-method") ?? "GET",
    "Access-Control-Max-Age": String(CORS_MAX_AGE_S),
  };
}
