/**
 * Who the user of an ID token is for `external_auth`: the name and the groups in its claims. Knows no provider.
 * @module
 */

import { sanitizeLine } from "#lib/text/terminal.ts";

/** A log-in that is refused. The message says why, in words for the audit log and the user. */
export class OidcRefusedError extends Error {
  override name = "OidcRefusedError";
}

/** The claims of an ID token, and of the provider's answer about the user. */
export type Claims = Readonly<Record<string, unknown>>;

const MAX_NAME = 256, MAX_GROUPS = 1_000;

/**
 * The name of the user: a key of `external_auth`, where `*` is everybody, `admins%` a group and `^name` an option.
 * @throws {OidcRefusedError} If the claim is no name.
 */
export function oidcUserName(claims: Claims, claim: string): string {
  const name = claims[claim];
  if (typeof name !== "string") throw new OidcRefusedError(`the provider gives no claim ${claim} for this user`);
  if (name === "" || name.length > MAX_NAME || /^\^|%$|^\*$/.test(name) || sanitizeLine(name) !== name) {
    throw new OidcRefusedError(`the claim ${claim} is no name of a user`);
  }
  if (claim === "email" && claims.email_verified !== true) {
    throw new OidcRefusedError("the provider has not verified the user's address");
  }
  return name;
}

/**
 * The groups of the user: texts of a list, or one text.
 * @throws {OidcRefusedError} If there are more than can be kept.
 */
export function oidcGroupNames(claim: unknown): string[] {
  const groups = (Array.isArray(claim) ? claim : [claim]).filter((group) => typeof group === "string");
  if (groups.length > MAX_GROUPS || groups.some((group) => group.length > MAX_NAME)) {
    throw new OidcRefusedError(`the provider gives more than ${MAX_GROUPS} groups, or a name of one that is too long`);
  }
  return groups;
}
