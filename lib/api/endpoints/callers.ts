/**
 * Who a request's calls are made for.
 * @module
 */

import type { ApiCaller } from "#lib/api/calls/caller.ts";
import { ApiError } from "#lib/api/http/api_error.ts";
import { map, str, type ValueMap } from "#lib/values/value.ts";
import { auditFor } from "./auditing.ts";
import type { ApiParts, ApiRequest } from "./endpoint.ts";
import { provenSession } from "./proven.ts";

/** The caller of a request with a session. */
export function sessionCaller(request: ApiRequest, parts: ApiParts): ApiCaller {
  const { signal, trace } = request, { opts, log } = parts, session = provenSession(request);
  const record = auditFor(session.user, request, parts);
  return { opts, log, signal, record, trace, user: session.user, proof: map({ token: session.token }) };
}

/**
 * The caller whose name and password are in the chunk.
 * @throws {ApiError} 401 if they are not; 429 after too many wrong ones.
 */
export function credentialsCaller(low: ValueMap, request: ApiRequest, parts: ApiParts): ApiCaller {
  const { signal, trace, client: { address } } = request, { opts, log, attempts } = parts;
  const [username, password, eauth] = ["username", "password", "eauth"].map((name) => low.get(name));
  if (username === undefined || eauth === undefined) throw new ApiError(401, "No authentication credentials given");
  const proof = map({ username, password: password ?? null, eauth });
  const user = str(username);
  attempts.check({ address, user });
  const record = auditFor(user, request, parts);
  return { opts, log, signal, record, trace, user, proof, onRefused: () => attempts.failed({ address, user }) };
}
