/**
 * The master's events, filtered here: `/api/v1/events` by pages, `/api/v1/events/stream` as they come.
 * @module
 */

import type { ApiParts, ApiRequest, Methods, ValueReply } from "#lib/api/endpoints/endpoint.ts";
import { openSessionStream } from "#lib/api/endpoints/session_stream.ts";
import { openEventSource } from "#lib/api/endpoints/event_source.ts";
import { eventFilter } from "#lib/api/endpoints/perms.ts";
import { UserRights } from "#lib/api/endpoints/rights.ts";
import { ApiError } from "#lib/api/http/api_error.ts";
import { t } from "#lib/api/http/json_schema.ts";
import type { BusEvent } from "#lib/bus/event.ts";
import { CommandError } from "#lib/errors.ts";
import { compileGlob } from "#lib/text/glob.ts";
import { map, type Value } from "#lib/values/value.ts";
import { limitOf, NEXT } from "./pages.ts";

/** Longest wait for one more batch of stored events, in milliseconds. */
const READ_MS = 50;
/** Events that one answer looks at. */
const MAX_LOOKED_AT = 50_000;
/** Longest pattern, in UTF-16 units. */
const MAX_TAG = 1_000;

const QUERY = { tag: t.text("A glob for the tag."), after: t.text("The offset after which they begin.") };

/** The path `/api/v1/events/stream`. */
export const EVENT_STREAM: Methods = {
  GET: {
    summary: "The events as server-sent events, those alone whose tags match.",
    needs: "session",
    rights: "see the event: of own jobs, or @wheel",
    isRaw: true,
    query: QUERY,
    answers: [{ doc: "As /events.", media: "text/event-stream" }],
    errors: [400],
    handle: (request, parts) => {
      const matches = tagFilter(request);
      const since = request.request.headers.get("last-event-id") || request.query.get("after") || undefined;
      return openSessionStream(request, parts, { wants: ({ tag }) => matches(tag), since });
    },
  },
};

/** The path `/api/v1/events`. */
export const EVENT_PAGES: Methods = {
  GET: {
    summary: "Stored events, the oldest first.",
    needs: "session",
    rights: "see the event: of own jobs, or @wheel",
    onlyJson: true,
    query: {
      ...QUERY,
      after: t.text("An offset, `start`, a duration such as 15m, or a moment. Default: 15m."),
      limit: t.range(1, 1_000, "Default: 100."),
    },
    answers: [{
      doc: "A page; `next` is null when all that is stored was seen.",
      schema: t.object({
        events: t.list(t.object({ offset: t.orNull(t.text()), tag: t.text(), data: t.mapOf(t.any()) })),
        missed: t.int("Events that are no longer kept."),
        next: NEXT,
      }),
    }],
    errors: [400],
    handle: listEvents,
  },
};

/** @throws {ApiError} 400 for a pattern that is too long. */
function tagFilter({ query }: ApiRequest): (tag: string) => boolean {
  const pattern = query.get("tag") ?? "*";
  if (pattern.length > MAX_TAG) throw new ApiError(400, "tag is too long");
  return compileGlob(pattern);
}

async function listEvents(request: ApiRequest, parts: ApiParts): Promise<ValueReply> {
  if (parts.opts.event_log === "none") throw new ApiError(400, "The master keeps no events (event_log: none)");
  const matches = tagFilter(request), limit = limitOf(request.query);
  const rights = UserRights.of(request, parts);
  const sees = parts.settings.events_for_all ? () => true : eventFilter(rights);
  const isWanted = (event: BusEvent) => sees(event) && matches(event.tag);
  const source = await open(request.query.get("after") || "15m", parts);
  const events: Value[] = [];
  let missed = 0, looked = 0, last: string | null = null;
  try {
    while (looked < MAX_LOOKED_AT) {
      const batch = await source.read(READ_MS);
      if (batch === undefined) return { value: map({ events, missed, next: null }) };
      missed += batch.missed;
      for (const event of batch.events) {
        looked++;
        last = event.offset ?? last;
        if (isWanted(event)) events.push(map({ offset: event.offset ?? null, tag: event.tag, data: event.data }));
        if (events.length === limit) return { value: map({ events, missed, next: last }) };
      }
    }
    return { value: map({ events, missed, next: last }) };
  } finally {
    source.close();
  }
}

async function open(after: string, { opts }: ApiParts) {
  try {
    return await openEventSource(opts, after);
  } catch (error) {
    if (error instanceof CommandError) throw new ApiError(400, error.message);
    throw error;
  }
}
