/**
 * State module `file`: symbolic links.
 * Source: Salt 3008.3 `salt/states/file.py` symlink.
 * @module
 */

import { defaultOwners, isHostError, makeDirectoriesAbove, notAbsolute, ownerOf, reasonOf } from "./common.ts";
import { checkLink, type LinkPlan, problemsBefore } from "./link_plans.ts";
import { normalizeMode } from "#lib/host/filesystem/ownership.ts";
import { expandUser, linkTarget } from "#lib/os/disk_paths.ts";
import { baseName, dirName, isAbsolute, joinPath, normalPath } from "#lib/os/paths.ts";
import { existsOrThrow, isDirectory, isFile, lexists } from "#lib/os/file_kind.ts";
import type { StateContext } from "#lib/plugins/job_context.ts";
import { type ModuleFunction, p } from "#lib/plugins/module.ts";
import { failState, startResult, stateFn, type StateResult } from "#lib/plugins/state_module.ts";
import { map, str, type Value } from "#lib/values/value.ts";

interface LinkOwner {
  readonly user: Value;
  readonly group: Value;
}

async function ownerOfLink(path: string, context: StateContext): Promise<LinkOwner> {
  const kwargs = map({ follow_symlinks: false });
  return {
    user: await context.call("file.get_user", [path], kwargs),
    group: await context.call("file.get_group", [path], kwargs),
  };
}

async function isOwnedBy(path: string, { user, group }: LinkOwner, context: StateContext): Promise<boolean> {
  const now = await ownerOfLink(path, context);
  return now.user === user && now.group === group;
}

/**
 * Gives a link its owner.
 * @returns Whether it has it then.
 */
async function giveLink(path: string, owner: LinkOwner, context: StateContext): Promise<boolean> {
  try {
    await context.call("file.lchown", [path, owner.user, owner.group]);
  } catch (error) {
    if (!isHostError(error)) throw error;
  }
  return await isOwnedBy(path, owner, context);
}

/** A symbolic link that is wanted. */
interface Wanted extends LinkOwner {
  readonly name: string;
  readonly target: string;
  readonly force: boolean;
  readonly atomic: boolean;
  readonly follow: boolean;
  readonly backupname: string | null;
  readonly disallowCopy: boolean;
}

/** Whether there is something at the link's place. */
function isOccupied({ name, follow }: Wanted): boolean {
  return follow ? existsOrThrow(name) : lexists(name);
}

async function planLink(wanted: Wanted, context: StateContext): Promise<LinkPlan> {
  const { name, target, user, group } = wanted;
  const old = linkTarget(name);
  if (old === undefined && !isOccupied(wanted)) {
    return checkLink(null, `Symlink ${name} to ${target} is set for creation`, { new: name });
  }
  if (old === undefined) {
    return wanted.force
      ? checkLink(
        null,
        `The file or directory ${name} is set for removal to make way for a new symlink targeting ${target}`,
      )
      : checkLink(
        false,
        `File or directory exists where the symlink ${name} should be. Did you mean to use force?`,
      );
  }
  if (old !== target) {
    return checkLink(null, `Link ${name} target is set to be changed to ${target}`, { change: name });
  }
  const comment = `The symlink ${name} is present`;
  const now = await ownerOfLink(name, context);
  if (now.user === user && now.group === group) return checkLink(true, comment);
  const has = `${str(now.user)}:${str(now.group)}`;
  return checkLink(
    null,
    `${comment}, but the ownership of the symlink would be changed from ${has} to ${str(user)}:${str(group)}`,
    { ownership: has },
  );
}

/**
 * Removes what is at a link's place.
 * @returns The error; `undefined`: none.
 */
async function clearPlace(wanted: Wanted, context: StateContext): Promise<string | undefined> {
  const { name, force, atomic } = wanted;
  if (wanted.backupname === null) {
    if (force || atomic) return undefined;
    const kind = isFile(name) ? "File" : isDirectory(name) ? "Directory" : "File system entry";
    return `${kind} exists where the symlink ${name} should be`;
  }
  let backup = wanted.backupname;
  if (!isAbsolute(backup)) {
    if (backup !== baseName(backup)) return `Backupname must be an absolute path or a file name: ${backup}`;
    backup = joinPath(dirName(normalPath(name)), backup);
  }
  if (lexists(backup)) {
    if (!force) {
      return `Symlink & backup dest exists and Force not set. ${name} -> ${wanted.target} - backup: ${backup}`;
    }
    await context.call("file.remove", [backup]);
  }
  try {
    await context.call("file.move", [name, backup], map({ disallow_copy_and_unlink: wanted.disallowCopy }));
  } catch (error) {
    if (!isHostError(error)) throw error;
    return `Unable to rename ${name} to backup ${backup} -> : ${reasonOf(error)}`;
  }
  return undefined;
}

/** A link with the right target: only its owner is set. */
async function keepLink({ name, user, group }: Wanted, context: StateContext): Promise<StateResult> {
  const owner = `${str(user)}:${str(group)}`;
  if (await isOwnedBy(name, { user, group }, context)) {
    return { ...startResult(name), comment: `Symlink ${name} is present and owned by ${owner}` };
  }
  if (!await giveLink(name, { user, group }, context)) {
    return failState(name, `Failed to set ownership of symlink ${name} to ${owner}`);
  }
  return {
    ...startResult(name),
    comment: `Set ownership of symlink ${name} to ${owner}`,
    changes: map({ ownership: owner }),
  };
}

async function makeLink(wanted: Wanted, context: StateContext): Promise<StateResult> {
  const { name, target, force, atomic, follow } = wanted;
  try {
    await context.call("file.symlink", [target, name], map({ force, atomic, follow_symlinks: follow }));
  } catch (error) {
    if (!isHostError(error)) throw error;
    return failState(name, `Unable to create new symlink ${name} -> ${target}: ${reasonOf(error)}`);
  }
  const ret: StateResult = {
    ...startResult(name),
    comment: `Created new symlink ${name} -> ${target}`,
    changes: map({ new: name }),
  };
  if (await isOwnedBy(name, wanted, context) || await giveLink(name, wanted, context)) return ret;
  return {
    ...ret,
    result: false,
    comment: `${ret.comment}, but was unable to set ownership to ${str(wanted.user)}:${str(wanted.group)}`,
  };
}

export const symlink: ModuleFunction<StateContext> = stateFn({
  doc: `Make sure that a path is a symbolic link with this target, owner and group.

name
    The absolute path of the link.

target
    The target of the link.

force : False
    Whether to remove an existing file that is no link.

backupname
    The path, or the name in the link's directory, that an existing file is renamed to instead.

makedirs : False
    Whether to create the parent directories.

user, group
    Owner and group of the link. Default: the minion's user, and that user's group.

mode
    The mode of directories that \`makedirs\` makes.

atomic : False
    Whether an existing file is replaced atomically.

disallow_copy_and_unlink : False
    Whether a backup may be a rename only, and no copy to another file system.

inherit_user_and_group : False
    Whether an existing link keeps its owner and group unless they are given.

follow_symlinks : True
    Whether a dangling link counts as missing.

win_owner, win_perms, win_deny_perms, win_inheritance
    For Windows; ignored.`,
  params: {
    name: p.str(),
    target: p.str(),
    force: p.bool(false),
    backupname: p.str(null),
    makedirs: p.bool(false),
    user: p.any(null),
    group: p.any(null),
    mode: p.any(null),
    win_owner: p.any(null),
    win_perms: p.any(null),
    win_deny_perms: p.any(null),
    win_inheritance: p.any(null),
    atomic: p.bool(false),
    disallow_copy_and_unlink: p.bool(false),
    inherit_user_and_group: p.bool(false),
    follow_symlinks: p.bool(true),
  },
  varKwargs: "kwargs",
  keywords: ["owner"],
  run: async ({ name: givenName, target, makedirs, mode, ...given }, context, { kwargs }) => {
    const name = expandUser(givenName);
    if (name === "") return failState(name, "Must provide name to file.symlink");
    let requestedOwner: LinkOwner = { user: ownerOf(given.user, kwargs, context), group: given.group };
    if (
      given.inherit_user_and_group && (requestedOwner.user === null || requestedOwner.group === null) &&
      linkTarget(name) !== undefined
    ) {
      const now = await ownerOfLink(name, context);
      requestedOwner = { user: requestedOwner.user ?? now.user, group: requestedOwner.group ?? now.group };
    }
    const owner = defaultOwners(requestedOwner.user, requestedOwner.group, context);
    const problem = await problemsBefore({ ...owner, more: isAbsolute(name) ? [] : [notAbsolute(name)] }, context);
    if (problem !== "") return failState(name, problem);
    const wanted: Wanted = {
      ...owner,
      name,
      target,
      force: given.force,
      atomic: given.atomic,
      follow: given.follow_symlinks,
      backupname: given.backupname,
      disallowCopy: given.disallow_copy_and_unlink,
    };
    const directory = dirName(name);
    const planned = await planLink(wanted, context);
    let { comment } = planned;
    if (!isDirectory(directory)) {
      if (context.test) {
        comment += makedirs ? `\n${directory} will be created` : `\nDirectory ${directory} for symlink is not present`;
      } else if (makedirs) {
        await makeDirectoriesAbove(name, { ...owner, mode: normalizeMode(mode) }, context);
      } else {
        return failState(name, `Directory ${directory} for symlink is not present`);
      }
    }
    if (context.test) return { name, ...planned, comment };
    const old = linkTarget(name);
    if (old !== undefined && normalPath(old) === normalPath(target)) return await keepLink(wanted, context);
    if (old !== undefined) await context.call("file.remove", [name]);
    else if (isOccupied(wanted)) {
      const refused = await clearPlace(wanted, context);
      if (refused !== undefined) return failState(name, refused);
    }
    return await makeLink(wanted, context);
  },
});
