/**
 * State module `user`: accounts of users.
 * Source: Salt 3008.3 `salt/states/user.py`.
 * @module
 */

import { failureText } from "./_execution.ts";
import { neededChanges, shadowInfo, userInfo, type WantedUser } from "./_user_changes.ts";
import { changeUser, createUser, shownChanges } from "./_user_setting.ts";
import type { StateContext } from "#lib/plugins/job_context.ts";
import { type ModuleFunction, p } from "#lib/plugins/module.ts";
import { failState, startResult, stateFn } from "#lib/plugins/state_module.ts";
import { listOrEmpty, textOrNull } from "#lib/values/shape.ts";
import { compareStrings, map, str, truthy, type ValueMap } from "#lib/values/value.ts";

const LOCAL = `local : False
    Whether only the host's own files count, and not a directory's users: for libuser's programs.`;

/** The methods of password hashes, by the text after the first dollar sign. */
const HASHES: Readonly<Record<string, string>> = { "1": "md5", "2a": "blowfish", "5": "sha256", "6": "sha512" };

/** The hash of a password, with the salt that the user's hash has, so that an equal password has an equal hash. */
async function hashPassword(password: string, name: string, context: StateContext): Promise<string> {
  const now = str((await shadowInfo(name, context))?.get("passwd") ?? "").split("$");
  if (now.length !== 4) return str(await context.call("shadow.gen_password", [password]));
  const [, method, salt] = now;
  if (method === "1") context.log("warning", "Using MD5 for hashing passwords is considered insecure!");
  const how: ValueMap = new Map([["crypt_salt", salt]]);
  if (Object.hasOwn(HASHES, method)) how.set("algorithm", HASHES[method]);
  return str(await context.call("shadow.gen_password", [password], how));
}

/** The existing groups, and the others. */
async function sortedGroups(groups: readonly string[], context: StateContext) {
  const [there, missing]: [string[], string[]] = [[], []];
  for (const group of groups) (truthy(await context.call("group.info", [group])) ? there : missing).push(group);
  return { there, missing };
}

export const present: ModuleFunction<StateContext> = stateFn({
  doc: `The user exists.

name
    The user.

uid
    The user's id. Default: the next free one, or the current id of an existing user.

gid
    The primary group, its id or its name. Default: what useradd chooses.

usergroup
    Whether a group with the user's name is created as the primary group. Default: what useradd does.

groups
    A list of the user's supplementary groups. They must exist.

optional_groups
    A list of supplementary groups that are used only if they exist.

remove_groups : True
    Whether the user is removed from other groups.

home
    The home directory. Default: what useradd chooses.

createhome : True
    Whether the home directory is made.

persist_home : False
    Whether the contents of the home directory are moved when it changes.

password
    The password's hash, or with hash_password the password.

hash_password : False
    Whether the password is plain and is hashed here.

enforce_password : True
    Whether a password that was changed by the user is set again.

empty_password : False
    Whether the user has no password, so that none is asked for.

shell
    The login shell. Default: what useradd chooses.

unique : True
    Whether the uid must be free.

system : False
    Whether a new user gets a system id.

fullname, roomnumber, workphone, homephone, other
    The fields of the account's comment. The first three cannot contain commas.

loginclass
    For the BSDs; ignored here.

date
    The day of the last change of the password, in days since 1970.

mindays, maxdays
    The days before a password may be changed again, and after which it must be.

inactdays
    The days for which an expired password is still accepted.

warndays
    The days before its expiration in which the user is warned.

expire
    The day on which the account expires, in days since 1970; -1 for never.

nologinit : False
    Whether a new user is left out of lastlog and faillog.

allow_uid_change : False
    Whether the uid of a user who is there may change. Files keep their owner.

allow_gid_change : False
    Whether the primary group of a user who is there may change.

password_lock
    Whether the password is locked. Default: unchanged.

win_homedrive, win_profile, win_logonscript, win_description
    For Windows; ignored here.

${LOCAL}`,
  params: {
    name: p.str(),
    uid: p.int(null),
    gid: p.any(null),
    usergroup: p.bool(null),
    groups: p.list(null),
    optional_groups: p.list(null),
    remove_groups: p.bool(true),
    home: p.str(null),
    createhome: p.bool(true),
    persist_home: p.bool(false),
    password: p.str(null),
    hash_password: p.bool(false),
    enforce_password: p.bool(true),
    empty_password: p.bool(false),
    shell: p.str(null),
    unique: p.bool(true),
    system: p.bool(false),
    fullname: p.any(null),
    roomnumber: p.any(null),
    workphone: p.any(null),
    homephone: p.any(null),
    other: p.any(null),
    loginclass: p.str(null),
    date: p.any(null),
    mindays: p.int(null),
    maxdays: p.int(null),
    inactdays: p.int(null),
    warndays: p.int(null),
    expire: p.any(null),
    win_homedrive: p.any(null),
    win_profile: p.any(null),
    win_logonscript: p.any(null),
    win_description: p.any(null),
    nologinit: p.bool(false),
    allow_uid_change: p.bool(false),
    allow_gid_change: p.bool(false),
    password_lock: p.bool(null),
    local: p.bool(false),
  },
  async run(bound, context) {
    const { name, gid, usergroup, allow_uid_change, allow_gid_change } = bound;
    const password = bound.password && bound.hash_password
      ? await hashPassword(bound.password, name, context)
      : bound.password;
    const gecos = {
      fullname: textOrNull(bound.fullname),
      roomnumber: textOrNull(bound.roomnumber),
      workphone: textOrNull(bound.workphone),
      homephone: textOrNull(bound.homephone),
      other: textOrNull(bound.other),
    };
    const split = [gecos.fullname, gecos.roomnumber, gecos.workphone].find((part) => part?.includes(","));
    if (typeof split === "string") return failState(name, `Unsupported char ',' in ${split}`);
    const { there, missing } = await sortedGroups((bound.groups ?? []).map(str), context);
    if (missing.length > 0 && !context.test) {
      return failState(name, `The following group(s) are not present: ${missing.join(",")}`);
    }
    const optional = await sortedGroups((bound.optional_groups ?? []).map(str), context);
    for (const group of optional.missing) {
      context.log("debug", `Optional group "${group}" for user "${name}" is not present`);
    }
    for (const group of there.filter((one) => bound.optional_groups?.includes(one))) {
      context.log("warning", `Group "${group}" specified in both groups and optional_groups for user ${name}`);
    }
    const wanted: WantedUser = {
      ...bound,
      ...gecos,
      password,
      groups: bound.groups === null ? null : there,
      optional_groups: bound.optional_groups?.length ? optional.there : null,
    };
    const isOwnGroup = usergroup === true && await context.call("file.group_to_gid", [name]) !== "";
    let changes: ValueMap | undefined;
    try {
      const allowed = { uid: allow_uid_change, gid: allow_gid_change };
      changes = await neededChanges({ ...wanted, gid: isOwnGroup ? name : gid }, allowed, context);
    } catch (error) {
      return failState(name, failureText(error));
    }
    if (changes === undefined) {
      if (!context.test) return await createUser(wanted, bound, context);
      const pending = missing.length > 0 ? ` (pending groups: ${missing.join(",")})` : "";
      return { ...startResult(name, null), comment: `User ${name} set to be added${pending}` };
    }
    if (changes.size === 0) return { ...startResult(name), comment: `User ${name} is present and up to date` };
    if (!context.test) return await changeUser(wanted, changes, bound.persist_home, context);
    const lines = [...shownChanges(changes)].map(([key, value]) => `${str(key)}: ${str(value)}\n`);
    if (missing.length > 0) lines.push(`groups (pending creation): ${missing.join(",")}\n`);
    const comment = `The following user attributes are set to be changed:\n${lines.join("")}`;
    return { ...startResult(name, null), comment };
  },
});

export const absent: ModuleFunction<StateContext> = stateFn({
  doc: `The user does not exist.

name
    The user.

purge : False
    Whether the home directory and the mailbox are deleted too.

force : False
    Whether a user who is logged in is deleted too.

${LOCAL}`,
  params: { name: p.str(), purge: p.bool(false), force: p.bool(false), local: p.bool(false) },
  async run({ name, purge, force, local }, context) {
    if ((await userInfo(name, local, context)).size === 0) {
      return { ...startResult(name), comment: `User ${name} is not present` };
    }
    if (context.test) return { ...startResult(name, null), comment: `User ${name} set for removal` };
    const groupList = await context.call("user.list_groups", [name]);
    const before = listOrEmpty(groupList).map(str);
    const isDeleted = truthy(await context.call("user.delete", [name, purge, force], map({ local })));
    if (!isDeleted) return failState(name, `Failed to remove user ${name}`);
    const { missing } = await sortedGroups(before.sort(compareStrings), context);
    const changes: ValueMap = new Map(missing.map((group) => [`${group} group`, "removed"]));
    return { name, result: true, comment: `Removed user ${name}`, changes: changes.set(name, "removed") };
  },
});
