/**
 * The users of this host who may use the master besides its own: those of `publisher_acl` and `external_auth`. They get
 * key files for their commands, and the events.
 * @module
 */

import { type AccessKeys, aclUsers, createAccessKeys, restoreAccessKeys } from "#lib/auth/access.ts";
import { eauthUsers } from "#lib/auth/eauth_users.ts";
import { type AclUser, findAclUsers, openKeysToAclUsers, openToAclUsers } from "#lib/bus/acl_users.ts";
import type { MasterOpts } from "#lib/config/options.ts";
import { messageOf } from "#lib/errors.ts";
import { findGroup, findUser, hostUsers } from "#lib/os/users.ts";
import type { Logger } from "#lib/runtime/log.ts";

/** The users of one master. If they cannot get access, the log says so, and the master continues without them. */
export class AdmittedUsers {
  readonly #opts: MasterOpts;
  readonly #log: Logger;
  readonly #aclUsers: AclUser[];
  /** Users of this host who may sign in by `external_auth`. */
  readonly #eauthUsers: AclUser[];
  /** The name of the master's own user. */
  readonly owner: string;
  /** The keys of those who may give commands. */
  readonly keys: AccessKeys;
  /** The numbers of the users who may read events. */
  readonly listeners: readonly number[];

  /** Makes the key files, and opens them and `sock_dir` to the users. */
  constructor(opts: MasterOpts, log: Logger) {
    this.#opts = opts;
    this.#log = log;
    this.owner = findUser(Deno.uid() ?? -1)?.name ?? opts.user;
    const others = aclUsers(opts, hostUsers);
    this.#aclUsers = findAclUsers(others);
    const members = (group: string) => findGroup(group)?.members ?? [];
    this.#eauthUsers = findAclUsers(eauthUsers(opts.external_auth, members));
    this.keys = createAccessKeys(opts.cachedir, [opts.user, this.owner, ...others]);
    this.#openKeys();
    this.listeners = [...new Set([...this.#aclUsers, ...this.#eauthUsers].map(({ uid }) => uid))];
    this.#admit(() => openToAclUsers(opts.sock_dir, "pass", this.listeners));
  }

  /** Lets them read a file. */
  openFile(path: string): void {
    this.#admit(() => openToAclUsers(path, "read", this.listeners));
  }

  /** Writes key files that are gone: emptying the cache was not meant to lock users out. */
  restoreKeys(): void {
    try {
      const users = restoreAccessKeys(this.#opts.cachedir, this.keys);
      if (users.length === 0) return;
      this.#openKeys();
      this.#log.warning(`Put back the key files of ${users.join(", ")}, which were gone`);
    } catch (error) {
      this.#log.error(`The users' key files cannot be put back: ${messageOf(error)}`);
    }
  }

  #openKeys(): void {
    this.#admit(() => openKeysToAclUsers(this.#opts, this.#aclUsers));
  }

  #admit(open: () => void): void {
    try {
      open();
    } catch (error) {
      const names = [...this.#aclUsers, ...this.#eauthUsers].map(({ name }) => name).join(", ");
      this.#log.error(`publisher_acl, external_auth: ${names} cannot get access: ${messageOf(error)}`);
    }
  }
}
