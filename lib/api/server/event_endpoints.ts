/**
 * Events: `/events` reads those of the master's bus, `/hook` fires one, `/stats` counts requests.
 * Source: Salt 3008.3 `salt/netapi/rest_cherrypy/app.py` (Events, Webhook, Stats); answers of a live salt-api.
 * @module
 */

import { fireEvent } from "#lib/bus/fire.ts";
import { ApiError, noMaster } from "#lib/api/http/api_error.ts";
import { t } from "#lib/api/http/json_schema.ts";
import { masterBus } from "#lib/bus/paths.ts";
import { map, type Value } from "#lib/values/value.ts";
import type {
  ApiEndpoint,
  ApiParts,
  ApiRequest,
  BodyEndpoint,
  Methods,
  ValueReply,
} from "#lib/api/endpoints/endpoint.ts";
import { openSessionStream } from "#lib/api/endpoints/session_stream.ts";

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
    handle: (request, parts) => {
      const since = request.request.headers.get("last-event-id") || undefined;
      return openSessionStream(request, parts, { wants: () => true, since });
    },
  },
};

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
  if (!await fireEvent(masterBus(opts.sock_dir), tag, data)) throw noMaster();
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
