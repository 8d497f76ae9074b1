/**
 * Logging in by a provider of OpenID Connect: `/login/oidc` sends the browser there, and `/login/oidc/callback` is
 * where it comes back. Nothing of the address that a request names goes into either: `^redirect_uri` says where we are.
 * @module
 */

import { ApiError } from "#lib/api/http/api_error.ts";
import { logInCookie, setLogInCookie } from "#lib/api/http/cookies.ts";
import { HttpAnswer } from "#lib/api/http/exchange.ts";
import { t } from "#lib/api/http/json_schema.ts";
import type { ApiParts, ApiRequest, Methods, ValueReply } from "#lib/api/endpoints/endpoint.ts";
import { auditFor } from "#lib/api/endpoints/auditing.ts";
import { mayComeFrom, newSession } from "#lib/api/endpoints/new_session.ts";
import { type BegunOidcLogIn, OIDC_LOG_IN_S, type OidcLogIns } from "#lib/api/endpoints/oidc_log_ins.ts";
import { authList } from "#lib/auth/auth_list.ts";
import { OidcRefusedError } from "#lib/auth/oidc_claims.ts";
import { OidcAwayError, type OidcUser } from "#lib/auth/oidc_provider.ts";
import { OIDC } from "#lib/auth/oidc_settings.ts";
import type { EauthToken } from "#lib/auth/tokens.ts";
import { sanitizeLine } from "#lib/text/terminal.ts";
import { mapOrEmpty } from "#lib/values/shape.ts";

/** The user under whose name failures are counted: no name of `/login` has this character. */
const ANYBODY = "\0oidc";
/** The console, seen from the callback. */
const CONSOLE = "../../console/";
/** The fragments of the console's pages. */
const PAGE = /^\/[\x21-\x7e]{0,500}$/;

/** The path `/login/oidc`: the beginning of a log-in. */
export const OIDC_LOGIN: Methods = {
  GET: {
    summary: "Sends a browser to the provider of external_auth: oidc.",
    query: { page: t.text("The page of the console to come back to: the fragment of its address.") },
    isRaw: true,
    answers: [{ status: 302, doc: "Where the provider is." }],
    errors: [404, 503],
    async handle(request, parts) {
      const oidc = oidcOf(parts), { client: { isSecure: secure }, query, session } = request;
      const asked = query.get("page") ?? "";
      const page = PAGE.test(asked) ? asked : "";
      try {
        const { url, cookie } = await oidc.begin({ page, former: session?.id ?? "" });
        return redirect(url, setLogInCookie(cookie, { maxAgeS: OIDC_LOG_IN_S, secure }));
      } catch (error) {
        throw error instanceof OidcAwayError ? away(error, { parts }, "../console/") : error;
      }
    },
  },
};

/** The path `/login/oidc/callback`: the end of a log-in. */
export const OIDC_CALLBACK: Methods = {
  GET: {
    summary: "Where the provider sends the browser back: starts a session, and shows the console, or else the session.",
    query: "any",
    isRaw: true,
    answers: [
      { doc: "The session, if there is no console; also as a cookie.", media: "application/json" },
      { status: 302, doc: "The console; the session is in the cookie." },
    ],
    errors: [401, 403, 404, 503],
    handle: comeBack,
  },
};

/** A request, and what it is for. */
interface Asked {
  readonly request: ApiRequest;
  readonly parts: ApiParts;
  readonly oidc: OidcLogIns;
}

async function comeBack(request: ApiRequest, parts: ApiParts): Promise<ValueReply | HttpAnswer> {
  const asked = { request, parts, oidc: oidcOf(parts) };
  const { client: { isSecure: secure, address } } = request;
  const begun = begunLogIn(asked);
  parts.attempts.check({ address, user: ANYBODY });
  const user = await provenUser(asked, begun);
  const reply = newSession(tokenOf(user, asked), { former: begun.former, request, parts });
  record(asked, { user: user.name, why: "", outcome: "done" });
  if (!parts.opts.salt_console) return reply;
  const answer = redirect(`${CONSOLE}${begun.page === "" ? "" : `#${begun.page}`}`, reply.headers["Set-Cookie"]);
  answer.headers.append("Set-Cookie", endOf(secure));
  return answer;
}

/**
 * The log-in that this browser has begun, and that the query belongs to.
 * @throws {ApiError} 401 if there is none: the provider is not asked then.
 */
function begunLogIn(asked: Asked): BegunOidcLogIn {
  const { oidc, request: { request, query, client: { address, isSecure: secure } } } = asked;
  const begun = oidc.begun(logInCookie(request.headers.get("cookie"), { secure }));
  if (begun !== undefined && oidc.isOf(query, begun)) return begun;
  const who = { address, user: ANYBODY };
  oidc.strays.check(who);
  oidc.strays.failed(who);
  const why = begun === undefined
    ? "it was not begun in this browser, or more than ten minutes ago"
    : "its state is not that of the log-in that this browser has begun";
  record(asked, { user: "", why, outcome: "refused" });
  // The cookie stays: a page of another site may have sent the browser here.
  throw refusal(401, why, { parts: asked.parts });
}

/** @throws {ApiError} 401, 403 or 503. */
async function provenUser(asked: Asked, begun: BegunOidcLogIn): Promise<OidcUser> {
  const { oidc, request, parts } = asked;
  let user: OidcUser;
  try {
    user = await oidc.end(request.query, begun);
  } catch (error) {
    if (error instanceof OidcAwayError) {
      record(asked, { user: "", why: error.message, outcome: "failed" });
      throw away(error, asked);
    }
    if (!(error instanceof OidcRefusedError)) throw error;
    parts.attempts.failed({ address: request.client.address, user: ANYBODY });
    record(asked, { user: "", why: error.message, outcome: "refused" });
    throw refusal(401, error.message, { parts, ended: request });
  }
  const why = mayNot(user, asked);
  if (why === undefined) return user;
  record(asked, { user: user.name, why, outcome: "refused" });
  throw refusal(403, why, { parts, ended: request });
}

/** Why a user whom the provider knows may not log in here. */
function mayNot({ name, groups }: OidcUser, { parts, request }: Asked): string | undefined {
  if (!mayComeFrom(name, request.client.address, parts.settings)) {
    return `${name} may not log in from ${request.client.address}`;
  }
  // Jobs and events are their user's own by the name: these are of users on the master's host.
  if (name === "root" || name === parts.opts.user || name.startsWith("sudo_")) {
    return `${name} is a user of the master's host`;
  }
  const rules = authList(mapOrEmpty(parts.opts.external_auth.get(OIDC)), name, groups);
  return rules.length > 0 ? undefined : `no rule of external_auth gives ${name} anything to do`;
}

/** A token of Salt's for the user, as the master makes one for a password. */
function tokenOf({ name, groups, untilS }: OidcUser, { oidc, parts }: Asked): EauthToken {
  const { opts: { token_expire }, tokens } = parts;
  const lifeS = oidc.settings.sessionS ?? Math.max(1, untilS - Date.now() / 1000);
  return tokens.make({ name, eauth: OIDC, groups }, Math.min(token_expire, lifeS));
}

interface LogInEnd {
  /** Empty: it is not known who it was. */
  readonly user: string;
  readonly why: string;
  readonly outcome: "done" | "refused" | "failed";
}

function record({ request, parts }: Asked, { user, why, outcome }: LogInEnd): void {
  const { counts, log } = parts;
  if (outcome !== "failed") counts.logIn(outcome);
  auditFor(user, request, parts)({ what: "log in by oidc", target: why, count: null, outcome });
  if (outcome !== "done") log.warning(`A log-in by oidc from ${request.client.address} failed: ${sanitizeLine(why)}`);
}

/** @param options.ended The request whose log-in is over. */
function refusal(
  status: number,
  why: string,
  { parts, ended }: { readonly parts: ApiParts; readonly ended?: ApiRequest },
): ApiError {
  const headers = ended === undefined ? undefined : { "Set-Cookie": endOf(ended.client.isSecure) };
  return new ApiError(status, `This log-in is refused: ${why}.`, headers, backOf(parts, CONSOLE));
}

/** What is wrong is the operator's to know; the log has it. */
function away(error: OidcAwayError, { parts }: Pick<Asked, "parts">, back: string = CONSOLE): ApiError {
  parts.log.error(`external_auth: oidc: ${error.message}`);
  return new ApiError(503, "The provider of log-ins does not answer as it should; try later.", {}, backOf(parts, back));
}

function backOf({ opts }: ApiParts, path: string): string | undefined {
  return opts.salt_console ? path : undefined;
}

/** @throws {ApiError} 404 */
function oidcOf({ oidc }: ApiParts): OidcLogIns {
  if (oidc === undefined) throw new ApiError(404, "No provider is configured: external_auth: oidc.");
  return oidc;
}

/** The log-in is over, and its cookie with it. */
function endOf(secure: boolean): string {
  return setLogInCookie("", { maxAgeS: 0, secure });
}

function redirect(location: string, cookie: string): HttpAnswer {
  return new HttpAnswer(null, {
    status: 302,
    headers: {
      "Cache-Control": "no-store",
      "Referrer-Policy": "no-referrer",
      Location: location,
      "Set-Cookie": cookie,
    },
  });
}
