/**
 * What `user.present` does: the changes to a user who is there, and a new user with what useradd does not set.
 * Source: Salt 3008.3 `salt/states/user.py`.
 * @module
 */

import { hasFunction, keywords } from "./_execution.ts";
import { neededChanges, shadowInfo, userInfo, type WantedUser } from "./_user_changes.ts";
import { isDirectory } from "#lib/os/file_kind.ts";
import type { StateContext } from "#lib/plugins/job_context.ts";
import { failState, startResult, type StateResult } from "#lib/plugins/state_module.ts";
import { equals, map, repr, str, toNumber, type Value, type ValueMap } from "#lib/values/value.ts";

/** The text that results show instead of a password. */
const REDACTED = "XXX-REDACTED-XXX";

/** Changes in readable form. */
export function shownChanges(changes: ValueMap): ValueMap {
  return new Map([...changes].map(([key, value]) => [key, key === "passwd" ? REDACTED : value]));
}

/**
 * Makes the changes to a user.
 * @param persistHome Whether the contents of the home directory are moved.
 */
export async function changeUser(
  wanted: WantedUser,
  needed: ValueMap,
  persistHome: boolean,
  context: StateContext,
): Promise<StateResult> {
  const { name, password, local } = wanted;
  const [shadow, before] = [await shadowInfo(name, context), await userInfo(name, local, context)];
  await changePassword(wanted, needed, context);
  await changeHome(wanted, needed, { before, persistHome, context });
  await changeAges(wanted, needed, context);
  for (const [key, value] of needed) {
    if (key === "home" || key === "groups" || !await hasFunction(`user.ch${str(key)}`, context)) continue;
    await context.call(`user.ch${str(key)}`, [name, value]);
  }
  // The primary group may have changed just now, and counts as one of the groups.
  const groups = needed.get("groups");
  if (groups !== undefined) await context.call("user.chgroups", [name, groups, !wanted.remove_groups]);
  const after = await userInfo(name, local, context);
  const shadowAfter = shadow !== undefined && shadow.get("passwd") !== password
    ? await shadowInfo(name, context) ?? new Map()
    : new Map();
  const changes: ValueMap = new Map([
    ...changedEntries(before, after),
    ...shownChanges(changedEntries(shadow ?? new Map(), shadowAfter)),
  ]);
  // Changes that are not allowed were refused before.
  const left = await neededChanges(wanted, { uid: true, gid: true }, context);
  if (left !== undefined && left.size > 0) {
    return failState(name, `These values could not be changed: ${repr(shownChanges(left))}`, changes);
  }
  const comment = changes.size > 0 ? `Updated user ${name}` : `User ${name} is present and up to date`;
  return { name, result: true, comment, changes };
}

/** The fields of `after` that differ from before. */
function changedEntries(before: ValueMap, after: ValueMap): ValueMap {
  return new Map([...after].filter(([key, value]) => !equals(value, before.get(key) ?? null)));
}

async function changePassword(wanted: WantedUser, needed: ValueMap, context: StateContext): Promise<void> {
  const { name, password, empty_password } = wanted;
  const call = (fun: string, ...args: Value[]) => context.call(`shadow.${fun}`, [name, ...args]);
  if (needed.has("passwd") && !empty_password) await call("set_password", password);
  if (needed.has("empty_password")) await call("del_password");
  if (needed.has("password_lock")) await call(needed.get("password_lock") ? "lock_password" : "unlock_password");
  if (needed.has("date")) await call("set_date", wanted.date);
}

async function changeAges(wanted: WantedUser, needed: ValueMap, context: StateContext): Promise<void> {
  for (const field of ["mindays", "maxdays", "inactdays", "warndays", "expire"] as const) {
    if (needed.has(field)) await context.call(`shadow.set_${field}`, [wanted.name, wanted[field]]);
  }
}

async function changeHome(
  { name }: WantedUser,
  needed: ValueMap,
  { before, persistHome, context }: {
    readonly before: ValueMap;
    readonly persistHome: boolean;
    readonly context: StateContext;
  },
): Promise<void> {
  const missing = needed.get("homeDoesNotExist");
  const home = missing ?? needed.get("home");
  if (home === undefined) return;
  await context.call("user.chhome", [name, home], map({ persist: persistHome }));
  if (missing === undefined || isDirectory(str(missing))) return;
  await context.call("file.mkdir", [missing, before.get("uid") ?? null, before.get("gid") ?? null, "0755"]);
}

/** Properties that only a new user gets. */
export interface RequestedUser {
  readonly unique: boolean;
  readonly system: boolean;
  readonly nologinit: boolean;
  readonly usergroup: boolean | null;
  readonly loginclass: string | null;
}

/** Creates the account with useradd, and sets the password and its ages, which useradd cannot. */
export async function createUser(wanted: WantedUser, more: RequestedUser, context: StateContext): Promise<StateResult> {
  const { name, uid, gid, home, shell, fullname, roomnumber, workphone, homephone, other } = wanted;
  const groups = [...wanted.groups ?? [], ...wanted.optional_groups ?? []];
  const own = keywords({
    name,
    uid,
    gid,
    groups: wanted.groups === null && groups.length === 0 ? null : groups,
    home,
    shell,
    fullname,
    roomnumber,
    workphone,
    homephone,
    other,
    createhome: wanted.createhome,
    local: wanted.local,
    unique: more.unique,
    system: more.system,
    nologinit: more.nologinit,
    loginclass: more.loginclass,
    usergroup: more.usergroup,
  });
  if (await context.call("user.add", [], own) !== true) return failState(name, `Failed to create new user ${name}`);
  const changes = await userInfo(name, wanted.local, context);
  // The account names a directory that was not created.
  if (!wanted.createhome) changes.set("home", "");
  const result: StateResult = { ...startResult(name), comment: `New user ${name} created`, changes };
  return await hasFunction("shadow.info", context) ? await setNewShadow(result, wanted, context) : result;
}

/** Sets the password and its ages of a new user. */
async function setNewShadow(
  result: StateResult,
  wanted: WantedUser,
  context: StateContext,
): Promise<StateResult> {
  const { name, password, empty_password } = wanted;
  const field = async (key: string): Promise<Value> => (await shadowInfo(name, context))?.get(key) ?? null;
  let { comment, result: isDone } = result;
  const fail = (what: string) => {
    comment = `User ${name} created but failed to ${what}`;
    isDone = false;
  };
  if (password && !empty_password) {
    await context.call("shadow.set_password", [name, password]);
    if (await field("passwd") !== password) fail(`set password to ${REDACTED}`);
    result.changes.set("password", REDACTED);
  }
  if (empty_password && !password) {
    await context.call("shadow.del_password", [name]);
    if (await field("passwd") !== "") fail("empty password");
    result.changes.set("password", "");
  }
  const fields = [
    ["date", "lstchg", "last change date", wanted.date !== null],
    ["mindays", "min", "minimum days", Boolean(wanted.mindays)],
    ["maxdays", "max", "maximum days", Boolean(wanted.maxdays)],
    ["inactdays", "inact", "inactive days", Boolean(wanted.inactdays)],
    ["warndays", "warn", "warn days", Boolean(wanted.warndays)],
    ["expire", "expire", "expire days", Boolean(wanted.expire) && toNumber(wanted.expire) !== 0],
  ] as const;
  for (const [key, shadowKey, what, isAsked] of fields) {
    if (!isAsked) continue;
    const value = wanted[key];
    await context.call(`shadow.set_${key}`, [name, value]);
    if (!equals(await field(shadowKey), value)) fail(`set ${what} to ${str(value)}`);
    result.changes.set(key, value);
  }
  return { ...result, comment, result: isDone };
}
