/**
 * API tokens, and the end of all sessions of a user: `/api/v1/tokens`, `/api/v1/sessions`.
 * @module
 */

import { type ApiTokenRow, ApiTokens, MAX_API_TOKENS } from "#lib/api/endpoints/api_tokens.ts";
import { ApiError } from "#lib/api/http/api_error.ts";
import { endSessionCookie } from "#lib/api/http/cookies.ts";
import { t } from "#lib/api/http/json_schema.ts";
import type { ApiParts, ApiRequest, Methods, ValueReply } from "#lib/api/endpoints/endpoint.ts";
import { provenSession, provenToken } from "#lib/api/endpoints/proven.ts";
import type { ApiSession } from "#lib/api/endpoints/sessions.ts";
import { isMap, map, toNumber, type Value, type ValueMap } from "#lib/values/value.ts";
import { auditFor } from "#lib/api/endpoints/auditing.ts";
import { checkedBody } from "./checked_body.ts";

/** Longest life of an API token, in days. */
const MAX_DAYS = 366;
/** Maximum number of own rules. */
const MAX_RULES = 1_000;

const ROW = t.object({
  id: t.text(),
  name: t.text(),
  user: t.text(),
  eauth: t.text(),
  rights: t.orNull(t.list(t.any(), "Its own rules, as in external_auth; null: all that the user may do.")),
  made: t.int("Seconds since the epoch."),
  expires: t.int("Seconds since the epoch."),
  used: t.orNull(t.int("When it was used last.")),
  address: t.orNull(t.text("From where.")),
});

/** The path `/api/v1/tokens`. */
export const TOKENS: Methods = {
  GET: {
    summary: "The API tokens of the user, without their secrets.",
    needs: "session",
    onlyJson: true,
    answers: [{ doc: "The rows, the oldest first.", schema: t.object({ tokens: t.list(ROW) }) }],
    handle: (request, { apiTokens }) => {
      const rows = apiTokens.list(provenSession(request));
      return { value: map({ tokens: rows.map(shownRow) }) };
    },
  },
  POST: {
    summary: "Makes an API token: a secret for X-Auth-Token, which is shown this once.",
    needs: "session",
    onlyJson: true,
    body: t.object({
      name: t.text("What it is for."),
      days: t.range(1, MAX_DAYS, "Days until it ends."),
      rights: t.optional(t.list(t.any(), "Rules as in external_auth: what is not allowed by them as well is refused.")),
    }),
    answers: [{ status: 201, doc: "The secret and the row.", schema: t.object({ secret: t.text(), token: ROW }) }],
    errors: [409],
    handle: makeToken,
  },
};

/** The path `/api/v1/tokens/ID`. */
export const TOKEN_BY_ID: Methods = {
  DELETE: {
    summary: "Ends an API token of the user, and its open streams.",
    needs: "session",
    onlyJson: true,
    body: null,
    answers: [{ doc: "It has ended.", schema: t.object({ deleted: t.text() }) }],
    handle: deleteToken,
  },
};

/** The path `/api/v1/sessions`. */
export const SESSIONS: Methods = {
  DELETE: {
    summary: "Logs the user out everywhere: all sessions and tokens of Salt's end, API tokens do not.",
    needs: "session",
    onlyJson: true,
    body: null,
    answers: [{ doc: "They have ended.", schema: t.object({ ended: t.int("How many.") }) }],
    errors: [403],
    handle: endSessions,
  },
};

/** @throws {ApiError} 403 to an API token: one that was stolen could make itself a successor. */
function ownSession(request: ApiRequest): ApiSession {
  const session = provenSession(request);
  if (session.apiToken !== undefined) throw new ApiError(403, "An API token cannot do this; log in");
  return session;
}

function shownRow({ id, name, user, eauth, rules, madeS, expireS, usedS, address }: ApiTokenRow): ValueMap {
  const used = usedS === 0 ? { used: null, address: null } : { used: usedS, address };
  const rights = rules === null ? null : [...rules];
  return map({ id, name, user, eauth, rights, made: madeS, expires: expireS, ...used });
}

function makeToken(request: ApiRequest, parts: ApiParts): ValueReply {
  const { tokens, apiTokens } = parts;
  const session = ownSession(request);
  const body = checkedBody(request, ["name", "days", "rights"]);
  const name = body.get("name");
  if (typeof name !== "string" || name.trim() === "" || name.length > 100) {
    throw new ApiError(400, "name must be a text of 1 to 100 characters");
  }
  const days = toNumber(body.get("days"));
  if (days === undefined || !Number.isInteger(days) || days < 1 || days > MAX_DAYS) {
    throw new ApiError(400, `days must be a whole number from 1 to ${MAX_DAYS}`);
  }
  const rules = rulesIn(body.get("rights"));
  if (apiTokens.list(session).length >= MAX_API_TOKENS) {
    throw new ApiError(409, `A user has at most ${MAX_API_TOKENS} API tokens`);
  }
  const id = ApiTokens.newId(), lifeS = days * 86_400;
  const { name: user, eauth, groups, authList } = provenToken(request);
  const { token } = tokens.make(
    { name: user, eauth, groups, authList, apiToken: { id, rules: rules ?? undefined } },
    lifeS,
  );
  const expireS = Math.floor(Date.now() / 1000) + lifeS;
  const { secret, row } = apiTokens.make({ id, name, user, eauth, rules, expireS, token });
  auditFor(user, request, parts)({ what: "make token", target: id, count: null, outcome: "done" });
  return { value: map({ secret, token: shownRow(row) }), status: 201 };
}

/** @throws {ApiError} 400 if they are no rules. */
function rulesIn(value: Value | undefined): readonly Value[] | null {
  if (value === undefined || value === null) return null;
  const isRule = (rule: Value) => typeof rule === "string" || (isMap(rule) && rule.size === 1);
  if (Array.isArray(value) && value.length <= MAX_RULES && value.every(isRule)) return value;
  throw new ApiError(400, "rights must be a list of rules: texts, and maps of one target");
}

function deleteToken(request: ApiRequest, parts: ApiParts): ValueReply {
  const { tokens, apiTokens } = parts;
  const session = provenSession(request);
  const { id } = request.params;
  if (!apiTokens.list(session).some((row) => row.id === id)) throw new ApiError(404, "There is no such API token");
  // An API token may end itself, and no other.
  if (session.apiToken !== undefined && session.apiToken !== id) ownSession(request);
  apiTokens.remove(id);
  tokens.removeAll(({ apiToken }) => apiToken?.id === id);
  auditFor(session.user, request, parts)({ what: "delete token", target: id, count: null, outcome: "done" });
  return { value: map({ deleted: id }) };
}

function endSessions(request: ApiRequest, parts: ApiParts): ValueReply {
  const { sessions, tokens } = parts;
  const { user, eauth } = ownSession(request);
  const isOf = (one: { readonly name: string; readonly eauth: string }) => one.name === user && one.eauth === eauth;
  const ended = tokens.removeAll((token) => isOf(token) && token.apiToken === undefined);
  sessions.endAllOf({ user, eauth });
  auditFor(user, request, parts)({ what: "log out everywhere", target: "", count: null, outcome: "done" });
  return { value: map({ ended }), headers: { "Set-Cookie": endSessionCookie() } };
}
