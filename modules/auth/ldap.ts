/**
 * `external_auth: ldap`: a directory, as the options `auth.ldap.*` say.
 * Source: Salt 3008.3 `salt/auth/ldap.py`.
 * @module
 */

import { askAuthProcess } from "#lib/auth/auth_process.ts";
import type { AuthReply, AuthRequest } from "#lib/auth/auth_messages.ts";
import { ConfigError } from "#lib/errors.ts";
import type { EauthContext, EauthModule } from "#lib/auth/eauth_module.ts";
import { ldapSettings } from "#lib/auth/ldap_settings.ts";

/**
 * Makes it.
 * @param ask For tests.
 * @throws {ConfigError} For options that exclude each other.
 */
export function ldapEauth(
  { opts, log }: EauthContext,
  ask: (request: AuthRequest) => Promise<AuthReply> = askAuthProcess,
): EauthModule {
  if (opts["auth.ldap.starttls"] && opts["auth.ldap.tls"]) {
    throw new ConfigError("not together with auth.ldap.tls", { option: "auth.ldap.starttls" });
  }
  const settings = ldapSettings(opts);
  return {
    async authenticate(credentials) {
      const { known, groups, problem } = await ask({ kind: "ldap", settings, credentials });
      if (problem !== undefined) log.info(`ldap: ${problem}`);
      return known ? { groups } : undefined;
    },
  };
}
