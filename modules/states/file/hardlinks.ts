/**
 * State module `file`: hard links.
 * Source: Salt 3008.3 `salt/states/file.py` hardlink.
 * @module
 */

import { defaultOwners, isHostError, makeDirectoriesAbove, notAbsolute, ownerOf, reasonOf } from "./common.ts";
import { checkLink, type LinkPlan, problemsBefore } from "./link_plans.ts";
import { normalizeMode } from "#lib/host/filesystem/ownership.ts";
import { expandUser } from "#lib/os/disk_paths.ts";
import { dirName, isAbsolute } from "#lib/os/paths.ts";
import { inDirectoryOf } from "#lib/os/held_path.ts";
import { existsOrThrow, isDirectory, isFile } from "#lib/os/file_kind.ts";
import type { StateContext } from "#lib/plugins/job_context.ts";
import { type ModuleFunction, p } from "#lib/plugins/module.ts";
import { failState, startResult, stateFn, type StateResult } from "#lib/plugins/state_module.ts";
import { isMap, map, type Value, type ValueMap } from "#lib/values/value.ts";

async function sameInode(name: string, target: string, context: StateContext): Promise<boolean> {
  const inode = async (path: string): Promise<Value> => {
    const stats = await context.call("file.stats", [path, null], map({ follow_symlinks: false }));
    return isMap(stats) ? stats.get("inode") ?? null : null;
  };
  return await inode(name) === await inode(target);
}

async function isHardLink(path: string, context: StateContext): Promise<boolean> {
  return await context.call("file.is_hardlink", [path]) === true;
}

async function planHardLink(
  { name, target, force }: { readonly name: string; readonly target: string; readonly force: boolean },
  context: StateContext,
): Promise<LinkPlan> {
  if (!existsOrThrow(target)) return checkLink(false, `Target ${target} for hard link does not exist`);
  if (isDirectory(target)) return checkLink(false, `Unable to hard link from directory ${target}`);
  if (isDirectory(name)) return checkLink(false, `Unable to hard link to directory ${name}`);
  if (!existsOrThrow(name)) return checkLink(null, `Hard link ${name} to ${target} is set for creation`, { new: name });
  if (await isHardLink(name, context)) {
    // The typing error is Salt's.
    if (await sameInode(name, target, context)) {
      return checkLink(true, `The hard link ${name} is presently targetting ${target}`);
    }
    return checkLink(null, `Link ${name} target is set to be changed to ${target}`, { change: name });
  }
  return force
    ? checkLink(
      null,
      `The file or directory ${name} is set for removal to make way for a new hard link targeting ${target}`,
    )
    : checkLink(false, `File or directory exists where the hard link ${name} should be. Did you mean to use force?`);
}

/** @returns Why there is no link; `undefined` if it was made. */
async function makeHardLink(name: string, target: string, context: StateContext): Promise<string | undefined> {
  try {
    await context.call("file.link", [target, name]);
    return undefined;
  } catch (error) {
    if (!isHostError(error)) throw error;
    return `${name} -> ${target}: ${reasonOf(error)}`;
  }
}

export const hardlink: ModuleFunction<StateContext> = stateFn({
  doc: `Make sure that a path is a hard link to a file.

name
    The absolute path of the link.

target
    The absolute path of the file.

force : False
    Whether to replace an existing file that is no hard link.

makedirs : False
    Whether to create the parent directories.

user, group
    Owner and group of created directories. Default: the minion's user, and that user's group.

dir_mode
    The mode of created directories.`,
  params: {
    name: p.str(),
    target: p.str(),
    force: p.bool(false),
    makedirs: p.bool(false),
    user: p.any(null),
    group: p.any(null),
    dir_mode: p.any(null),
  },
  varKwargs: "kwargs",
  keywords: ["owner"],
  run: async ({ name: givenName, target, force, makedirs, dir_mode, ...given }, context, { kwargs }) => {
    const name = expandUser(givenName);
    if (name === "") return failState(name, "Must provide name to file.hardlink");
    const owner = defaultOwners(ownerOf(given.user, kwargs, context), given.group, context);
    const problem = await problemsBefore({
      ...owner,
      more: [
        ...isAbsolute(name) ? [] : [notAbsolute(name)],
        ...isAbsolute(target) ? [] : [`Specified target ${target} is not an absolute path`],
      ],
    }, context);
    if (problem !== "") return failState(name, problem);
    if (context.test) return { name, ...await planHardLink({ name, target, force }, context) };
    for (const [direction, path] of [["to", name], ["from", target]]) {
      if (isDirectory(path)) return failState(name, `Unable to hard link ${direction} directory ${path}`);
    }
    if (!existsOrThrow(target)) return failState(name, `Target ${target} for hard link does not exist`);
    const directory = dirName(name);
    if (!isDirectory(directory)) {
      if (!makedirs) return failState(name, `Directory ${directory} for hard link is not present`);
      await makeDirectoriesAbove(name, { ...owner, mode: normalizeMode(dir_mode) }, context);
    }
    const changes: ValueMap = new Map();
    if (isFile(name) && !await isHardLink(name, context)) {
      if (!force) return failState(name, `File exists where the hard link ${name} should be`);
      inDirectoryOf(name, (held, entry) => Deno.removeSync(held.at(entry)));
      changes.set("forced", "File for hard link was forcibly replaced");
    }
    return await putHardLink({ name, target, changes }, context);
  },
});

async function putHardLink(
  { name, target, changes }: { readonly name: string; readonly target: string; readonly changes: ValueMap },
  context: StateContext,
): Promise<StateResult> {
  const ret: StateResult = { ...startResult(name), changes };
  if (await isHardLink(name, context)) {
    if (await sameInode(name, target, context)) {
      return { ...ret, comment: `Target of hard link ${name} is already pointing to ${target}` };
    }
    inDirectoryOf(name, (held, entry) => Deno.removeSync(held.at(entry)));
    const problem = await makeHardLink(name, target, context);
    if (problem !== undefined) return failState(name, `Unable to set target of hard link ${problem}`, changes);
    changes.set("new", name);
    return { ...ret, comment: `Set target of hard link ${name} -> ${target}` };
  }
  if (existsOrThrow(name)) return ret;
  const problem = await makeHardLink(name, target, context);
  if (problem !== undefined) return failState(name, `Unable to create new hard link ${problem}`, changes);
  changes.set("new", name);
  return { ...ret, comment: `Created new hard link ${name} -> ${target}` };
}
