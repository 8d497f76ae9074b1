/**
 * Users and groups of this host: `/etc/passwd` and `/etc/group`, then `getent` (LDAP, sssd, …). Read-only; knows
 * nothing of passwords.
 * Source: passwd(5), group(5), getent(1).
 * @module
 */

import { type Group, isId, parseGroup, parsePasswd, type User } from "./account_records.ts";
import { BoundedMap } from "#lib/values/bounded_map.ts";

export type { Group, User };

/** The files to read; with them `getent` is not called. For tests. */
export interface AccountFiles {
  /** Default: `/etc/passwd`. */
  readonly passwd?: string;
  /** Default: `/etc/group`. */
  readonly group?: string;
}

/** Finds a user by name, or by uid if a number is given. */
export function findUser(who: string | number, files: AccountFiles = {}): User | undefined {
  const is = (user: User) => typeof who === "number" ? user.uid === who : user.name === who;
  const local = users.read(files.passwd ?? "/etc/passwd").find(is);
  return local ?? (files.passwd === undefined ? parsePasswd(getent("passwd", who)).find(is) : undefined);
}

/** The names of all users of this host, as far as they can be listed. */
export function hostUsers(files: AccountFiles = {}): string[] {
  const local = users.read(files.passwd ?? "/etc/passwd");
  const directory = files.passwd === undefined ? parsePasswd(getent("passwd")) : [];
  return [...new Set([...local, ...directory].map(({ name }) => name))];
}

/** Finds a group by name, or by gid if a number is given. */
export function findGroup(which: string | number, files: AccountFiles = {}): Group | undefined {
  const is = (group: Group) => typeof which === "number" ? group.gid === which : group.name === which;
  const local = groups.read(files.group ?? "/etc/group").find(is);
  return local ?? (files.group === undefined ? parseGroup(getent("group", which)).find(is) : undefined);
}

/** The ids of all groups of `user` in the group file, the primary one first. */
export function groupIdsOf(user: User, files: AccountFiles = {}): number[] {
  const memberships = groups.read(files.group ?? "/etc/group").filter((group) => group.members.includes(user.name));
  return [...new Set([user.gid, ...memberships.map((group) => group.gid)])];
}

/**
 * The names of all groups of the user `name`, of the group file and of directories (`getent initgroups`), the primary
 * one first; empty if there is no such user.
 */
export function groupNamesOf(name: string, files: AccountFiles = {}): string[] {
  const user = findUser(name, files);
  if (user === undefined) return [];
  const fromDirectory = files.group === undefined ? getent("initgroups", name).trim().split(/\s+/).slice(1) : [];
  const ids = new Set([...groupIdsOf(user, files), ...fromDirectory.filter(isId).map(Number)]);
  return [...ids].flatMap((gid) => findGroup(gid, files)?.name ?? []);
}

/** The parsed contents of a file, read again when it is replaced or changed: a list of processes needs many users. */
class ParsedFile<T> {
  readonly #parse: (text: string) => readonly T[];
  #known: { readonly version: string; readonly records: readonly T[] } | undefined;

  constructor(parse: (text: string) => readonly T[]) {
    this.#parse = parse;
  }

  /** The records of the file `path`; none if it cannot be read: then there are no local accounts. */
  read(path: string): readonly T[] {
    try {
      const { ino, size, mtime } = Deno.statSync(path);
      // The tools that change these files write new ones and rename them.
      const version = `${path}:${ino}:${size}:${mtime?.getTime()}`;
      if (this.#known?.version !== version) {
        this.#known = { version, records: this.#parse(Deno.readTextFileSync(path)) };
      }
      return this.#known.records;
    } catch {
      return [];
    }
  }
}

const users = new ParsedFile(parsePasswd);
const groups = new ParsedFile(parseGroup);

/**
 * Time for which an answer of `getent` is cached, in milliseconds: in a tree of files whose owner has no name, each
 * file needs it.
 */
const KNOWN_MS = 1_000;
/** Maximum number of cached answers. */
const MAX_KNOWN = 1_000;

const answers = new BoundedMap<string, { readonly text: string; readonly until: number }>(MAX_KNOWN);

/** The output of `getent` for one key, or for all; empty if there is none, or no `getent`. */
function getent(database: string, key?: string | number): string {
  const query = `${database} ${key ?? ""}`;
  const answer = answers.get(query);
  if (answer !== undefined && performance.now() < answer.until) return answer.text;
  const text = askGetent(database, key);
  answers.set(query, { text, until: performance.now() + KNOWN_MS });
  return text;
}

function askGetent(database: string, key?: string | number): string {
  if (key === "" || String(key).includes("\0")) return "";
  try {
    const { success, stdout } = new Deno.Command("getent", {
      args: ["--", database, ...(key === undefined ? [] : [String(key)])],
      stdin: "null",
      stdout: "piped",
      stderr: "null",
    }).outputSync();
    return success ? new TextDecoder().decode(stdout) : "";
  } catch {
    return "";
  }
}
