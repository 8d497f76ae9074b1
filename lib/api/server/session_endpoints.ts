/**
 * Logging in and out: `/login`, `/logout`, `/token`.
 * Source: Salt 3008.3 `salt/netapi/rest_cherrypy/app.py`; answers of a live salt-api.
 * @module
 */

import { asApiError, chunksOf, onlyChunk } from "#lib/api/calls/run_chunks.ts";
import { endSessionCookie } from "#lib/api/http/cookies.ts";
import { map, type Value, type ValueMap } from "#lib/values/value.ts";
import { t } from "#lib/api/http/json_schema.ts";
import { ApiError } from "#lib/api/http/api_error.ts";
import { requestToken } from "#lib/client/token_request.ts";
import type { ApiParts, ApiRequest, Methods, ValueReply } from "#lib/api/endpoints/endpoint.ts";
import { auditFor } from "#lib/api/endpoints/auditing.ts";
import { mayComeFrom, newSession } from "#lib/api/endpoints/new_session.ts";

const REFUSED = "Could not authenticate using provided credentials";

const CREDENTIALS = t.open({
  username: t.text(),
  password: t.text(),
  eauth: t.text("The system that knows the user."),
});

/** The path `/login`: a new session. */
export const LOGIN: Methods = {
  GET: {
    summary: "Says that a log-in is needed.",
    answers: [{ doc: "It is.", schema: t.object({ status: t.orNull(t.int()), return: t.text() }) }],
    handle: () => ({
      value: map({ status: null, return: "Please log in" }),
      headers: { "WWW-Authenticate": "Session" },
    }),
  },
  POST: {
    summary: "Starts a session for a user of external_auth: username, password, eauth.",
    body: t.either(CREDENTIALS, t.list(CREDENTIALS)),
    answers: [{
      doc: "The session, also in `X-Auth-Token` and as a cookie.",
      schema: t.object({ return: t.list(t.named("Session")) }),
    }],
    errors: [401],
    handle: logIn,
  },
};

/** The path `/logout`: the end of a session. */
export const LOGOUT: Methods = {
  POST: {
    summary: "Ends the session, and its token.",
    needs: "session",
    body: t.any("Not read."),
    answers: [{ doc: "It has ended.", schema: t.object({ return: t.text() }) }],
    handle(request, parts) {
      const { session } = request, { sessions, apiTokens, tokens } = parts;
      if (session !== undefined) {
        auditFor(session.user, request, parts)({ what: "log out", target: "", count: null, outcome: "done" });
        if (session.apiToken === undefined) sessions.end(session.id);
        else apiTokens.remove(session.apiToken);
        tokens.remove(session.token);
      }
      return {
        value: map({ return: "Your token has been cleared" }),
        headers: { "Set-Cookie": endSessionCookie() },
      };
    },
  },
};

/** The path `/token`: tokens of the master's, which need no session. */
export const TOKEN: Methods = {
  POST: {
    summary: "Makes tokens of Salt's, for /run: username, password and eauth of each user.",
    body: t.either(CREDENTIALS, t.list(CREDENTIALS)),
    answers: [{
      doc: "The tokens.",
      schema: t.list(t.object({
        token: t.text(),
        start: t.number("Seconds since the epoch."),
        expire: t.number("Seconds since the epoch."),
        name: t.text(),
        eauth: t.text(),
      })),
    }],
    errors: [401],
    async handle(request, parts) {
      const tokens: Value[] = [];
      for (const credentials of chunksOf(request.body.data, false)) {
        if (["username", "password", "eauth"].some((name) => !credentials.has(name))) {
          throw new ApiError(400, 'Require "username", "password", and "eauth" params');
        }
        const { data } = await signIn(credentials, request, parts);
        tokens.push(
          new Map(["token", "start", "expire", "name", "eauth"].map((name) => [name, data.get(name) ?? null])),
        );
      }
      return { value: tokens };
    },
  },
};

async function logIn(request: ApiRequest, parts: ApiParts): Promise<ValueReply> {
  const credentials = onlyChunk(request.body.data);
  if (credentials === undefined) throw new ApiError(401, REFUSED);
  const user = credentials.get("username") ?? null;
  if (!mayComeFrom(user, request.client.address, parts.settings)) throw new ApiError(401, REFUSED);
  const { text } = await signIn(credentials, request, parts);
  const held = parts.tokens.get(text);
  if (held === undefined) throw new ApiError(500, "The token of the master is not in its cache directory");
  return newSession(held, { former: request.session?.id ?? "", request, parts });
}

/** A token of Salt's for these credentials. */
async function signIn(
  credentials: ValueMap,
  request: ApiRequest,
  parts: ApiParts,
): Promise<{ readonly data: ValueMap; readonly text: string }> {
  const { client: { address } } = request, { opts, attempts, log, counts } = parts;
  const load: ValueMap = new Map();
  for (const name of ["username", "password", "eauth", "token_expire"]) {
    if (credentials.has(name)) load.set(name, credentials.get(name) ?? null);
  }
  const username = load.get("username");
  const user = typeof username === "string" ? username : "";
  const record = (outcome: "done" | "refused") => {
    counts.logIn(outcome);
    auditFor(user, request, parts)({ what: "log in", target: "", count: null, outcome });
  };
  if (attempts.waitS({ address, user }) > 0) counts.logIn("limited");
  attempts.check({ address, user });
  let data: ValueMap | undefined;
  try {
    data = await requestToken(opts, load);
  } catch (error) {
    throw asApiError(error);
  }
  const text = data?.get("token");
  if (data === undefined || typeof text !== "string") {
    attempts.failed({ address, user });
    record("refused");
    log.warning(`A log-in from ${address} failed`);
    throw new ApiError(401, REFUSED);
  }
  record("done");
  return { data, text };
}
