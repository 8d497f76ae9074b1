/**
 * The users of the master's host whom `external_auth` names: they may listen to the event bus, as `salt -a` must.
 * @module
 */

import { rstripChars } from "#lib/values/python_text.ts";
import { isMap, type ValueMap } from "#lib/values/value.ts";

/**
 * Names of users: those with rules, and the members of groups with rules. `*` names nobody.
 * @param membersOf The members of a group of this host.
 */
export function eauthUsers(externalAuth: ValueMap, membersOf: (group: string) => readonly string[]): string[] {
  const names = [...externalAuth.values()].flatMap((provider) =>
    isMap(provider) ? [...provider.keys()].filter((name) => typeof name === "string") : []
  );
  const users = names.filter((name) => !name.startsWith("^") && name !== "*").flatMap((name) =>
    name.endsWith("%") ? membersOf(rstripChars(name, "%")) : [name]
  );
  return [...new Set(users)];
}
