/**
 * What a user of `external_auth` may do, for the client to show, and which events the user sees.
 * Source: Salt 3008.3 `salt/netapi/rest_cherrypy/app.py` (Login.POST).
 * @module
 */

import type { BusEvent } from "#lib/bus/event.ts";
import type { UserRights } from "./rights.ts";
import type { EauthToken } from "#lib/auth/tokens.ts";
import { tokenRules } from "#lib/auth/external_auth.ts";
import type { MasterOpts } from "#lib/config/options.ts";
import { jobSign } from "#lib/protocol/tags.ts";
import { compareStrings, isMap, repr, type Value } from "#lib/values/value.ts";

/**
 * The field `perms` of a log-in: texts, then maps, each sorted and without doubles; an empty map if there are none. As
 * in Salt it shows the rules of everybody (`*`) too, although the master does not give them to users with rules of
 * their own.
 */
export function permsOf(token: EauthToken, opts: MasterOpts): Value {
  const config = opts.external_auth.get(token.eauth);
  const everybody = isMap(config) ? config.get("*") : undefined;
  const rules = [...tokenRules(token, opts), ...Array.isArray(everybody) ? everybody : []];
  if (rules.length === 0) return new Map();
  const texts = new Set(rules.filter((rule) => typeof rule === "string"));
  const others = new Map(rules.filter((rule) => typeof rule !== "string").map((rule) => [repr(rule), rule]));
  const ordered = [...others].sort(([a], [b]) => compareStrings(a, b)).map(([, rule]) => rule);
  return [...[...texts].sort(compareStrings), ...ordered];
}

/** The tags of the master's own events that say who has started what. Other events are a minion's words. */
const BEGINNING = /^salt\/(?:job|run|wheel)\/(\d{20})\/new$/;

/** Jobs that are remembered for one stream. */
const MAX_JOBS = 10_000;

/**
 * Which events a user sees: all, if the user may run every wheel function, for these show them anyway; else those of
 * the user's own jobs and functions.
 */
export function eventFilter(
  { user, isAdministrator }: Pick<UserRights, "user" | "isAdministrator">,
): (event: BusEvent) => boolean {
  if (isAdministrator) return () => true;
  const own = new Set<string>();
  return ({ tag, data }) => {
    const begun = BEGINNING.exec(tag)?.[1];
    if (begun !== undefined && data.get("user") === user) {
      own.add(begun);
      if (own.size > MAX_JOBS) own.delete([...own][0]);
    }
    const jid = begun ?? jobSign(tag)?.jid ?? data.get("jid");
    return typeof jid === "string" && own.has(jid);
  };
}
