/**
 * Groups, by groupadd, groupmod, groupdel and gpasswd, on this host or in a root directory.
 * Source: Salt 3008.3, `salt/modules/groupadd.py`; groupadd(8), gpasswd(1).
 * @module
 */

import type { Group } from "#lib/os/account_records.ts";
import { type AccountHost, groupEntries } from "./account_entries.ts";
import { accountProgram, checkUserName, rootOption } from "./users.ts";
import { checkedWord, runProgram } from "#lib/programs/run_program.ts";
import { map, type ValueMap } from "#lib/values/value.ts";

/** A group in Salt's form. */
export function shownGroup({ name, passwd, gid, members }: Group): ValueMap {
  return map({ name, passwd, gid, members });
}

/**
 * A group's name as an argument.
 * @throws {InvocationError} If it could be something else.
 */
export function groupName(name: string): string {
  return checkedWord(/[:,/]/.test(name) ? "" : name, "group name");
}

async function run(words: readonly string[], host: AccountHost): Promise<boolean> {
  return (await runProgram(words, host, { logsFailure: true })).retcode === 0;
}

/** Options of a new group. */
export interface NewGroup {
  readonly name: string;
  readonly gid: number | null;
  readonly system: boolean;
  readonly root: string | null;
  /** Whether another group may have the gid. */
  readonly nonUnique: boolean;
  /** Whether libuser's programs are used. */
  readonly local: boolean;
}

/**
 * Adds a group.
 * @returns Whether groupadd did it.
 */
export async function addGroup(group: NewGroup, host: AccountHost): Promise<boolean> {
  const { name, gid, system, root, nonUnique, local } = group;
  return await run([
    accountProgram(local ? "lgroupadd" : "groupadd"),
    ...gid === null ? [] : ["-g", String(gid), ...nonUnique && !local ? ["-o"] : []],
    ...system ? ["-r"] : [],
    ...local ? [] : rootOption(root),
    "--",
    groupName(name),
  ], host);
}

/**
 * Deletes a group.
 * @returns Whether groupdel did it.
 */
export async function deleteGroup(
  name: string,
  { root, local }: { readonly root: string | null; readonly local: boolean },
  host: AccountHost,
): Promise<boolean> {
  const words = [accountProgram(local ? "lgroupdel" : "groupdel"), ...local ? [] : rootOption(root)];
  return await run([...words, "--", groupName(name)], host);
}

/** The group of that name. */
export async function findGroupEntry(
  name: string,
  host: AccountHost,
  root: string | null,
): Promise<Group | undefined> {
  return (await groupEntries(host, root)).find((group) => group.name === name);
}

/**
 * Changes a group's id.
 * @returns Whether it has that id now.
 */
export async function setGid(
  name: string,
  gid: number,
  { root, nonUnique }: { readonly root: string | null; readonly nonUnique: boolean },
  host: AccountHost,
): Promise<boolean> {
  const before = await findGroupEntry(groupName(name), host, root);
  if (before === undefined || before.gid === gid) return before !== undefined;
  const words = [accountProgram("groupmod"), ...rootOption(root), ...nonUnique ? ["-o"] : [], "-g", String(gid)];
  await run([...words, "--", name], host);
  return (await findGroupEntry(name, host, root))?.gid === gid;
}

function gpasswdRoot(root: string | null): string[] {
  return root === null || root === "" ? [] : ["--root", checkedWord(root, "root directory")];
}

/**
 * Adds a user to a group.
 * @returns Whether gpasswd did it.
 */
export async function addMember(name: string, user: string, root: string | null, host: AccountHost): Promise<boolean> {
  const words = [accountProgram("gpasswd"), ...gpasswdRoot(root), "--add", checkUserName(user), "--", groupName(name)];
  return await run(words, host);
}

/**
 * Removes a user from a group.
 * @returns Whether the user is not in it now.
 */
export async function removeMember(
  name: string,
  user: string,
  root: string | null,
  host: AccountHost,
): Promise<boolean> {
  const group = await findGroupEntry(groupName(name), host, root);
  if (!group?.members.includes(user)) return true;
  return await run(
    [accountProgram("gpasswd"), ...gpasswdRoot(root), "--delete", checkUserName(user), "--", name],
    host,
  );
}

/**
 * Makes exactly these users the members of a group.
 * @returns Whether gpasswd did it.
 */
export async function setMembers(
  name: string,
  users: readonly string[],
  root: string | null,
  host: AccountHost,
): Promise<boolean> {
  const listed = users.map(checkUserName).join(",");
  return await run([accountProgram("gpasswd"), ...gpasswdRoot(root), "--members", listed, "--", groupName(name)], host);
}
