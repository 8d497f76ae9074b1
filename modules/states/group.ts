/**
 * State module `group`: groups of users.
 * Source: Salt 3008.3 `salt/states/group.py`.
 * @module
 */

import { keywords } from "./_execution.ts";
import type { StateContext } from "#lib/plugins/job_context.ts";
import { type ModuleFunction, p } from "#lib/plugins/module.ts";
import { failState, startResult, stateFn, type StateResult } from "#lib/plugins/state_module.ts";
import { listOrEmpty, mapOrEmpty } from "#lib/values/shape.ts";
import { isMap, map, repr, str, toNumber, truthy, type Value, type ValueMap } from "#lib/values/value.ts";

const LOCAL = `local : False
    Whether only local groups are used, not those of a directory service, with libuser's programs.`;

/** What a group should be. */
interface WantedGroup {
  readonly name: string;
  readonly gid: Value;
  readonly addusers: readonly string[] | null;
  readonly delusers: readonly string[] | null;
  readonly members: readonly string[] | null;
  readonly local: boolean;
}

function findGroup(name: string, local: boolean, context: StateContext): Promise<Value> {
  return context.call("group.info", [name], keywords({ root: local ? "/" : null }));
}

/** What is to be changed; `undefined`: there is no such group. */
async function neededChanges(wanted: WantedGroup, context: StateContext): Promise<ValueMap | undefined> {
  const { name, gid, addusers, delusers, members, local } = wanted;
  const group = await findGroup(name, local, context);
  if (!isMap(group) || group.size === 0) return undefined;
  const listed = group.get("members");
  const now = listOrEmpty(listed).map(str);
  const changes: ValueMap = new Map();
  if (truthy(gid)) {
    const number = gidNumber(gid);
    if (number === undefined) return map({ result: false, comment: "Invalid gid" });
    if (toNumber(group.get("gid")) !== number) changes.set("gid", number);
  }
  if (members !== null) {
    const isSame = members.every((one) => now.includes(one)) && now.every((one) => members.includes(one));
    if (!isSame) members.length === 0 ? changes.set("delusers", now) : changes.set("members", [...members]);
  }
  const added = (addusers ?? []).filter((one) => !now.includes(one));
  if (added.length > 0) changes.set("addusers", added);
  const removed = (delusers ?? []).filter((one) => now.includes(one));
  if (removed.length > 0) changes.set("delusers", removed);
  return changes;
}

function gidNumber(gid: Value): number | undefined {
  if (typeof gid === "string") return /^\s*[+-]?\d+\s*$/.test(gid) ? Number(gid) : undefined;
  const number = toNumber(gid);
  return number === undefined ? undefined : Math.trunc(number);
}

/** Makes the changes to a group. */
async function change(changes: ValueMap, wanted: WantedGroup, nonUnique: boolean, context: StateContext) {
  const { name, gid, members } = wanted;
  for (const [key, users] of changes) {
    if (key === "gid") await context.call("group.chgid", [name, gid], map({ non_unique: nonUnique }));
    else if (key === "members") await context.call("group.members", [name, (members ?? []).join(",")]);
    else {
      const fun = key === "addusers" ? "group.adduser" : "group.deluser";
      for (const user of listOrEmpty(users)) await context.call(fun, [name, user]);
    }
  }
}

/** A change as Salt puts it: all members that go are a set of Python's. */
function shownChange(key: Value, value: Value, { members }: WantedGroup): string {
  return key === "delusers" && members !== null && Array.isArray(value)
    ? `{${value.map(repr).join(", ")}}`
    : str(value);
}

async function changeGroup(
  changes: ValueMap,
  wanted: WantedGroup,
  nonUnique: boolean,
  context: StateContext,
): Promise<StateResult> {
  const { name } = wanted;
  const lines = [...changes].map(([key, value]) => `${str(key)}: ${shownChange(key, value, wanted)}\n`);
  const comment = `The following group attributes are set to be changed:\n${lines.join("")}`;
  if (context.test) return { ...startResult(name, null), comment };
  await change(changes, wanted, nonUnique, context);
  const left = await neededChanges(wanted, context);
  if (left === undefined || left.size === 0) {
    return { ...startResult(name), comment, changes: map({ Final: "All changes applied successfully" }) };
  }
  return failState(name, `${comment}Some changes could not be applied`, map({ Failed: left }));
}

async function addGroup(
  wanted: WantedGroup,
  { system, nonUnique }: { readonly system: boolean; readonly nonUnique: boolean },
  context: StateContext,
): Promise<StateResult> {
  const { name, gid, addusers, members, local } = wanted;
  if (context.test) return { ...startResult(name, null), comment: `Group ${name} set to be added` };
  const groups = await context.call("group.getent");
  if (gid !== null && !nonUnique) {
    const owner = listOrEmpty(groups).find((one) => isMap(one) && toNumber(one.get("gid")) === toNumber(gid));
    if (isMap(owner)) {
      const problem = `gid ${str(gid)} is already taken by group ${str(owner.get("name") ?? null)}`;
      return failState(name, `Group ${name} is not present but ${problem}`);
    }
  }
  const own = keywords({ gid, system, non_unique: nonUnique, local });
  if (!truthy(await context.call("group.add", [name], own))) {
    return failState(name, `Failed to create new group ${name}`);
  }
  const users = (addusers?.length ? addusers : members) ?? [];
  if (users.length > 0) await context.call("group.members", [name, users.join(",")]);
  const group = await findGroup(name, local, context);
  const left = await neededChanges(wanted, context);
  if (left !== undefined && left.size > 0) {
    const comment = `Group ${name} has been created but, some changes could not be applied`;
    return failState(name, comment, map({ Failed: left }));
  }
  return { name, result: true, comment: `New group ${name} created`, changes: mapOrEmpty(group) };
}

export const present: ModuleFunction<StateContext> = stateFn({
  doc: `The group exists.

name
    The group.

gid
    Its id. Default: the next free one, or the current id of an existing group.

system : False
    Whether a new group gets a system id.

addusers
    A list of users to add to its members.

delusers
    A list of users to remove from its members.

members
    The list of all its members; not together with addusers and delusers.

non_unique : False
    Whether another group may have the id.

${LOCAL}`,
  params: {
    name: p.str(),
    gid: p.any(null),
    system: p.bool(false),
    addusers: p.list(null),
    delusers: p.list(null),
    members: p.list(null),
    non_unique: p.bool(false),
    local: p.bool(false),
  },
  async run({ name, gid, system, addusers, delusers, members, non_unique, local }, context) {
    if (members !== null && (addusers !== null || delusers !== null)) {
      const comment =
        'Error: Conflicting options "members" with "addusers" and/or "delusers" can not be used together. ';
      return { ...startResult(name, null), comment };
    }
    const names = (given: Value[] | null) => given?.map(str) ?? null;
    const wanted: WantedGroup = {
      name,
      gid,
      addusers: names(addusers),
      delusers: names(delusers),
      members: names(members),
      local,
    };
    if (wanted.addusers?.some((one) => wanted.delusers?.includes(one))) {
      const comment = "Error. Same user(s) can not be added and deleted simultaneously";
      return { ...startResult(name, null), comment };
    }
    const changes = await neededChanges(wanted, context);
    if (changes === undefined) return await addGroup(wanted, { system, nonUnique: non_unique }, context);
    if (changes.size > 0) return await changeGroup(changes, wanted, non_unique, context);
    return { ...startResult(name), comment: `Group ${name} is present and up to date` };
  },
});

export const absent: ModuleFunction<StateContext> = stateFn({
  doc: `The group does not exist.

name
    The group.

${LOCAL}`,
  params: { name: p.str(), local: p.bool(false) },
  async run({ name, local }, context) {
    if (!truthy(await findGroup(name, local, context))) return { ...startResult(name), comment: "Group not present" };
    if (context.test) return { ...startResult(name, null), comment: `Group ${name} is set for removal` };
    return truthy(await context.call("group.delete", [name], map({ local })))
      ? { ...startResult(name), changes: map({ [name]: "" }), comment: `Removed group ${name}` }
      : failState(name, `Failed to remove group ${name}`);
  },
});
