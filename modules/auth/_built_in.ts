/**
 * The systems that `external_auth` may name. Each is loaded when it is first used.
 * @module
 */

import { type EauthName, isEauthName } from "#lib/auth/eauth_names.ts";
import type { EauthContext, EauthModule } from "#lib/auth/eauth_module.ts";

/** Makes a system. */
type EauthLoader = (context: EauthContext) => Promise<EauthModule>;

const MODULES: Readonly<Record<EauthName, EauthLoader>> = {
  file: async (context) => (await import("./file.ts")).fileEauth(context),
  ldap: async (context) => (await import("./ldap.ts")).ldapEauth(context),
  pam: async (context) => (await import("./pam.ts")).pamEauth(context),
  rest: async (context) => (await import("./rest.ts")).restEauth(context),
  sharedsecret: async (context) => (await import("./sharedsecret.ts")).sharedSecretEauth(context),
};

/** Makes the system `name`; `undefined` if there is none. */
export async function loadEauth(name: string, context: EauthContext): Promise<EauthModule | undefined> {
  return isEauthName(name) ? await MODULES[name](context) : undefined;
}
