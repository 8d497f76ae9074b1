/**
 * Execution module `group` for Linux.
 * Source: the functions of Salt 3008.3 `salt/modules/groupadd.py`.
 * @module
 */

import { groupEntries } from "#lib/host/accounts/account_entries.ts";
import * as groups from "#lib/host/accounts/groups.ts";
import { describe } from "#lib/plugins/docs.ts";
import { fn, type JobContext } from "#lib/plugins/job_context.ts";
import { type ModuleFunction, p } from "#lib/plugins/module.ts";
import type { Virtual } from "#lib/plugins/virtual.ts";
import { str } from "#lib/values/value.ts";

export const virtual: Virtual = {
  name: "group",
  serves: [{
    grains: { kernel: ["Linux"] },
    otherwise: "The groupadd execution module cannot be loaded:  only available on Linux, OpenBSD and NetBSD",
  }],
};

const ROOT = { root: p.str(null) };

export const add: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Add a group. Return whether groupadd succeeded. non_unique=True accepts a gid that another group has.",
    "group.add foo 3456",
  ),
  permissions: "all",
  params: {
    name: p.str(),
    gid: p.int(null),
    system: p.bool(false),
    ...ROOT,
    non_unique: p.bool(false),
    local: p.bool(false),
  },
  run: ({ non_unique, ...group }, context) => groups.addGroup({ ...group, nonUnique: non_unique }, context),
});

export const delete_: ModuleFunction<JobContext> = fn({
  doc: describe("Delete a group. Return whether groupdel succeeded.", "group.delete foo"),
  permissions: "all",
  params: { name: p.str(), ...ROOT, local: p.bool(false) },
  run: ({ name, ...how }, context) => groups.deleteGroup(name, how, context),
});

export const info: ModuleFunction<JobContext> = fn({
  doc: describe("Return information about a group; an empty map if there is no such group.", "group.info foo"),
  permissions: "all",
  params: { name: p.str(), ...ROOT },
  async run({ name, root }, context) {
    const group = await groups.findGroupEntry(name, context, root);
    return group === undefined ? {} : groups.shownGroup(group);
  },
});

export const getent: ModuleFunction<JobContext> = fn({
  doc: describe("Return all groups as group.info shows them.", "group.getent"),
  permissions: "all",
  params: { refresh: p.bool(false), ...ROOT },
  run: async ({ root }, context) => (await groupEntries(context, root)).map(groups.shownGroup),
});

export const chgid: ModuleFunction<JobContext> = fn({
  doc: describe("Change a group's id. Return whether it has this value now.", "group.chgid foo 4376"),
  permissions: "all",
  params: { name: p.str(), gid: p.int(), ...ROOT, non_unique: p.bool(false) },
  run: ({ name, gid, root, non_unique }, context) => groups.setGid(name, gid, { root, nonUnique: non_unique }, context),
});

export const adduser: ModuleFunction<JobContext> = fn({
  doc: describe("Add a user to a group. Return whether this succeeded.", "group.adduser foo bar"),
  permissions: "all",
  params: { name: p.str(), username: p.str(), ...ROOT },
  run: ({ name, username, root }, context) => groups.addMember(name, username, root, context),
});

export const deluser: ModuleFunction<JobContext> = fn({
  doc: describe("Remove a user from a group. Return whether the user is no member now.", "group.deluser foo bar"),
  permissions: "all",
  params: { name: p.str(), username: p.str(), ...ROOT },
  run: ({ name, username, root }, context) => groups.removeMember(name, username, root, context),
});

export const members: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Make exactly these users the members of a group. Return whether this succeeded.",
    "group.members foo 'user1,user2,user3,...'",
  ),
  permissions: "all",
  params: { name: p.str(), members_list: p.list(), ...ROOT },
  run: ({ name, members_list, root }, context) =>
    groups.setMembers(name, members_list.map(str).filter((user) => user !== ""), root, context),
});
