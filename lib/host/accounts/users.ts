/**
 * Users, by useradd, usermod and userdel, on this host or in a root directory.
 * Source: Salt 3008.3, `salt/modules/useradd.py`; useradd(8), usermod(8).
 * @module
 */

import type { Group, User } from "#lib/os/account_records.ts";
import { type AccountHost, findPasswdEntry, groupEntries, groupNames, passwdEntries } from "./account_entries.ts";
import { gecosField, type GecosPart, parseGecos } from "./gecos.ts";
import { CommandError } from "#lib/errors.ts";
import { checkedWord, type ProgramResult, runProgram } from "#lib/programs/run_program.ts";
import { which } from "#lib/programs/which.ts";
import { readTextFileIfExists } from "#lib/os/atomic_file.ts";
import { map, type ValueMap } from "#lib/values/value.ts";

/**
 * Checks for the program, like Salt.
 * @throws {CommandError} If it is not there.
 */
export function accountProgram(name: string): string {
  if (which(name) === undefined) throw new CommandError(`Command '${name}' cannot be found`);
  return name;
}

/** The option that names another system. */
export function rootOption(root: string | null): string[] {
  return root === null || root === "" ? [] : ["-R", checkedWord(root, "root directory")];
}

/**
 * A user's name as an argument.
 * @throws {InvocationError} If it could be something else.
 */
export function checkUserName(name: string): string {
  return checkedWord(/[:,/]/.test(name) ? "" : name, "user name");
}

/** A user in Salt's form. */
export function shownUser(user: User, groups: readonly Group[]): ValueMap {
  const { gid, home, name, passwd, shell, uid } = user;
  return map({ gid, groups: groupNames(user, groups), home, name, passwd, shell, uid, ...parseGecos(user.gecos) });
}

/** All users in Salt's form. */
export async function shownUsers(host: AccountHost, root: string | null): Promise<ValueMap[]> {
  const groups = await groupEntries(host, root);
  return (await passwdEntries(host, root)).map((user) => shownUser(user, groups));
}

/** Options of a new user. */
export interface NewUser {
  readonly name: string;
  readonly uid: number | null;
  /** Name or number. */
  readonly gid: string | null;
  readonly groups: readonly string[] | null;
  readonly home: string | null;
  readonly shell: string | null;
  /** Whether the uid must be free. */
  readonly unique: boolean;
  readonly system: boolean;
  readonly createhome: boolean;
  readonly nologinit: boolean;
  readonly root: string | null;
  readonly usergroup: boolean | null;
  /** Whether libuser's programs are used, for hosts whose users come from a directory. */
  readonly local: boolean;
  readonly gecos: Readonly<Record<GecosPart, string>>;
}

/**
 * Adds a user.
 * @returns Whether useradd did it.
 */
export async function addUser(user: NewUser, host: AccountHost): Promise<boolean> {
  const { local, root } = user;
  const words = [accountProgram(local ? "luseradd" : "useradd")];
  const value = (option: string, argument: string | number | null) => {
    if (argument !== null && argument !== "") words.push(option, checkedWord(String(argument), `value of ${option}`));
  };
  value("-s", user.shell);
  value("-u", user.uid);
  if (user.gid !== null && user.gid !== "") value("-g", user.gid);
  else if (user.usergroup === true) words.push(...local ? [] : ["-U"]);
  else if (user.groups?.includes(user.name) && ownGroupsByDefault()) value("-g", user.name);
  if (user.usergroup === false) words.push(local ? "-n" : "-N");
  if (user.createhome) words.push(...local ? [] : ["-m"]);
  else words.push("-M");
  if (user.nologinit) words.push("-l");
  value("-d", user.home);
  if (!user.unique) words.push("-o");
  if (user.system) words.push("-r");
  if (!local) words.push(...rootOption(root));
  const result = await runProgram([...words, "--", checkUserName(user.name)], host, { logsFailure: true });
  if (result.retcode !== 0) return false;
  if (user.groups !== null && user.groups.length > 0) {
    await setGroups(user.name, user.groups, { append: false, root }, host);
  }
  for (const [part, text] of Object.entries(user.gecos)) {
    if (text !== "") await setGecos(user.name, part as GecosPart, text, { root, host });
  }
  return true;
}

/** Whether useradd would create a group with the user's name, which fails if the group exists. */
function ownGroupsByDefault(): boolean {
  return /^USERGROUPS_ENAB.*yes/m.test(readTextFileIfExists("/etc/login.defs") ?? "");
}

/**
 * Deletes a user.
 * @returns Whether it is gone.
 */
export async function deleteUser(
  name: string,
  options: { readonly remove: boolean; readonly force: boolean; readonly root: string | null; readonly local: boolean },
  host: AccountHost,
): Promise<boolean> {
  const { remove, force, root, local } = options;
  const words = [
    accountProgram(local ? "luserdel" : "userdel"),
    ...remove ? ["-r"] : [],
    ...force && !local ? ["-f"] : [],
    ...local ? [] : rootOption(root),
  ];
  const { retcode, stderr } = await runProgram([...words, "--", checkUserName(name)], host, { logsFailure: true });
  // Debian's userdel has this exit code for a user without a mailbox, who is deleted anyway.
  return retcode === 0 || (retcode === 12 && /var\/(spool\/)?mail/.test(stderr));
}

/** The place of a change of a user. */
export interface UserPlace {
  readonly root: string | null;
  readonly host: AccountHost;
}

function usermod(words: readonly string[], { root, host }: UserPlace): Promise<ProgramResult> {
  return runProgram([accountProgram("usermod"), ...rootOption(root), ...words], host, { logsFailure: true });
}

/**
 * Changes one field of a user.
 * @returns Whether it has the value now.
 * @throws {CommandError} If there is no such user.
 */
export async function setField(
  name: string,
  change: {
    readonly field: keyof User;
    readonly option: string;
    readonly value: string | number;
    readonly move?: boolean;
  },
  place: UserPlace,
): Promise<boolean> {
  const { field, option, value, move } = change;
  const has = async (who: string) => (await findPasswdEntry(who, place.host, place.root))?.[field] === value;
  if (await findPasswdEntry(checkUserName(name), place.host, place.root) === undefined) {
    throw new CommandError(`User '${name}' does not exist`);
  }
  if (await has(name)) return true;
  await usermod([...move ? ["-m"] : [], option, checkedWord(String(value), field), "--", name], place);
  return await has(field === "name" ? String(value) : name);
}

/**
 * Changes a part of the comment.
 * @returns Whether it has the value now.
 */
export async function setGecos(name: string, part: GecosPart, text: string, place: UserPlace): Promise<boolean> {
  const current = async () => (await findPasswdEntry(checkUserName(name), place.host, place.root))?.gecos;
  const before = await current();
  if (before === undefined) throw new CommandError(`User '${name}' does not exist`);
  const parts = parseGecos(before);
  if (parts[part] === text) return true;
  const field = gecosField({ ...parts, [part]: text });
  if (/[:\n]/.test(field)) return false;
  await usermod(["-c", field, "--", name], place);
  return parseGecos(await current() ?? "")[part] === text;
}

/**
 * Sets the groups of a user besides the primary one, or adds to them.
 * @returns Whether this succeeded.
 */
export async function setGroups(
  name: string,
  groups: readonly string[],
  { append, root }: { readonly append: boolean; readonly root: string | null },
  host: AccountHost,
): Promise<boolean> {
  const user = await findPasswdEntry(checkUserName(name), host, root);
  const now = user === undefined ? [] : groupNames(user, await groupEntries(host, root));
  if (user !== undefined && now.length === groups.length && groups.every((group) => now.includes(group))) return true;
  const words = groups.map((group) => checkedWord(group, "group name"));
  const { retcode, stderr } = await usermod([...append ? ["-a"] : [], "-G", words.join(","), "--", name], {
    root,
    host,
  });
  if (retcode === 0 || !stderr.includes("not found in")) return retcode === 0;
  // A user of a directory is not in passwd, and can be in a local group anyway.
  let added = true;
  for (const group of words) {
    if ((await runProgram(["gpasswd", "-a", name, group], host)).retcode !== 0) added = false;
  }
  return added;
}

/** The name of a user's primary group; an empty text if there is no such user. */
export async function primaryGroup(name: string, host: AccountHost): Promise<string> {
  return (await runProgram(["id", "-g", "-n", "--", checkUserName(name)], host)).stdout;
}
