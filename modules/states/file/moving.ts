/**
 * State module `file`: copies and renames files of this host.
 * Source: Salt 3008.3 `salt/states/file.py` copy_, rename.
 * @module
 */

import { inDirectoryOf } from "#lib/os/held_path.ts";
import { defaultOwners, isHostError, makeDirectoriesAbove, notAbsolute, ownerOf, unknownOwners } from "./common.ts";
import { permissionResult } from "./permissions.ts";
import { hashFile } from "#lib/host/filesystem/checksums.ts";
import { directoryMode } from "#lib/host/filesystem/ownership.ts";
import { expandUser, linkTarget, walk } from "#lib/os/disk_paths.ts";
import { baseName, dirName, expandVariables, isAbsolute, joinPath } from "#lib/os/paths.ts";
import { copyTree, copyWithMode, moveAny } from "#lib/host/filesystem/trees.ts";
import { existsOrThrow, isDirectory, isFile, lexists } from "#lib/os/file_kind.ts";
import type { StateContext } from "#lib/plugins/job_context.ts";
import { type ModuleFunction, p } from "#lib/plugins/module.ts";
import { failState, startResult, stateFn, type StateResult } from "#lib/plugins/state_module.ts";
import { map, type Value } from "#lib/values/value.ts";

/** The directory that a file goes into is not there. */
function noDirectory(name: string, directory: string): StateResult {
  return failState(name, `The target directory ${directory} is not present`);
}

interface Copy {
  readonly name: string;
  readonly source: string;
  readonly user: Value;
  readonly group: Value;
  readonly mode: Value;
  readonly preserve: boolean;
}

/** Copies a file with its mode, or a tree with modes and times, and gives the copy its owner. */
async function copyInto({ name, source, user, group }: Copy, context: StateContext): Promise<void> {
  if (!isDirectory(source)) return copyWithMode(source, name);
  copyTree(source, name, { links: true });
  for (const { path, directories, files } of walk(name)) {
    for (const each of [...directories, ...files]) {
      await context.call("file.lchown", [joinPath(path, each), user, group]);
    }
  }
}

export const copy: ModuleFunction<StateContext> = stateFn({
  doc: `Copy a file or directory on this host, unless the target exists.

name
    The absolute path of the copy.

source
    What is copied.

force : False
    Whether to replace what is there.

makedirs : False
    Whether to make the directories above it, with \`dir_mode\`, or with the mode of the file and the right to enter.

preserve : False
    Whether the copy keeps owner, group and mode of the source.

user, group, mode
    Owner, group and mode of the copy. Default: the minion's user and group, and the mode of the source.

subdir : False
    Whether the copy goes into \`name\` if that is a directory.`,
  params: {
    name: p.str(),
    source: p.str(),
    force: p.bool(false),
    makedirs: p.bool(false),
    preserve: p.bool(false),
    user: p.any(null),
    group: p.any(null),
    mode: p.any(null),
    dir_mode: p.any(null),
    subdir: p.bool(false),
  },
  varKwargs: "kwargs",
  keywords: ["owner"],
  run: async ({ name: givenName, source: givenSource, ...given }, context, { kwargs }) => {
    let name = expandUser(givenName);
    const path = name;
    const source = expandUser(givenSource);
    if (name === "") return failState(path, "Must provide name to file.copy");
    if (!isAbsolute(name)) return failState(path, notAbsolute(name));
    if (!existsOrThrow(source)) return failState(path, `Source file "${source}" is not present`);
    let { user, group, mode } = given;
    if (given.preserve) {
      [user, group, mode] = [
        await context.call("file.get_user", [source]),
        await context.call("file.get_group", [source]),
        await context.call("file.get_mode", [source]),
      ];
    } else {
      ({ user, group } = defaultOwners(ownerOf(user, kwargs, context), group, context));
      const unknown = await unknownOwners(user, group, context);
      if (unknown !== "") return failState(path, unknown);
      mode ??= await context.call("file.get_mode", [source]);
    }
    if (isDirectory(name) && given.subdir) name = joinPath(name, baseName(source));
    let comment = `Copied "${source}" to "${path}"`;
    const there = lexists(name);
    if (there && given.force && isFile(name) && isFile(source) && same(name, source)) {
      comment += " - files are identical but force flag is set";
    }
    if (context.test) {
      return there && !given.force
        ? { ...startResult(path), comment: `The target file "${name}" exists and will not be overwritten` }
        : { ...startResult(path, null), comment: `File "${source}" is set to be copied to "${name}"` };
    }
    if (there && !given.force) {
      return { ...startResult(path), comment: `The target file "${name}" exists and will not be overwritten` };
    }
    if (there) await context.call("file.remove", [name], map({ force: true }));
    const directory = dirName(name);
    if (!isDirectory(directory)) {
      if (!given.makedirs) return noDirectory(path, directory);
      const dirMode = given.dir_mode ?? (mode === null ? null : directoryMode(mode));
      await makeDirectoriesAbove(name, { user, group, mode: dirMode }, context);
    }
    const request: Copy = { name, source, user, group, mode, preserve: given.preserve };
    try {
      await copyInto(request, context);
      const ret: StateResult = { ...startResult(path), comment, changes: map({ [name]: source }) };
      if (request.preserve) return ret;
      return (await permissionResult(ret, { path: name, wanted: { user, group, mode } }, context)).ret;
    } catch (error) {
      if (!isHostError(error)) throw error;
      return failState(path, `Failed to copy "${source}" to "${name}"`);
    }
  },
});

function same(one: string, other: string): boolean {
  return hashFile(one, "sha256") === hashFile(other, "sha256");
}

export const rename: ModuleFunction<StateContext> = stateFn({
  doc: `Rename a file or directory. A missing source counts as already renamed.

name
    The new absolute path.

source
    What is renamed.

force : False
    Whether to replace what is there.

makedirs : False
    Whether to create the parent directories.`,
  params: { name: p.str(), source: p.str(), force: p.bool(false), makedirs: p.bool(false) },
  varKwargs: "kwargs",
  keywords: [],
  run: async ({ name: givenName, source: givenSource, force, makedirs }, context) => {
    const name = expandVariables(expandUser(givenName));
    const source = expandVariables(expandUser(givenSource));
    const ret = startResult(name);
    if (name === "") return failState(name, "Must provide name to file.rename");
    if (!isAbsolute(name)) return failState(name, notAbsolute(name));
    if (!lexists(source)) {
      return { ...ret, comment: `Source file "${source}" has already been moved out of place` };
    }
    if (lexists(name)) {
      if (!force) return { ...ret, comment: `The target file "${name}" exists and will not be overwritten` };
      if (!context.test) await context.call("file.remove", [name]);
    }
    if (context.test) return { ...ret, result: null, comment: `File "${source}" is set to be moved to "${name}"` };
    const directory = dirName(name);
    if (!isDirectory(directory)) {
      if (!makedirs) return noDirectory(name, directory);
      await makeDirectoriesAbove(name, {}, context);
    }
    try {
      move(source, name);
    } catch (error) {
      if (!isHostError(error)) throw error;
      return failState(name, `Failed to move "${source}" to "${name}"`);
    }
    return { ...ret, comment: `Moved "${source}" to "${name}"`, changes: map({ [name]: source }) };
  },
});

function move(source: string, name: string): void {
  const target = linkTarget(source);
  if (target === undefined) return moveAny(source, name);
  inDirectoryOf(name, (directory, entry) => Deno.symlinkSync(target, directory.at(entry)));
  inDirectoryOf(source, (directory, entry) => Deno.removeSync(directory.at(entry)));
}
