/**
 * Execution module `user` for Linux.
 * Source: the functions of Salt 3008.3 `salt/modules/useradd.py`.
 * @module
 */

import { findPasswdEntry, groupEntries, groupNames, passwdEntries } from "#lib/host/accounts/account_entries.ts";
import type { GecosPart } from "#lib/host/accounts/gecos.ts";
import * as users from "#lib/host/accounts/users.ts";
import { CommandError } from "#lib/errors.ts";
import { describe } from "#lib/plugins/docs.ts";
import { fn, type JobContext } from "#lib/plugins/job_context.ts";
import { type ModuleFunction, p } from "#lib/plugins/module.ts";
import type { Virtual } from "#lib/plugins/virtual.ts";
import { str, type Value } from "#lib/values/value.ts";

export const virtual: Virtual = {
  name: "user",
  serves: [{
    grains: { kernel: ["Linux"] },
    otherwise:
      "useradd execution module not loaded: either pwd python library not available or system not one of Linux, OpenBSD, NetBSD or AIX",
  }],
};

const ROOT = { root: p.str(null) };

/** Group names: a list, or one text with commas between. */
function names(given: Value): string[] {
  return (Array.isArray(given) ? given.map(str) : str(given).split(",")).map((name) => name.trim()).filter(Boolean);
}

export const add: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Add a user. Return whether useradd succeeded. root names the root directory of another system; usergroup says whether the\n" +
      "user gets a group of the same name; local=True uses libuser's programs.",
    "user.add name <uid> <gid> <groups> <home> <shell>",
  ),
  permissions: "all",
  params: {
    name: p.str(),
    uid: p.int(null),
    gid: p.str(null),
    groups: p.list(null),
    home: p.str(null),
    shell: p.str(null),
    unique: p.bool(true),
    system: p.bool(false),
    fullname: p.str(""),
    roomnumber: p.str(""),
    workphone: p.str(""),
    homephone: p.str(""),
    other: p.str(""),
    createhome: p.bool(true),
    loginclass: p.str(null),
    nologinit: p.bool(false),
    root: p.str(null),
    usergroup: p.bool(null),
    local: p.bool(false),
  },
  run: ({ groups, fullname, roomnumber, workphone, homephone, other, ...user }, context) =>
    users.addUser({
      ...user,
      groups: groups === null ? null : names(groups),
      gecos: { fullname, roomnumber, workphone, homephone, other },
    }, context),
});

export const delete_: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Delete a user. remove=True: with the home directory; force=True: even if the user is logged in.",
    "user.delete name remove=True force=True",
  ),
  permissions: "all",
  params: { name: p.str(), remove: p.bool(false), force: p.bool(false), ...ROOT, local: p.bool(false) },
  run: ({ name, ...how }, context) => users.deleteUser(name, how, context),
});

export const getent: ModuleFunction<JobContext> = fn({
  doc: describe("Return all users as user.info shows them.", "user.getent"),
  permissions: "all",
  params: { refresh: p.bool(false), ...ROOT },
  run: ({ root }, context) => users.shownUsers(context, root),
});

export const chuid: ModuleFunction<JobContext> = fn({
  doc: describe("Change a user's id. Return whether it has this value now.", "user.chuid foo 4376"),
  permissions: "all",
  params: { name: p.str(), uid: p.int(), ...ROOT },
  run: ({ name, uid, root }, host) => users.setField(name, { field: "uid", option: "-u", value: uid }, { root, host }),
});

export const chgid: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Change a user's primary group, given by its id. Return whether it has this value now.",
    "user.chgid foo 4376",
  ),
  permissions: "all",
  params: { name: p.str(), gid: p.int(), ...ROOT },
  run: ({ name, gid, root }, host) => users.setField(name, { field: "gid", option: "-g", value: gid }, { root, host }),
});

export const chshell: ModuleFunction<JobContext> = fn({
  doc: describe("Change a user's shell. Return whether it has this value now.", "user.chshell foo /bin/zsh"),
  permissions: "all",
  params: { name: p.str(), shell: p.str(), ...ROOT },
  run: ({ name, shell, root }, host) =>
    users.setField(name, { field: "shell", option: "-s", value: shell }, { root, host }),
});

export const chhome: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Change a user's home directory; persist=True moves what is in it. Return whether it has this value now.",
    "user.chhome foo /home/users/foo True",
  ),
  permissions: "all",
  params: { name: p.str(), home: p.str(), persist: p.bool(false), ...ROOT },
  run: ({ name, home, persist, root }, host) =>
    users.setField(name, { field: "home", option: "-d", value: home, move: persist }, { root, host }),
});

export const chgroups: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Set the supplementary groups of a user; append=True adds to them.",
    "user.chgroups foo wheel,root",
    "user.chgroups foo wheel,root append=True",
  ),
  permissions: "all",
  params: { name: p.str(), groups: p.any(), append: p.bool(false), ...ROOT },
  run: ({ name, groups, append, root }, context) => users.setGroups(name, names(groups), { append, root }, context),
});

function gecosFunction(name: string, part: GecosPart, what: string, example: string): ModuleFunction<JobContext> {
  return fn({
    doc: describe(`Change a user's ${what}. Return whether it has this value now.`, `user.${name} ${example}`),
    permissions: "all",
    params: { name: p.str(), [part]: p.str(), ...ROOT },
    run: (bound: Readonly<Record<string, string | null>>, host) =>
      users.setGecos(bound.name ?? "", part, bound[part] ?? "", { root: bound.root, host }),
  });
}

export const chfullname: ModuleFunction<JobContext> = gecosFunction(
  "chfullname",
  "fullname",
  "full name",
  'foo "Foo Bar"',
);
export const chroomnumber: ModuleFunction<JobContext> = gecosFunction("chroomnumber", "roomnumber", "room", "foo 123");
export const chworkphone: ModuleFunction<JobContext> = gecosFunction(
  "chworkphone",
  "workphone",
  "phone number at work",
  "foo 7735550123",
);
export const chhomephone: ModuleFunction<JobContext> = gecosFunction(
  "chhomephone",
  "homephone",
  "phone number at home",
  "foo 7735551234",
);
export const chother: ModuleFunction<JobContext> = gecosFunction(
  "chother",
  "other",
  "other information",
  'foobar "other information"',
);

export const chloginclass: ModuleFunction<JobContext> = fn({
  doc: describe("Return False: login classes exist only on BSD systems.", "user.chloginclass foo staff"),
  permissions: "all",
  params: { name: p.str(), loginclass: p.str(), ...ROOT },
  run: () => false,
});

export const get_loginclass: ModuleFunction<JobContext> = fn({
  doc: describe("Return False: login classes exist only on BSD systems.", "user.get_loginclass foo"),
  permissions: "all",
  params: { name: p.str() },
  run: () => false,
});

export const info: ModuleFunction<JobContext> = fn({
  doc: describe("Return information about a user; an empty map if there is no such user.", "user.info root"),
  permissions: "all",
  params: { name: p.str(), ...ROOT },
  async run({ name, root }, context) {
    const user = await findPasswdEntry(name, context, root);
    return user === undefined ? {} : users.shownUser(user, await groupEntries(context, root));
  },
});

export const primary_group: ModuleFunction<JobContext> = fn({
  doc: describe("Return the name of a user's primary group.", "user.primary_group saltadmin"),
  permissions: "all",
  params: { name: p.str() },
  run: ({ name }, context) => users.primaryGroup(name, context),
});

export const list_groups: ModuleFunction<JobContext> = fn({
  doc: describe("Return the names of the groups that a user is in.", "user.list_groups foo"),
  permissions: "all",
  params: { name: p.str() },
  async run({ name }, context) {
    const user = await findPasswdEntry(name, context, null);
    return user === undefined ? [] : groupNames(user, await groupEntries(context, null));
  },
});

export const list_users: ModuleFunction<JobContext> = fn({
  doc: describe("Return the names of all users, sorted.", "user.list_users"),
  permissions: "all",
  params: ROOT,
  run: async ({ root }, context) => (await passwdEntries(context, root)).map(({ name }) => name).sort(),
});

export const rename: ModuleFunction<JobContext> = fn({
  doc: describe("Rename a user. Return whether this succeeded.", "user.rename name new_name"),
  permissions: "all",
  params: { name: p.str(), new_name: p.str(), ...ROOT },
  async run({ name, new_name, root }, host) {
    if (await findPasswdEntry(new_name, host, root) !== undefined) {
      throw new CommandError(`User '${new_name}' already exists`);
    }
    const value = users.checkUserName(new_name);
    return await users.setField(name, { field: "name", option: "-l", value }, { root, host });
  },
});
