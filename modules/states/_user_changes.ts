/**
 * What is to be changed of a user for `user.present`.
 * Source: Salt 3008.3 `salt/states/user.py`.
 * @module
 */

import { hasFunction, keywords } from "./_execution.ts";
import { CommandError } from "#lib/errors.ts";
import { isDirectory } from "#lib/os/file_kind.ts";
import { formatNested } from "#lib/output/nested.ts";
import type { StateContext } from "#lib/plugins/job_context.ts";
import { listOrEmpty, mapOrEmpty } from "#lib/values/shape.ts";
import { compareStrings, equals, isMap, str, type Value, type ValueMap } from "#lib/values/value.ts";

/** The requested properties of a user; `null`: unchanged. */
export interface WantedUser {
  readonly name: string;
  readonly uid: number | null;
  /** Id or name. */
  readonly gid: Value;
  readonly groups: readonly string[] | null;
  /** The optional groups that exist. */
  readonly optional_groups: readonly string[] | null;
  /** Whether the user is removed from other groups. */
  readonly remove_groups: boolean;
  readonly home: string | null;
  readonly createhome: boolean;
  /** A hash. */
  readonly password: string | null;
  /** Whether a changed password is set again. */
  readonly enforce_password: boolean;
  readonly empty_password: boolean;
  readonly shell: string | null;
  readonly fullname: string | null;
  readonly roomnumber: string | null;
  readonly workphone: string | null;
  readonly homephone: string | null;
  readonly other: string | null;
  /** Days since 1970. */
  readonly date: Value;
  readonly mindays: number | null;
  readonly maxdays: number | null;
  readonly inactdays: number | null;
  readonly warndays: number | null;
  /** Days since 1970; -1: never. */
  readonly expire: Value;
  readonly password_lock: boolean | null;
  readonly local: boolean;
}

/** Whether changes of ids are allowed. */
export interface AllowedChanges {
  readonly uid: boolean;
  readonly gid: boolean;
}

/**
 * The data of a user; empty if there is none.
 * @param local Whether only local files are used.
 */
export async function userInfo(name: string, local: boolean, context: StateContext): Promise<ValueMap> {
  const info = await context.call("user.info", [name], keywords({ root: local ? "/" : null }));
  return isMap(info) ? new Map(info) : new Map();
}

/** The shadow data of a user; `undefined` if there is no shadow. */
export async function shadowInfo(name: string, context: StateContext): Promise<ValueMap | undefined> {
  if (!await hasFunction("shadow.info", context)) return undefined;
  return mapOrEmpty(await context.call("shadow.info", [name]));
}

/**
 * The changes that are needed, by Salt's names; `undefined`: there is no such user.
 * @throws {CommandError} If an id would have to change and may not.
 */
export async function neededChanges(
  wanted: WantedUser,
  allowed: AllowedChanges,
  context: StateContext,
): Promise<ValueMap | undefined> {
  const user = await userInfo(wanted.name, wanted.local, context);
  if (user.size === 0) return undefined;
  const changes: ValueMap = new Map();
  const gidOf = (group: Value) => context.call("file.group_to_gid", [group]);
  const set = (key: string, value: Value, isNeeded: boolean) => isNeeded && changes.set(key, value);
  const { uid, gid, home, shell } = wanted;
  set("uid", uid, uid !== null && uid !== 0 && !equals(user.get("uid") ?? null, uid));
  const ownGid = user.get("gid") ?? null;
  set("gid", gid, gid !== null && !equals(ownGid, gid) && !equals(ownGid, await gidOf(gid)));
  const groups = await changedGroups(wanted, user, context);
  if (groups !== undefined) changes.set("groups", groups);
  set("home", home, Boolean(home) && user.get("home") !== home);
  if (wanted.createhome) {
    const place = home || user.get("home") || null;
    set("homeDoesNotExist", place, typeof place === "string" && !isDirectory(place));
  }
  set("shell", shell, Boolean(shell) && user.get("shell") !== shell);
  for (const [key, value] of await shadowChanges(wanted, context)) changes.set(key, value);
  set("fullname", wanted.fullname, wanted.fullname !== null && user.get("fullname") !== wanted.fullname);
  for (const part of ["roomnumber", "workphone", "homephone", "other"] as const) {
    const value = wanted[part];
    if (value !== null && await hasFunction(`user.ch${part}`, context)) set(part, value, user.get(part) !== value);
  }
  refuseIds(changes, user, allowed);
  return changes;
}

function refuseIds(changes: ValueMap, user: ValueMap, allowed: AllowedChanges): void {
  const errors = (["uid", "gid"] as const).filter((id) => changes.has(id) && !allowed[id]).map((id) => {
    const ids = `${str(user.get(id) ?? null)} -> ${str(changes.get(id) ?? null)}`;
    return `Changing ${id} (${ids}) not permitted, set allow_${id}_change to True to force this change. ` +
      "Note that this will not change file ownership.";
  });
  if (errors.length === 0) return;
  const text = formatNested(errors, { color: false }).trimEnd();
  throw new CommandError(`Encountered error checking for needed changes. Additional info follows:\n\n${text}`);
}

/** The requested supplementary groups of the user; `undefined`: no change is needed. */
async function changedGroups(
  { name, gid, groups, optional_groups, remove_groups }: WantedUser,
  user: ValueMap,
  context: StateContext,
): Promise<string[] | undefined> {
  const listed = user.get("groups");
  const own = listOrEmpty(listed).map(str);
  const requested = [...groups ?? [], ...optional_groups ?? []];
  const keepsOthers = !remove_groups || (groups === null && !optional_groups?.length);
  const gids = await Promise.all(own.map((group) => context.call("file.group_to_gid", [group])));
  /** Groups with the same id, mapped to one of their names. */
  const sameId = (group: string) => {
    const i = own.indexOf(group);
    const alike = own.filter((_, j) => i >= 0 && equals(gids[i], gids[j]));
    return alike.length > 1 ? alike : [group];
  };
  let wanted = [...new Set([...requested, ...keepsOthers ? own : []])].sort(compareStrings);
  const ownGid = user.get("gid") ?? null;
  const [primary, before] = [
    str(await context.call("file.gid_to_group", [gid ?? ownGid])),
    str(await context.call("file.gid_to_group", [ownGid])),
  ];
  // Membership by the primary group is independent of the list.
  let now = own.filter((group) => !sameId(primary).includes(group));
  wanted = wanted.filter((group) => !sameId(primary).includes(group));
  if (before !== primary) now = now.filter((group) => !sameId(before).includes(group));
  if (!wanted.includes(name)) now = now.filter((group) => !sameId(name).includes(group));
  if (!await differ(now, wanted, remove_groups, context)) return undefined;
  return wanted.length > 0 || remove_groups ? wanted : undefined;
}

/** Whether a user must be added to a group, or, with `remove`, removed from one. Two names of one id are one group. */
async function differ(
  now: readonly string[],
  wanted: readonly string[],
  remove: boolean,
  context: StateContext,
): Promise<boolean> {
  const missing = wanted.filter((group) => !now.includes(group));
  const diff = remove ? [...missing, ...now.filter((group) => !wanted.includes(group))] : missing;
  if (diff.length === 0) return false;
  const ids = new Map<string, Value>();
  for (const group of new Set([...now, ...wanted])) {
    const info = await context.call("group.info", [group]);
    ids.set(group, isMap(info) ? info.get("gid") ?? null : null);
  }
  const isDouble = (group: string) => {
    const id = ids.get(group) ?? null;
    return [...ids].some(([other, otherId]) => other !== group && equals(id, otherId));
  };
  return diff.some((group) => !isDouble(group));
}

/** The needed changes in shadow. */
async function shadowChanges(wanted: WantedUser, context: StateContext): Promise<ValueMap> {
  const changes: ValueMap = new Map();
  const shadow = await shadowInfo(wanted.name, context);
  if (shadow === undefined || !await hasFunction("shadow.default_hash", context)) return changes;
  const { password, enforce_password, empty_password, expire, password_lock } = wanted;
  const hash = str(shadow.get("passwd") ?? "");
  if (password && !empty_password) {
    const isUnset = hash === str(await context.call("shadow.default_hash"));
    if ((isUnset || enforce_password) && hash !== password) changes.set("passwd", password);
  }
  if (empty_password && hash !== "") changes.set("empty_password", true);
  const fields = [
    ["date", "lstchg", wanted.date],
    ["mindays", "min", wanted.mindays],
    ["maxdays", "max", wanted.maxdays],
    ["inactdays", "inact", wanted.inactdays],
    ["warndays", "warn", wanted.warndays],
  ] as const;
  for (const [key, field, value] of fields) {
    if (value !== null && !equals(shadow.get(field) ?? null, value)) changes.set(key, value);
  }
  if (expire && !equals(shadow.get("expire") ?? null, expire)) changes.set("expire", expire);
  if (password_lock !== null && password_lock !== hash.startsWith("!")) changes.set("password_lock", password_lock);
  return changes;
}
