/**
 * Requests with passwords, for tests without an MWorker.
 * @module
 */

import type { AttemptRequest } from "#lib/auth/attempts.ts";

/** A request over a connection of its own. */
export function ownConnection(): AttemptRequest {
  return { connection: crypto.randomUUID(), release: () => {} };
}
