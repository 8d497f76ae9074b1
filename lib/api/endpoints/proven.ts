/**
 * What a request must have for an endpoint that needs a session. The server has checked it before; that an endpoint
 * which forgets to say so answers nobody, these check it again.
 * @module
 */

import { ApiError } from "#lib/api/http/api_error.ts";
import type { EauthToken } from "#lib/auth/tokens.ts";
import type { ApiRequest } from "./endpoint.ts";
import type { ApiSession } from "./sessions.ts";

/**
 * The session of a request.
 * @throws {ApiError} 401 if there is none.
 */
export function provenSession({ session }: Pick<ApiRequest, "session">): ApiSession {
  if (session === undefined) throw new ApiError(401, "No authentication credentials given");
  return session;
}

/**
 * The token of Salt's of a request.
 * @throws {ApiError} 401 if there is none.
 */
export function provenToken({ held }: Pick<ApiRequest, "held">): EauthToken {
  if (held === undefined) throw new ApiError(401, "Authentication error occurred.");
  return held;
}
