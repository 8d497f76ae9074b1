/**
 * `external_auth: sharedsecret`: everybody's password is the option `sharedsecret`. For a front end that knows the
 * users. Source: Salt 3008.3 `salt/auth/sharedsecret.py`.
 * @module
 */

import { type EauthContext, type EauthModule, knownWithoutGroups } from "#lib/auth/eauth_module.ts";
import { sameText } from "#lib/crypto/same_text.ts";

/** Makes it. */
export function sharedSecretEauth({ opts, log }: EauthContext): EauthModule {
  const secret = opts.sharedsecret;
  if (!secret) log.error("external_auth: sharedsecret refuses every user: the option sharedsecret is not set");
  return {
    authenticate: ({ password }) =>
      Promise.resolve(knownWithoutGroups(typeof secret === "string" && secret !== "" && sameText(password, secret))),
  };
}
