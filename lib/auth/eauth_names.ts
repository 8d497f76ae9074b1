/**
 * The names of the systems that `external_auth` may have.
 * @module
 */

/** All systems, sorted; modules/auth has a file for each. */
export const EAUTH_NAMES = ["file", "ldap", "pam", "rest", "sharedsecret"] as const;

/** One of them. */
export type EauthName = (typeof EAUTH_NAMES)[number];

/** Whether there is a system of this name. */
export function isEauthName(name: string): name is EauthName {
  return EAUTH_NAMES.some((known) => known === name);
}
