/**
 * Events: `/events` reads those of the master's bus, `/hook` fires one, `/stats` counts requests.
 * Source: Salt 3008.3 `salt/netapi/rest_cherrypy/app.py` (Events, Webhook, Stats); answers of a live salt-api.
 * @module
 */

import { fireEvent } from "#lib/bus/fire.ts";
import { ApiError } from "#lib/api/http/api_error.ts";
import { t } from "#lib/api/http/json_schema.ts";
import { masterBus } from "#lib/bus/paths.ts";
import { NoMasterError } from "#lib/errors.ts";
import { map, toNumber, type Value } from "#lib/values/value.ts";
import type {
  ApiEndpoint,
  ApiParts,
  ApiRequest,
  BodyEndpoint,
  Methods,
  ValueReply,
} from "#lib/api/endpoints/endpoint.ts";
import { eventStream } from "#lib/api/endpoints/event_stream.ts";
import { eventFilter } from "#lib/api/endpoints/perms.ts";
import { tokenRules } from "#lib/auth/external_auth.ts";

/** The path `/events`: one open stream for each reader. */
export const EVENTS: Methods = {
  GET: {
    summary: "The events of the master as server-sent events.",
    needs: "token",
    isRaw: true,
    answers: [{
      doc: "Events without end, each with id, tag and data. `Last-Event-ID` goes on after that event.",
      media: "text/event-stream",
    }],
    handle: openEvents,
  },
};

async function openEvents({ request, session }: ApiRequest, parts: ApiParts): Promise<Response> {
  const { opts, settings, tokens, sessions, feed, counts } = parts;
  const held = tokens.get(session?.token ?? request.headers.get("x-auth-token") ?? undefined);
  if (held === undefined) throw new ApiError(401, "Authentication error occurred.");
  const expireMs = (toNumber(held.data.get("expire")) ?? 0) * 1000;
  const ended = new AbortController();
  const streamEnded = counts.openStream(`${held.eauth} ${held.name}`);
  if (streamEnded === undefined) throw new ApiError(429, "Too many open streams", { "Retry-After": "10" });
  const undo = [streamEnded];
  if (session !== undefined) undo.push(sessions.watch(session.id, () => ended.abort()));
  const closed = () => undo.forEach((step) => step());
  try {
    return await eventStream(feed, {
      sees: settings.events_for_all ? () => true : eventFilter(held.name, tokenRules(held, opts)),
      lives: () => !ended.signal.aborted && Date.now() < expireMs,
      signal: AbortSignal.any([parts.signal, ended.signal]),
      since: request.headers.get("last-event-id") || undefined,
      closed,
    });
  } catch (error) {
    closed();
    if (error instanceof NoMasterError) throw new ApiError(503, "Salt Master is not available.");
    throw error;
  }
}

/**
 * The path under which requests become events.
 * @param isOpen Whether it needs no session.
 */
export function hookMethods(isOpen: boolean): Methods {
  const endpoint: BodyEndpoint = {
    summary: "Fires an event salt/netapi/hook/PATH with the body and the headers.",
    query: "any",
    body: t.any("Whatever the event shall hold."),
    answers: [{ doc: "The event is on the bus.", schema: t.object({ success: t.bool() }) }],
    handle: fireHook,
  };
  return { POST: isOpen ? endpoint : { ...endpoint, needs: "session" } };
}

/** Maximum length of the path of a hook, in UTF-16 units: it is a part of a tag. */
const MAX_HOOK_PATH = 1_024;

/** The headers that an event must not have: they are credentials. */
const SECRET_HEADERS: ReadonlySet<string> = new Set(["x-auth-token", "cookie", "authorization"]);

async function fireHook({ request, params, body }: ApiRequest, { opts }: ApiParts): Promise<ValueReply> {
  if ((params.rest ?? "").length > MAX_HOOK_PATH) throw new ApiError(400, "The path is too long");
  const path = (params.rest ?? "").replace(/[^\w./:@%+,=~-]/g, "_");
  const headers = new Map<Value, Value>(
    [...request.headers].filter(([name]) => !SECRET_HEADERS.has(name)).map((
      [name, value],
    ) => [headerName(name), value]),
  );
  const tag = ["salt/netapi/hook", ...path === "" ? [] : [path]].join("/");
  const data = map({ body: body.text, post: body.data ?? new Map(), headers });
  if (!await fireEvent(masterBus(opts.sock_dir), tag, data)) throw new ApiError(503, "Salt Master is not available.");
  return { value: map({ success: true }) };
}

/** `content-type` as Salt's event has it: `Content-Type`. */
function headerName(name: string): string {
  return name.replace(/(^|-)([a-z])/g, (_, start, letter) => start + letter.toUpperCase());
}

/**
 * The path `/stats`: what was asked since the start.
 * @param isOpen Whether it needs no session.
 */
export function statsMethods(isOpen: boolean): Methods {
  const endpoint: ApiEndpoint = {
    summary: "Counts of requests.",
    answers: [{ doc: "The counts since the start.", schema: t.mapOf(t.mapOf(t.any())) }],
    handle: (_, { counts }) => ({ value: counts.toMap() }),
  };
  return { GET: isOpen ? endpoint : { ...endpoint, needs: "session" } };
}
