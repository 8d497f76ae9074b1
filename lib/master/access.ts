/**
 * Who may publish jobs: key files in the master's cache directory, and `publisher_acl`. A user proves their identity by
 * reading `<cachedir>/.<user>_key`, which holds a random string, new at every start of the master. Knows users and
 * rules, no sockets.
 * Source: salt-protocol.md section 5, "Credentials".
 * @module
 */

import { isThere } from "../os/file_kind.ts";
import { removeIfExists, writeFileAtomic } from "../os/atomic_file.ts";
import { generateKeyString } from "../crypto/crypticle.ts";
import { RefusedError, RegexError } from "../errors.ts";
import { matchesGlob } from "../text/glob.ts";
import { accessKeyPath } from "../config/master_paths.ts";
import { pythonRegex } from "../text/regex.ts";
import { timingSafeEqual } from "../crypto/timing_safe_equal.ts";
import { isMap, type Value, type ValueMap } from "../values/value.ts";

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

/** Makes a new key for each of `users`. Only the master can read it until that user gets access (lib/bus/acl_users.ts). */
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
  const missing = [...keys].filter(([user]) => !isThere(accessKeyPath(cachedir, user)));
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

function sameKey(a: string, b: string): boolean {
  const utf8 = new TextEncoder();
  return timingSafeEqual(utf8.encode(a), utf8.encode(b));
}

/** The parts of a publish that the rules check. */
export interface WantedPublish {
  /** The function, or the list of a compound job's. */
  readonly fun: Value;
  /** The ids that the target resolved to. */
  readonly minions: readonly string[];
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

/** The commands use it to ask whether a job is still running: every user who may publish may call it. */
const FIND_JOB = "saltutil.find_job";

/** The access rules of one master. */
export class Access {
  readonly #keys: AccessKeys;
  readonly #rules: AccessRules;

  constructor(keys: AccessKeys, rules: AccessRules) {
    this.#keys = keys;
    this.#rules = rules;
  }

  /** The user whom `credentials` prove. @throws {RefusedError} AuthenticationError, which never gives the reason. */
  authenticate(credentials: UserCredentials): string {
    const { user, key } = credentials;
    // Salt accepts any of our keys from root and `sudo_*`: then a user in publisher_acl could claim to be root.
    const own = !this.#isPrivileged(user);
    let proved = false;
    for (const [name, known] of this.#keys) {
      if (sameKey(key, known) && (this.#isOperators(name) || (own && name === user))) proved = true;
    }
    if (!proved) throw new RefusedError("AuthenticationError", "Authentication error occurred.");
    return user;
  }

  /** Checks that `user`, who is authenticated, may publish `wanted`. @throws {RefusedError} AuthorizationError. */
  authorize(user: string, wanted: WantedPublish): void {
    const { acl, blacklist, sudoAcl } = this.#rules;
    const funs = (Array.isArray(wanted.fun) ? wanted.fun : [wanted.fun]).map(String);
    const banned = lists(blacklist?.get("users"), user) || funs.some((fun) => lists(blacklist?.get("modules"), fun));
    const name = sudoAcl && acl.size > 0 && user.startsWith(SUDO) ? user.slice(SUDO.length) : user;
    if (!banned) {
      // An unlisted name came with an operator's key.
      if (name === user && (this.#isPrivileged(user) || !this.#keys.has(user))) return;
      if (funs.every((fun) => fun === FIND_JOB)) return;
      for (const [pattern, rules] of acl) {
        if (typeof pattern !== "string" || !matches(pattern, name) || !Array.isArray(rules)) continue;
        if (funs.every((fun) => rules.some((rule) => allows(rule, fun, wanted.minions)))) return;
      }
    }
    throw new RefusedError("AuthorizationError", "Authorization error occurred.");
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

/** One entry of `publisher_acl`: `test.*`, or `{web*: [test.*, cmd.run]}`. */
function allows(rule: Value, fun: string, minions: readonly string[]): boolean {
  if (typeof rule === "string") return fullMatch(rule, fun);
  if (!isMap(rule)) return false;
  for (const [glob, funs] of rule) {
    if (typeof glob !== "string" || !minions.every((id) => matchesGlob(glob, id))) continue;
    const patterns = Array.isArray(funs) ? funs : [funs];
    if (patterns.some((pattern) => typeof pattern === "string" && fullMatch(pattern, fun))) return true;
  }
  return false;
}

/** Whether one of the patterns in `listed`, as written in the configuration, matches. */
function lists(listed: Value | undefined, text: string): boolean {
  const patterns = Array.isArray(listed) ? listed : [listed];
  return patterns.some((pattern) => typeof pattern === "string" && matches(pattern, text));
}

/** Whether `pattern`, a glob or an expression, matches the whole `text`. */
function matches(pattern: string, text: string): boolean {
  return pattern === text || matchesGlob(pattern, text) || fullMatch(pattern, text);
}

function fullMatch(pattern: string, text: string): boolean {
  try {
    return pythonRegex(`(?:${pattern})\\Z`).test(text);
  } catch (error) {
    if (error instanceof RegexError) return pattern === text; // most globs are no valid expressions
    throw error;
  }
}
