/**
 * A stream of events for the user of a session or a token: it ends with it.
 * @module
 */

import type { BusEvent } from "#lib/bus/event.ts";
import { ApiError } from "#lib/api/http/api_error.ts";
import type { HttpAnswer } from "#lib/api/http/exchange.ts";
import type { ApiParts, ApiRequest } from "./endpoint.ts";
import type { EauthToken } from "#lib/auth/tokens.ts";
import { eventStream, type StreamReader } from "./event_stream.ts";
import { eventFilter } from "./perms.ts";
import { provenToken } from "./proven.ts";
import { UserRights } from "./rights.ts";
import type { ApiSession } from "./sessions.ts";

/** What a stream holds. */
export interface StreamContents {
  /** Whether the reader wants this event, of those that the user may see. */
  wants(event: BusEvent): boolean;
  /** The offset after which the stream begins. Default: now. */
  readonly since: string | undefined;
}

type ReaderParts = Pick<ApiParts, "opts" | "log" | "settings" | "livingTokens" | "ends" | "counts" | "signal">;

/** Whose stream it is. */
export interface StreamOwner {
  readonly session: ApiSession | undefined;
  /** The session's token of Salt's, or one that needs no session. */
  readonly held: EauthToken;
}

/**
 * The reader of a stream that belongs to a session, or to a token of Salt's, and ends with it.
 * @throws {ApiError} 429 if the user has too many.
 */
export function sessionReader({ session, held }: StreamOwner, parts: ReaderParts): Omit<StreamReader, "since"> {
  const { settings, livingTokens, ends, counts, signal } = parts;
  const streamEnded = counts.openStream(`${held.eauth} ${held.name}`);
  if (streamEnded === undefined) throw new ApiError(429, "Too many open streams", { "Retry-After": "10" });
  const undo = [streamEnded];
  return {
    sees: settings.events_for_all ? () => true : eventFilter(new UserRights(held, parts)),
    lives: () => livingTokens.has(held.token),
    onEnd(tell) {
      // A stream that begins while the API ends.
      if (signal.aborted) return tell();
      signal.addEventListener("abort", tell);
      undo.push(() => signal.removeEventListener("abort", tell));
      if (session !== undefined) undo.push(ends.watch(session.id, tell));
    },
    closed: () => undo.splice(0).forEach((step) => step()),
  };
}

/**
 * Opens a stream.
 * @throws {ApiError} 401 without a valid token, 503 if no master is running.
 */
export async function openSessionStream(
  request: Pick<ApiRequest, "session" | "held">,
  parts: ApiParts,
  { wants, since }: StreamContents,
): Promise<HttpAnswer> {
  const reader = sessionReader({ session: request.session, held: provenToken(request) }, parts);
  try {
    return await eventStream(parts.feed, {
      ...reader,
      // The filter of rights first: it must see every event, to know the user's jobs.
      sees: (event) => reader.sees(event) && wants(event),
      since,
    });
  } catch (error) {
    reader.closed();
    throw error;
  }
}
