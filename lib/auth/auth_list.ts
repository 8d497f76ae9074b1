/**
 * The rules of `external_auth` for a user: those under the name, and those of the groups.
 * Source: Salt 3008.3 `salt/utils/minions.py` (`fill_auth_list`).
 * @module
 */

import { rstripChars } from "#lib/values/python_text.ts";
import type { Value, ValueMap } from "#lib/values/value.ts";

/**
 * The rules for `user`, who is in `groups`.
 * @param provider The value of `external_auth` under the name of the system: rules by user; `wheel%` is a group, `*` is
 * every user without an entry of that name.
 */
export function authList(provider: ValueMap, user: string, groups: readonly string[]): Value[] {
  const rules: Value[] = [];
  let hasUser = false;
  for (const [name, entries] of provider) {
    if (typeof name !== "string" || name === "*" || !Array.isArray(entries)) continue;
    const isGroup = name.endsWith("%");
    // Salt takes the user's name for a pattern here; names are compared.
    if (isGroup ? !groups.includes(rstripChars(name, "%")) : name !== user) continue;
    rules.push(...entries);
    hasUser ||= !isGroup;
  }
  const everybody = provider.get("*");
  if (!hasUser && Array.isArray(everybody)) rules.push(...everybody);
  return rules;
}
