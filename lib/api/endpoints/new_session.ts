/**
 * The session that a log-in ends with, and from where users may log in.
 * Source: Salt 3008.3 `salt/netapi/rest_cherrypy/app.py` (Login.POST).
 * @module
 */

import { setSessionCookie } from "#lib/api/http/cookies.ts";
import type { EauthToken } from "#lib/auth/tokens.ts";
import { float, isMap, map, toNumber, type Value } from "#lib/values/value.ts";
import type { ApiSettings } from "./api_settings.ts";
import type { ApiParts, ApiRequest, ValueReply } from "./endpoint.ts";
import { permsOf } from "./perms.ts";

/**
 * Starts the session of a user who has proved who it is.
 * @param held The user's token of Salt's.
 * @param former The session that ends; empty: none.
 */
export function newSession(
  held: EauthToken,
  { former, request: { client }, parts: { opts, sessions, settings } }: {
    readonly former: string;
    readonly request: ApiRequest;
    readonly parts: ApiParts;
  },
): ValueReply & { readonly headers: Readonly<Record<string, string>> } {
  const { name: user, eauth, token, data } = held;
  const [start, expire] = ["start", "expire"].map((field) => toNumber(data.get(field)) ?? 0);
  if (former !== "") sessions.end(former);
  const { id } = sessions.start({ token, user, eauth, expireS: expire });
  const cookie = setSessionCookie(id, { maxAgeS: settings.session_idle_hours * 3600, secure: client.isSecure });
  const perms = permsOf(held, opts);
  return {
    value: map({ return: [map({ token: id, expire: float(expire), start: float(start), user, eauth, perms })] }),
    headers: { "X-Auth-Token": id, "Set-Cookie": cookie },
  };
}

/** `api_acl`: a named user must come from one of the named addresses; all others are the user `*`. */
export function mayComeFrom(user: Value, address: string, { api_acl }: ApiSettings): boolean {
  if (api_acl.size === 0) return true;
  const users = api_acl.get("users");
  const addresses = isMap(users) ? users.get(user) ?? users.get("*") : undefined;
  return Array.isArray(addresses) && (addresses.includes(address) || addresses.includes("*"));
}
