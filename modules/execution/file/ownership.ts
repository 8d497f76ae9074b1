/**
 * The functions of the module `file` for owners, modes, attributes and SELinux contexts. The logic is in
 * `lib/host/filesystem`. Source: the functions of Salt 3008.3 `salt/modules/file.py`.
 * @module
 */

import { fileHost, runTool } from "#modules/execution/_file_host.ts";
import { InvocationError } from "#lib/errors.ts";
import {
  changeAttributes,
  listAttributes,
  selinuxContext,
  setSelinuxContext,
} from "#lib/host/filesystem/attributes.ts";
import { changeOwner, gidToGroup, groupToGid, setMode, uidToUser, userToUid } from "#lib/host/filesystem/ownership.ts";
import { fileStatus } from "#lib/host/filesystem/status.ts";
import { expandUser } from "#lib/os/disk_paths.ts";
import { describe } from "#lib/plugins/docs.ts";
import { fn, type JobContext } from "#lib/plugins/job_context.ts";
import { type ModuleFunction, p } from "#lib/plugins/module.ts";
import { isInt, str, truthy } from "#lib/values/value.ts";

const FOLLOW = { path: p.str(), follow_symlinks: p.bool(true) };

export const get_uid: ModuleFunction<JobContext> = fn({
  doc: describe("Return the number of a file's owner.", "file.get_uid /etc/passwd"),
  permissions: "all",
  params: FOLLOW,
  run: ({ path, follow_symlinks: follow }) => fileStatus(expandUser(path), { follow }).uid,
});

export const get_gid: ModuleFunction<JobContext> = fn({
  doc: describe("Return the number of a file's group.", "file.get_gid /etc/passwd"),
  permissions: "all",
  params: FOLLOW,
  run: ({ path, follow_symlinks: follow }) => fileStatus(expandUser(path), { follow }).gid,
});

export const get_user: ModuleFunction<JobContext> = fn({
  doc: describe("Return the name of a file's owner.", "file.get_user /etc/passwd"),
  permissions: "all",
  params: FOLLOW,
  run: ({ path, follow_symlinks: follow }) => fileStatus(expandUser(path), { follow }).user,
});

export const get_group: ModuleFunction<JobContext> = fn({
  doc: describe("Return the name of a file's group.", "file.get_group /etc/passwd"),
  permissions: "all",
  params: FOLLOW,
  run: ({ path, follow_symlinks: follow }) => fileStatus(expandUser(path), { follow }).group,
});

export const get_mode: ModuleFunction<JobContext> = fn({
  doc: describe("Return a file's mode: four octal digits.", "file.get_mode /etc/passwd"),
  permissions: "all",
  params: FOLLOW,
  run: ({ path, follow_symlinks: follow }) => fileStatus(expandUser(path), { follow }).mode,
});

/** Permissions for looking up users and groups: the files, and `getent` for those of a directory service. */
const LOOK_UP = { read: ["/etc/passwd", "/etc/group"], run: ["getent"], sys: ["uid"] } as const;

export const gid_to_group: ModuleFunction<JobContext> = fn({
  doc: describe("Return the name of the group of a number, or the number if there is none.", "file.gid_to_group 0"),
  permissions: LOOK_UP,
  params: { gid: p.any() },
  run: ({ gid }) => {
    const number = typeof gid === "string" && /^\s*\d+\s*$/.test(gid)
      ? Number(gid)
      : isInt(gid)
      ? gid
      : groupToGid(gid);
    return typeof number === "number" ? gidToGroup(number) : number;
  },
});

export const group_to_gid: ModuleFunction<JobContext> = fn({
  doc: describe("Return the number of a group; empty text if there is none.", "file.group_to_gid root"),
  permissions: LOOK_UP,
  params: { group: p.any() },
  run: ({ group }) => groupToGid(group),
});

export const uid_to_user: ModuleFunction<JobContext> = fn({
  doc: describe("Return the name of the user of a number, or the number if there is none.", "file.uid_to_user 0"),
  permissions: LOOK_UP,
  params: { uid: p.int() },
  run: ({ uid }) => uidToUser(uid),
});

export const user_to_uid: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Return the number of a user, of the minion's own for None; empty text if there is none.",
    "file.user_to_uid root",
  ),
  permissions: LOOK_UP,
  params: { user: p.any() },
  run: ({ user }) => userToUid(user),
});

export const set_mode: ModuleFunction<JobContext> = fn({
  doc: describe("Set the mode of a file, and return it.", "file.set_mode /etc/passwd 0644"),
  permissions: "all",
  params: { path: p.str(), mode: p.any() },
  run: ({ path, mode }) => setMode(expandUser(path), mode),
});

export const chown: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Set the owner and group of a file, or of what a link leads to. Returns None, or what is wrong.",
    "file.chown /etc/passwd root root",
  ),
  permissions: "all",
  params: { path: p.str(), user: p.any(), group: p.any() },
  run: ({ path, user, group }) => changeOwner(expandUser(path), { user, group }),
});

export const lchown: ModuleFunction<JobContext> = fn({
  doc: describe("Set the owner and group of a file, or of a link itself.", "file.lchown /etc/passwd root root"),
  permissions: "all",
  params: { path: p.str(), user: p.any(), group: p.any() },
  run: ({ path, user, group }) => changeOwner(expandUser(path), { user, group, link: true }),
});

export const chgrp: ModuleFunction<JobContext> = fn({
  doc: describe("Set the group of a file.", "file.chgrp /etc/passwd root"),
  permissions: "all",
  params: { path: p.str(), group: p.any() },
  run: ({ path, group }) => changeOwner(expandUser(path), { user: fileStatus(expandUser(path)).user, group }),
});

export const lsattr: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Return the attributes that `lsattr` lists, by file; None where there is no `lsattr`.",
    "file.lsattr foo1.txt",
  ),
  permissions: "all",
  params: { path: p.str() },
  run: ({ path }, context) => listAttributes(path, fileHost(context)),
});

export const chattr: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Add or remove attributes of files with `chattr`. `operator` is add or remove, `attributes` are letters of " +
      "aAcCdDeijPsStTu, `flags` options of the program, `version` the file's version. Returns whether it succeeded.",
    "file.chattr foo1.txt foo2.txt operator=add attributes=ai",
    "file.chattr foo3.txt operator=remove attributes=i version=2",
  ),
  permissions: "all",
  params: {},
  varArgs: "files",
  varKwargs: "kwargs",
  run: (_bound, context, { args, kwargs }) => {
    const operator = kwargs.get("operator") ?? null, attributes = kwargs.get("attributes") ?? null;
    if (operator !== "add" && operator !== "remove") {
      throw new InvocationError("Need an operator: 'add' or 'remove' to modify attributes.");
    }
    if (attributes === null) throw new InvocationError("Need attributes: [aAcCdDeijPsStTu]");
    const optional = (name: string) => truthy(kwargs.get(name)) ? str(kwargs.get(name) ?? null) : undefined;
    return changeAttributes(args.map(str), {
      operator,
      attributes: str(attributes),
      flags: optional("flags"),
      version: optional("version"),
    }, fileHost(context));
  },
});

export const restorecon: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Reset the SELinux context of a file, or, with `recursive`, of a tree.",
    "file.restorecon /home/user/.ssh/authorized_keys",
  ),
  permissions: "all",
  params: { path: p.str(), recursive: p.bool(false) },
  run: async ({ path, recursive }, context) =>
    (await runTool(context, ["restorecon", recursive ? "-FR" : "-F", path])).retcode === 0,
});

export const get_selinux_context: ModuleFunction<JobContext> = fn({
  doc: describe("Return the SELinux context of a file.", "file.get_selinux_context /etc/hosts"),
  permissions: "all",
  params: { path: p.str() },
  run: ({ path }, context) => selinuxContext(path, fileHost(context)),
});

export const set_selinux_context: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Set parts of the SELinux context of a file, and return it. `persist` needs the module `selinux` and is refused " +
      "without it.",
    "file.set_selinux_context path user=system_u",
  ),
  permissions: "all",
  params: {
    path: p.str(),
    user: p.str(null),
    role: p.str(null),
    type: p.str(null),
    range: p.str(null),
    persist: p.bool(false),
  },
  run: async ({ path, user, role, type, range, persist }, context) => {
    if (!user && !role && !type && !range) return false;
    const host = fileHost(context);
    if (persist) await host.addFileContext(path, { user, type, range });
    return await setSelinuxContext(path, { user, role, type, range }, host);
  },
});
