/**
 * The request to a process that calls PAM or LDAP, and its reply: JSON over its standard input and output.
 * @module
 */

import type { EauthCredentials } from "./eauth_module.ts";
import type { LdapSettings } from "./ldap_settings.ts";

/** The request to the process. */
export type AuthRequest =
  | {
    readonly kind: "pam";
    readonly service: string;
    readonly confdir?: string;
    readonly credentials: EauthCredentials;
  }
  | { readonly kind: "ldap"; readonly settings: LdapSettings; readonly credentials: EauthCredentials };

/** The reply of the process; `problem` is a sentence for the log, without secrets. */
export interface AuthReply {
  readonly known: boolean;
  /** The user's groups, if the system knows them. */
  readonly groups: readonly string[];
  readonly problem?: string;
}

/** The name under which such a process starts. */
export const AUTH_PROCESS = "salt-auth-process";
