/**
 * Authenticates the sender of a clear request, and checks what the sender may do: users of the master's host by their
 * key files, all others by `external_auth`. Source: Salt 3008.3 `salt/master.py` (`ClearFuncs`),
 * `salt/auth/__init__.py` (`check_authentication`).
 * @module
 */

import { type Access, accessRefused, checkMasterCall } from "./access.ts";
import { RefusedError } from "#lib/errors.ts";
import type { ExternalAuth } from "./external_auth.ts";
import { allowsJob, type JobTarget, type MasterCall, type PublishedCall } from "./rules.ts";
import { truncate } from "#lib/text/truncate.ts";
import type { Value, ValueMap } from "#lib/values/value.ts";

/** An authenticated sender. */
export interface Caller {
  readonly user: string;
  /** The rules of `external_auth`; absent for users of this host, to whom `publisher_acl` applies. */
  readonly rules?: readonly Value[];
  /** Rules that must allow a call as well: those of an API token. */
  readonly limits?: readonly Value[];
}

/** The fields with credentials, which must be in no log, event or cache. */
const CREDENTIALS = ["key", "token", "eauth", "username", "password", "token_expire"];

/** The load without credentials. */
export function withoutCredentials(load: ValueMap): ValueMap {
  return new Map([...load].filter(([key]) => typeof key !== "string" || !CREDENTIALS.includes(key)));
}

/** The callers of one master. */
export class Callers {
  /** Users of this host. */
  readonly access: Access;
  /** All other senders. */
  readonly external: ExternalAuth;

  constructor({ access, external }: { readonly access: Access; readonly external: ExternalAuth }) {
    this.access = access;
    this.external = external;
  }

  /**
   * Authenticates the sender of `load`.
   * @param proof Where a token, or a name and a password, would be: the `kwargs` of a publish, else the load itself.
   * @throws {RefusedError} TokenAuthenticationError, EauthAuthenticationError or AuthenticationError.
   */
  async authenticate(load: ValueMap, proof: ValueMap = load): Promise<Caller> {
    if (proof.has("token") || proof.has("eauth")) return await this.external.identify(proof);
    const [user, key] = [load.get("user"), load.get("key")];
    if (typeof user !== "string" || typeof key !== "string") {
      throw new RefusedError("AuthenticationError", "Authentication error occurred.");
    }
    return { user: this.access.authenticate({ user, key }) };
  }

  /**
   * Checks that the caller may publish `calls`.
   * @throws {RefusedError} AuthorizationError.
   */
  authorizeJob({ user, rules, limits }: Caller, calls: readonly PublishedCall[], target: JobTarget): void {
    if (rules === undefined) return this.access.authorizeJob(user, calls, target);
    this.access.checkBlacklist(user, calls);
    const allows = (list: readonly Value[]) => allowsJob(list, calls, target);
    if (!allows(rules) || (limits !== undefined && !allows(limits))) throw accessRefused();
  }

  /**
   * Authenticates the sender of `load`, and checks that the sender may run `call` on the master. In Salt every user in
   * `publisher_acl` may run everything there; here its rules apply.
   * @param call With the arguments that it will be run with.
   * @throws {RefusedError} The error of the reply: kind and message.
   */
  async forMasterCall(load: ValueMap, call: MasterCall): Promise<Caller> {
    // Salt takes a key without a user for one of the master's own user. Here that must be an operator's key.
    const userLoad: ValueMap = load.has("user") ? load : new Map(load).set("user", this.access.owner);
    const caller = await this.authenticate(userLoad);
    const { user, rules, limits } = caller;
    if (rules === undefined) {
      this.access.authorizeMasterCall(user, call);
      return caller;
    }
    this.access.checkBlacklist(user, []);
    try {
      checkMasterCall(rules, call);
      if (limits !== undefined) checkMasterCall(limits, call);
    } catch (error) {
      if (!(error instanceof RefusedError) || error.kind !== "AuthorizationError") throw error;
      // Salt calls this a failed authentication, and its reader looks for a wrong password.
      const text = `${error.message.replace(/\.$/, "")}: user ${user} may not run the ${call.form} ${
        truncate(call.fun)
      }.`;
      throw new RefusedError(error.kind, text);
    }
    return caller;
  }
}
