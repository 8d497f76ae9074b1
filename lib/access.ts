/**
 * Who may publish jobs: the key files of the master's cache directory, and `publisher_acl`.
 *
 * A user proves who they are by being able to read `<cachedir>/.<user>_key`, which holds a random string that is new at
 * every start of the master. Knows users and rules, no sockets.
 * Source: salt-protocol.md section 5, "Credentials".
 * @module
 */

import { removeIfExists, writeFileAtomic } from "./atomic_file.ts";
import { generateKeyString } from "./crypticle.ts";
import { RefusedError } from "./errors.ts";
import { matchesGlob } from "./glob.ts";
import { pythonRegex } from "./regex.ts";
import { timingSafeEqual } from "./timing_safe_equal.ts";
import { findUser } from "./users.ts";
import { isMap, type Value, type ValueMap } from "./value.ts";

/** The keys that users prove themselves by: user name → key string. */
export type AccessKeys = ReadonlyMap<string, string>;

/** Where the key of `user` lies. */
export function accessKeyPath(cachedir: string, user: string): string {
  return `${cachedir}/.${user.replaceAll(/[/\\]/g, "_")}_key`;
}

/** Makes a new key for each of `users`, readable by that user alone. */
export function createAccessKeys(cachedir: string, users: Iterable<string>): AccessKeys {
  const keys = new Map<string, string>();
  for (const user of new Set(users)) {
    const key = generateKeyString();
    const path = accessKeyPath(cachedir, user);
    removeIfExists(path);
    writeFileAtomic(path, key, { mode: 0o400 });
    const owner = findUser(user);
    if (owner !== undefined && Deno.uid() === 0 && owner.uid !== 0) Deno.chownSync(path, owner.uid, owner.gid);
    keys.set(user, key);
  }
  return keys;
}

/** The credentials of a clear request. */
export interface Credentials {
  /** The name. */
  readonly user: string;
  /** What the key file of that user holds. */
  readonly key: string;
}

function sameKey(a: string, b: string): boolean {
  const utf8 = new TextEncoder();
  return timingSafeEqual(utf8.encode(a), utf8.encode(b));
}

/** What a publish asks for, as far as the rules care. */
export interface Wanted {
  /** The function, or the list of a compound job's. */
  readonly fun: Value;
  /** The ids that the target resolved to. */
  readonly minions: readonly string[];
}

/** The rules of one master. */
export class Access {
  readonly #keys: AccessKeys;
  readonly #owner: string;
  readonly #acl: ValueMap;

  /**
   * Takes the keys and rules of one master.
   * @param options.owner The user that the master runs as. @param options.acl `publisher_acl`.
   */
  constructor(keys: AccessKeys, options: { readonly owner: string; readonly acl: ValueMap }) {
    this.#keys = keys;
    this.#owner = options.owner;
    this.#acl = options.acl;
  }

  /**
   * Whoever `credentials` prove.
   * @throws {RefusedError} AuthenticationError, which never says what was wrong.
   */
  authenticate(credentials: Credentials): string {
    const { user, key } = credentials;
    // The master's owner, root and `sudo_*` may come with any key of ours; others with their own alone.
    const privileged = this.#isPrivileged(user);
    let proved = false;
    for (const [name, known] of this.#keys) {
      if (sameKey(key, known) && (name === user || privileged || name === this.#owner || name === "root")) {
        proved = true;
      }
    }
    if (!proved) throw new RefusedError("AuthenticationError", "Authentication error occurred.");
    return user;
  }

  /**
   * Lets `user` publish `wanted`, or not.
   * @throws {RefusedError} AuthorizationError.
   */
  authorize(user: string, wanted: Wanted): void {
    if (this.#isPrivileged(user) || !this.#keys.has(user)) return; // an unlisted name came with the owner's key
    const funs = (Array.isArray(wanted.fun) ? wanted.fun : [wanted.fun]).map(String);
    for (const [pattern, rules] of this.#acl) {
      if (typeof pattern !== "string" || !fullMatch(pattern, user) || !Array.isArray(rules)) continue;
      if (funs.every((fun) => rules.some((rule) => allows(rule, fun, wanted.minions)))) return;
    }
    throw new RefusedError("AuthorizationError", "Authorization error occurred.");
  }

  #isPrivileged(user: string): boolean {
    return user === "root" || user === this.#owner || user.startsWith("sudo_");
  }
}

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

function fullMatch(pattern: string, text: string): boolean {
  return pythonRegex(`(?:${pattern})\\Z`).test(text);
}
