/**
 * The web console under `/console/`, if the master's option `salt_console` is on.
 * @module
 */

import { HttpAnswer } from "#lib/api/http/exchange.ts";
import { ApiError } from "#lib/api/http/api_error.ts";
import { consoleAnswer } from "#lib/console/console_files.ts";
import { OIDC } from "#lib/auth/oidc_settings.ts";
import type { MasterOpts } from "#lib/config/options.ts";
import { map, type Value } from "#lib/values/value.ts";
import type { ApiParts, Methods } from "#lib/api/endpoints/endpoint.ts";
import { permsOf } from "#lib/api/endpoints/perms.ts";
import type { ApiSession } from "#lib/api/endpoints/sessions.ts";

/** The path `/console/`: files for browsers. They hold nothing secret, so that no session is needed for them. */
export const CONSOLE: Methods = {
  GET: {
    summary: "The web console, if salt_console is on: docs/console.md.",
    query: "any",
    isRaw: true,
    answers: [{ doc: "A file of the console; session.json says who is signed in.", media: "*/*" }],
    async handle({ request, params, session }, parts) {
      const isOn = parts.opts.salt_console;
      if (isOn && params.file === "session.json") return { value: signedIn(session, parts) };
      const answer = isOn ? await consoleAnswer(request, params.file ?? "") : undefined;
      if (answer === undefined) throw new ApiError(404, "The path was not found.");
      return new HttpAnswer(answer.body, answer);
    },
  },
};

/**
 * How users log in; with a session, whose it is, until when, and what this user may do. Scripts cannot read the cookie.
 */
function signedIn(session: ApiSession | undefined, { opts, tokens, oidc }: ApiParts): Value {
  const names = [...opts.external_auth.keys()].filter((name) => typeof name === "string");
  // A provider knows passwords, and tells nobody.
  const how = oidc === undefined
    ? { eauth: names }
    : { eauth: names.filter((name) => name !== OIDC), oidc: oidc.settings.title };
  const held = session === undefined ? undefined : tokens.get(session.token);
  if (session === undefined || held === undefined) return map(how);
  return map({ ...how, user: session.user, expires: session.expireS, master: opts.id, perms: permsOf(held, opts) });
}

/** The clients that the console's pages call. */
const CONSOLE_CLIENTS = ["local", "local_async", "runner", "wheel"];

/** The options with which the API serves: the console needs some clients, if none are named. */
export function withConsoleClients(opts: MasterOpts): MasterOpts {
  if (!opts.salt_console || opts.netapi_enable_clients.length > 0) return opts;
  return { ...opts, netapi_enable_clients: CONSOLE_CLIENTS };
}
