/**
 * `/ws`: a WebSocket with the master's events, as they are or formatted.
 * Source: Salt 3008.3 `salt/netapi/rest_cherrypy/app.py` (WebsocketEndpoint).
 * @module
 */

import { ApiError } from "#lib/api/http/api_error.ts";
import type { HttpAnswer } from "#lib/api/http/exchange.ts";
import { t } from "#lib/api/http/json_schema.ts";
import { FormattedEvents } from "#lib/api/endpoints/formatted_events.ts";
import { provenToken } from "#lib/api/endpoints/proven.ts";
import { UserRights } from "#lib/api/endpoints/rights.ts";
import { oncePerEvent } from "#lib/api/endpoints/once_per_event.ts";
import { sessionReader } from "#lib/api/endpoints/session_stream.ts";
import { serveWebSocket } from "#lib/api/endpoints/websocket_stream.ts";
import type { ApiEndpoint, ApiParts, ApiRequest } from "#lib/api/endpoints/endpoint.ts";
import type { EauthToken } from "#lib/auth/tokens.ts";
import type { BusEvent } from "#lib/bus/event.ts";
import { DataCache } from "#lib/fleet/data_cache.ts";
import { dumpJson } from "#lib/values/json.ts";
import { map } from "#lib/values/value.ts";
import { checkOwnOrigin } from "./browser_guard.ts";

const SOCKET: Omit<ApiEndpoint, "summary" | "handle"> = {
  isRaw: true,
  rights: "see the event: of own jobs, or @wheel",
  query: { format_events: t.text("There: how jobs and minions are after each event, in place of the events.") },
  answers: [{ status: 101, doc: "The socket. Events come after the message `websocket client ready`." }],
  errors: [400, 401],
};

/** The path `/ws`: the session is that of the header or of the cookie. */
export const SOCKET_OF_SESSION: ApiEndpoint = {
  ...SOCKET,
  summary: "The events of the master over a WebSocket.",
  needs: "session",
  handle(request, parts) {
    const held = provenToken(request);
    // A socket of another site's page would come with the cookie.
    if (!request.request.headers.get("x-auth-token")) checkOwnOrigin(request.request, request.client);
    return upgrade(request, held, parts);
  },
};

/** The path `/ws/TOKEN`: browsers cannot send a header with a WebSocket. */
export const SOCKET_OF_TOKEN: ApiEndpoint = {
  ...SOCKET,
  summary: "As /ws, with the id of a session, or an API token, in the path.",
  handle(request, parts) {
    const { sessions, apiTokens, tokens } = parts;
    const { token } = request.params;
    const session = sessions.use(token) ?? apiTokens.use(token, request.client.address);
    const held = tokens.get(session?.token);
    if (held === undefined) throw new ApiError(401, "Authentication error occurred.");
    return upgrade({ ...request, session }, held, parts);
  },
};

function upgrade({ request, connection, session, query }: ApiRequest, held: EauthToken, parts: ApiParts): HttpAnswer {
  if (request.headers.get("upgrade")?.toLowerCase() !== "websocket") {
    throw new ApiError(400, "This path is for WebSockets");
  }
  const reader = sessionReader({ session, held }, parts);
  const formatted = query.has("format_events") ? new FormattedEvents(grainsFor(held, parts)) : undefined;
  const textOf = formatted === undefined ? plainText : (event: BusEvent) => formatted.take(event);
  try {
    const { socket, answer } = connection.upgrade();
    serveWebSocket(socket, { feed: parts.feed, reader, textOf });
    return answer;
  } catch (error) {
    reader.closed();
    if (error instanceof TypeError) throw new ApiError(400, "This is no handshake of a WebSocket");
    throw error;
  }
}

/** An event as Salt writes it, though a WebSocket needs no lines. */
const plainText = oncePerEvent(({ tag, data }: BusEvent) => `data: ${dumpJson(map({ tag, data }))}\n\n`);

/** The stored grains of minions that the user may ask for them. */
function grainsFor(held: EauthToken, parts: ApiParts) {
  const rights = new UserRights(held, parts);
  const data = new DataCache(parts.opts.cachedir, { log: parts.log.warning });
  return (id: string) => rights.mayPublish([{ fun: "grains.items", arg: [] }], [id]) ? data.get(id)?.grains : undefined;
}
