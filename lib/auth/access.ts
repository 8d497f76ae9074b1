/**
 * Users of the master's host: key files in the master's cache directory, and `publisher_acl`. A user is authenticated
 * by reading `<cachedir>/.<user>_key`, which holds a random string, new at every start of the master. Knows users and
 * rules, no sockets. Source: docs/protocol.md "Credentials".
 * @module
 */

import { lexistsOrThrow } from "#lib/os/file_kind.ts";
import { removeIfExists, writeFileAtomic } from "#lib/os/atomic_file.ts";
import { generateKeyString } from "#lib/crypto/crypticle.ts";
import { RefusedError } from "#lib/errors.ts";
import { accessKeyPath } from "#lib/config/master_paths.ts";
import { matchesName } from "./patterns.ts";
import { allowsJob, allowsMasterCall, type JobTarget, type MasterCall, type PublishedCall } from "./rules.ts";
import { sameText } from "#lib/crypto/same_text.ts";
import { asList } from "#lib/values/shape.ts";
import type { Value, ValueMap } from "#lib/values/value.ts";

/** The keys of users: user name → key string. */
export type AccessKeys = ReadonlyMap<string, string>;

/**
 * The users in `publisher_acl`: the names as written, and with `client_acl_verify` the host's users that match its
 * patterns.
 * @param hostUsers Called only if there is a pattern: a directory service may list thousands.
 */
export function aclUsers(
  { publisher_acl, client_acl_verify }: { readonly publisher_acl: ValueMap; readonly client_acl_verify: boolean },
  hostUsers: () => readonly string[],
): string[] {
  const patterns = [...publisher_acl.keys()].filter((name) => typeof name === "string");
  const names = patterns.filter((name) => /^[\w.@-]+\$?$/.test(name));
  if (!client_acl_verify || patterns.every((pattern) => /^[\w@-]+\$?$/.test(pattern))) return names;
  return [...new Set([...names, ...hostUsers().filter((user) => lists(patterns, user))])];
}

/**
 * Makes a new key for each of `users`. Only the master can read it until that user gets access (lib/bus/acl_users.ts).
 */
export function createAccessKeys(cachedir: string, users: Iterable<string>): AccessKeys {
  const keys = new Map<string, string>();
  for (const user of new Set(users)) {
    const key = generateKeyString();
    removeIfExists(accessKeyPath(cachedir, user));
    writeAccessKey(cachedir, user, key);
    keys.set(user, key);
  }
  return keys;
}

/**
 * Writes the files of `keys` again that were removed, for instance with the cache directory.
 * @returns The users of those files.
 * @throws What writing throws.
 */
export function restoreAccessKeys(cachedir: string, keys: AccessKeys): string[] {
  const missing = [...keys].filter(([user]) => !lexistsOrThrow(accessKeyPath(cachedir, user)));
  for (const [user, key] of missing) writeAccessKey(cachedir, user, key);
  return missing.map(([user]) => user);
}

function writeAccessKey(cachedir: string, user: string, key: string): void {
  writeFileAtomic(accessKeyPath(cachedir, user), key, { mode: 0o400, makeDirectory: true });
}

/** The credentials of a clear request. */
export interface UserCredentials {
  readonly user: string;
  /** The contents of that user's key file. */
  readonly key: string;
}

/** The rules of {@linkcode Access}. */
export interface AccessRules {
  /** The user that the master runs as. */
  readonly owner: string;
  /** `publisher_acl`: what other users may publish. */
  readonly acl: ValueMap;
  /** `publisher_acl_blacklist`: `users` who may publish nothing, and functions (`modules`) that nobody may run. */
  readonly blacklist?: ValueMap;
  /** `sudo_acl`: whether the rules of `alice` apply to `sudo_alice` too. */
  readonly sudoAcl?: boolean;
}

/** The access rules of one master. */
export class Access {
  readonly #keys: AccessKeys;
  readonly #rules: AccessRules;

  constructor(keys: AccessKeys, rules: AccessRules) {
    this.#keys = keys;
    this.#rules = rules;
  }

  /** The user that the master runs as. */
  get owner(): string {
    return this.#rules.owner;
  }

  /**
   * The user that `credentials` authenticate.
   * @throws {RefusedError} AuthenticationError, which never gives the reason.
   */
  authenticate(credentials: UserCredentials): string {
    const { user, key } = credentials;
    // Salt accepts any of our keys from root and `sudo_*`: then a user in publisher_acl could claim to be root.
    const own = !this.#isPrivileged(user);
    let proved = false;
    for (const [name, expectedKey] of this.#keys) {
      if (sameText(key, expectedKey) && (this.#isOperators(name) || (own && name === user))) proved = true;
    }
    if (!proved) throw new RefusedError("AuthenticationError", "Authentication error occurred.");
    return user;
  }

  /**
   * Checks that `user`, who is authenticated, may publish `calls`.
   * @throws {RefusedError} AuthorizationError.
   */
  authorizeJob(user: string, calls: readonly PublishedCall[], target: JobTarget): void {
    this.checkBlacklist(user, calls);
    const rules = this.#rulesFor(user);
    if (rules !== undefined && !allowsJob(rules, calls, target)) throw accessRefused();
  }

  /**
   * Checks that `user`, who is authenticated, may run `call` on the master.
   * @throws {RefusedError} AuthorizationError; SaltInvocationError if it is not a function.
   */
  authorizeMasterCall(user: string, call: MasterCall): void {
    this.checkBlacklist(user, []);
    const rules = this.#rulesFor(user);
    if (rules !== undefined) checkMasterCall(rules, call);
  }

  /**
   * Checks that `publisher_acl_blacklist` bans neither the user nor a function.
   * @throws {RefusedError} AuthorizationError.
   */
  checkBlacklist(user: string, calls: readonly PublishedCall[]): void {
    const { blacklist } = this.#rules;
    const banned = lists(blacklist?.get("users"), user) ||
      calls.some(({ fun }) => lists(blacklist?.get("modules"), fun));
    if (banned) throw accessRefused();
  }

  /** The rules of `publisher_acl` for the user; `undefined` for operators, who may do everything. */
  #rulesFor(user: string): Value[] | undefined {
    const { acl, sudoAcl } = this.#rules;
    const name = sudoAcl && acl.size > 0 && user.startsWith(SUDO) ? user.slice(SUDO.length) : user;
    if (name === user && this.isOperator(user)) return undefined;
    return [...acl].flatMap(([pattern, rules]) =>
      typeof pattern === "string" && matchesName(pattern, name) && Array.isArray(rules) ? rules : []
    );
  }

  /** Whether no rule limits what `user`, who is authenticated, may do. */
  isOperator(user: string): boolean {
    // An unlisted name came with an operator's key.
    return this.#isPrivileged(user) || !this.#keys.has(user);
  }

  #isPrivileged(user: string): boolean {
    return user === "root" || user === this.#rules.owner || user.startsWith(SUDO);
  }

  /** Whether only operators can read the key of `name`: true for all users but those in `publisher_acl`. */
  #isOperators(name: string): boolean {
    return name === "root" || name === this.#rules.owner || !lists([...this.#rules.acl.keys()], name);
  }
}

/** Prefix of the name of a user who became root by sudo. */
const SUDO = "sudo_";

/** @throws {RefusedError} AuthorizationError; SaltInvocationError if it is not a function. */
export function checkMasterCall(rules: readonly Value[], call: MasterCall): void {
  const allowed = allowsMasterCall(rules, call);
  if (allowed === "syntax") {
    throw new RefusedError("SaltInvocationError", "A command invocation error occurred: Check syntax.");
  }
  if (!allowed) throw accessRefused();
}

/** Never gives the reason. */
export function accessRefused(): RefusedError {
  return new RefusedError("AuthorizationError", "Authorization error occurred.");
}

/** Whether one of the patterns in `listed`, as written in the configuration, matches. */
function lists(listed: Value | undefined, text: string): boolean {
  const patterns = asList(listed ?? null);
  return patterns.some((pattern) => typeof pattern === "string" && matchesName(pattern, text));
}
