/**
 * The interface of the systems in `external_auth`, which know users and passwords.
 * @module
 */

import type { Logger } from "#lib/runtime/log.ts";
import type { MasterOpts } from "#lib/config/options.ts";
import type { Value, ValueMap } from "#lib/values/value.ts";

/** A user's name and password. */
export interface EauthCredentials {
  readonly username: string;
  readonly password: string;
}

/** A user whose password was right. */
export interface KnownUser {
  /** The user's groups in that system. */
  readonly groups: readonly string[];
  /** The user's rules in that system, if it has told them already; `undefined`: it has none. */
  readonly ownRules?: readonly Value[] | undefined;
}

/** One system. It may take long; it never logs a password. */
export interface EauthModule {
  /**
   * The user; `undefined` if there is none with this password.
   * @throws If the system cannot be asked; the user is refused then, too.
   */
  authenticate(credentials: EauthCredentials): Promise<KnownUser | undefined>;
  /** Rules that the system itself returns for an authenticated user; `undefined`: it has none. */
  rules?(credentials: EauthCredentials): Promise<readonly Value[] | undefined>;
}

/** A user without groups; `undefined` if `known` is false. */
export function knownWithoutGroups(known: boolean): KnownUser | undefined {
  return known ? { groups: [] } : undefined;
}

/** The parts that a system uses. */
export interface EauthContext {
  readonly opts: MasterOpts;
  /** The value of `external_auth` under its name. */
  readonly config: ValueMap;
  readonly log: Logger;
}

/** Makes the system `name`; `undefined` if there is none. */
export type LoadEauth = (name: string, context: EauthContext) => Promise<EauthModule | undefined>;
