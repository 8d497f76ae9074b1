/**
 * `external_auth: pam`: the users of the master's host, as the PAM service `auth.pam.service` knows them; groups are
 * the host's. Source: Salt 3008.3 `salt/auth/pam.py`.
 * @module
 */

import { askAuthProcess } from "#lib/auth/auth_process.ts";
import type { AuthReply, AuthRequest } from "#lib/auth/auth_messages.ts";
import type { EauthContext, EauthModule } from "#lib/auth/eauth_module.ts";
import { groupNamesOf } from "#lib/os/users.ts";

/**
 * Makes it.
 * @param ask For tests.
 */
export function pamEauth(
  { opts, log }: EauthContext,
  ask: (request: AuthRequest) => Promise<AuthReply> = askAuthProcess,
): EauthModule {
  let warned = false;
  return {
    async authenticate(credentials) {
      const { known, problem } = await ask({ kind: "pam", service: opts["auth.pam.service"], credentials });
      if (known) return { groups: groupNamesOf(credentials.username) };
      if (problem !== undefined) log.info(`pam: ${problem}`);
      if (!warned && !mayAskForOthers()) {
        warned = true;
        log.error(
          "pam: this master is not root's and cannot read /etc/shadow, so pam_unix knows no password of others: add its " +
            "user to the group shadow (Debian), or run it as root",
        );
      }
      return undefined;
    },
  };
}

/** Whether pam_unix will check the passwords of other users for this process. */
function mayAskForOthers(): boolean {
  if (Deno.uid() === 0) return true;
  try {
    Deno.openSync("/etc/shadow").close();
    return true;
  } catch {
    return false;
  }
}
