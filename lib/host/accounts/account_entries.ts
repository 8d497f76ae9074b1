/**
 * The lines of passwd, group and shadow: of this host, or of the system in a root directory. Of this host they come
 * from `getent`, which knows directories too. Source: passwd(5), group(5), shadow(5).
 * @module
 */

import { rstripChars } from "#lib/values/python_text.ts";
import type { CommandHost } from "#lib/programs/command.ts";
import { runProgram } from "#lib/programs/run_program.ts";
import { which } from "#lib/programs/which.ts";
import { readTextFileIfExists } from "#lib/os/atomic_file.ts";
import { accountRecords, type Group, parseGroup, parsePasswd, type User } from "#lib/os/account_records.ts";
import { fileStamp } from "#lib/os/file_stamp.ts";
import type { JobContext } from "#lib/plugins/job_context.ts";

/** A line of shadow. Days are counted from 1970 on; -1 for an empty field. */
export interface ShadowEntry {
  readonly name: string;
  readonly passwd: string;
  /** Day of the last change. */
  readonly lstchg: number;
  /** Days before the next change may be. */
  readonly min: number;
  /** Days after which it must be changed. */
  readonly max: number;
  /** Days before that at which the user is warned. */
  readonly warn: number;
  /** Days after that on which the password is still accepted. */
  readonly inact: number;
  /** Day from which the account is closed. */
  readonly expire: number;
}

/** The entries in a shadow file. */
function parseShadow(text: string): ShadowEntry[] {
  return accountRecords(text, 2).map(([name, passwd, ...days]) => {
    const [lstchg, min, max, warn, inact, expire] = Array.from({ length: 6 }, (_, i) => day(days[i]));
    return { name, passwd, lstchg, min, max, warn, inact, expire };
  });
}

function day(text: string | undefined): number {
  return text !== undefined && /^-?\d+$/.test(text) ? Number(text) : -1;
}

/** The path of a file of the system in `root`; of this one without. */
export function accountFile(name: "passwd" | "group" | "shadow", root: string | null): string {
  return `${rstripChars(root ?? "", "/")}/etc/${name}`;
}

async function text(database: "passwd" | "group", host: AccountHost, root: string | null): Promise<string> {
  if (root !== null || which("getent") === undefined) return readTextFileIfExists(accountFile(database, root)) ?? "";
  const stamp = LISTED_FROM.map((path) => fileStamp(path) ?? "-").join("\n");
  const lists = LISTS.getOrInsertComputed(host.outside, () => new Map());
  const earlier = lists.get(database);
  if (earlier?.stamp === stamp) return earlier.text;
  const { retcode, stdout } = await runProgram(["getent", database], host);
  if (retcode === 0) lists.set(database, { stamp, text: stdout });
  return stdout;
}

/** The job that reads the lists. */
export type AccountHost = Pick<JobContext, "outside"> & CommandHost;

/**
 * The sources of the host's own lists: the files, the order of the sources, and the users that systemd makes for
 * services.
 */
const LISTED_FROM = [
  ...["/etc/passwd", "/etc/group", "/etc/nsswitch.conf", "/run/systemd/dynamic-uid", "/run/systemd/userdb"],
];

/** A list of getent, and the stamp of its sources. */
interface KeptList {
  readonly stamp: string;
  readonly text: string;
}

/** The lists cached by job, like Salt's in `__context__`: each state of an account uses them. */
const LISTS = new WeakMap<JobContext["outside"], Map<string, KeptList>>();

/** All users: for this host those of getent, for a root directory those of its file. */
export async function passwdEntries(host: AccountHost, root: string | null): Promise<User[]> {
  return parsePasswd(await text("passwd", host, root));
}

/** All groups: for this host those of getent, for a root directory those of its file. */
export async function groupEntries(host: AccountHost, root: string | null): Promise<Group[]> {
  return parseGroup(await text("group", host, root));
}

/** The entries of shadow; empty if the file may not be read, or does not exist. */
export function shadowEntries(root: string | null): ShadowEntry[] {
  try {
    return parseShadow(readTextFileIfExists(accountFile("shadow", root)) ?? "");
  } catch (error) {
    if (error instanceof Deno.errors.PermissionDenied) return [];
    throw error;
  }
}

/** One user, also of a directory whose users cannot be listed. */
export async function findPasswdEntry(
  name: string,
  host: AccountHost,
  root: string | null,
): Promise<User | undefined> {
  const local = (await passwdEntries(host, root)).find((entry) => entry.name === name);
  if (local !== undefined || root !== null || which("getent") === undefined) return local;
  if (name === "" || name.startsWith("-") || /^\d+$/.test(name)) return undefined;
  return parsePasswd((await runProgram(["getent", "passwd", name], host)).stdout).find((entry) => entry.name === name);
}

/** The names of a user's groups, sorted: the primary one, and those that list the user. */
export function groupNames(user: User, groups: readonly Group[]): string[] {
  const own = groups.filter(({ gid, members }) => gid === user.gid || members.includes(user.name));
  return [...new Set(own.map(({ name }) => name))].sort();
}
