/**
 * A stream of events for the user of a session or a token: it ends with it.
 * @module
 */

import type { BusEvent } from "#lib/bus/event.ts";
import { ApiError } from "#lib/api/http/api_error.ts";
import { NoMasterError } from "#lib/errors.ts";
import type { ApiParts, ApiRequest } from "./endpoint.ts";
import { eventStream } from "./event_stream.ts";
import { eventFilter } from "./perms.ts";
import { UserRights } from "./rights.ts";

/** What a stream holds. */
export interface StreamContents {
  /** Whether the reader wants this event, of those that the user may see. */
  wants(event: BusEvent): boolean;
  /** The offset after which the stream begins. Default: now. */
  readonly since: string | undefined;
}

/**
 * Opens a stream.
 * @throws {ApiError} 401 without a valid token, 503 if no master is running.
 */
export async function openSessionStream(
  { request, session, held }: ApiRequest,
  parts: ApiParts,
  { wants, since }: StreamContents,
): Promise<Response> {
  const { settings, tokens, ends, feed, counts } = parts;
  const text = session?.token ?? request.headers.get("x-auth-token") ?? undefined;
  if (held === undefined) throw new ApiError(401, "Authentication error occurred.");
  const ended = new AbortController();
  const streamEnded = counts.openStream(`${held.eauth} ${held.name}`);
  if (streamEnded === undefined) throw new ApiError(429, "Too many open streams", { "Retry-After": "10" });
  const undo = [streamEnded];
  if (session !== undefined) undo.push(ends.watch(session.id, () => ended.abort()));
  const closed = () => undo.forEach((step) => step());
  const sees = settings.events_for_all ? () => true : eventFilter(new UserRights(held, parts));
  try {
    return await eventStream(feed, {
      // The filter of rights first: it must see every event, to know the user's jobs.
      sees: (event) => sees(event) && wants(event),
      lives: lastingSecond(() => !ended.signal.aborted && tokens.get(text) !== undefined),
      signal: AbortSignal.any([parts.signal, ended.signal]),
      since,
      closed,
    });
  } catch (error) {
    closed();
    if (error instanceof NoMasterError) throw new ApiError(503, "Salt Master is not available.");
    throw error;
  }
}

/** Asks `ask` once a second at most: streams ask before each event. */
function lastingSecond(ask: () => boolean): () => boolean {
  let askedMs = -Infinity, answer = true;
  return () => {
    if (performance.now() - askedMs >= 900) {
      askedMs = performance.now();
      answer = ask();
    }
    return answer;
  };
}
