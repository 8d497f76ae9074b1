/**
 * What a request adds to the audit log.
 * @module
 */

import type { RecordedCall } from "#lib/api/calls/caller.ts";
import { hashHex } from "#lib/crypto/hash.ts";
import type { ApiParts, ApiRequest } from "./endpoint.ts";
import type { ApiSession } from "./sessions.ts";

/** Writes entries of one request, as `user`. */
export function auditFor(
  user: string,
  { client, session }: Pick<ApiRequest, "client" | "session">,
  { audit }: Pick<ApiParts, "audit">,
): (call: RecordedCall) => void {
  return (call) =>
    audit.add({ user, from: client.address, token: session === undefined ? "" : tokenId(session), ...call });
}

/** The id of an API token, or the beginning of the hash of a session's id. */
function tokenId({ id, apiToken }: ApiSession): string {
  return apiToken ?? hashHex(`salt-api session audit\0${id}`, "sha256").slice(0, 16);
}
