/**
 * State module `file`: a directory, whose it is, and with `recurse` whose all in it is.
 * Source: Salt 3008.3 `salt/states/file.py` directory.
 * @module
 */

import { renameHeld } from "#lib/os/held_path.ts";
import { cleanDirectory, patternsOf, requiredPaths } from "./cleaning.ts";
import { isHostError, makeDirectoriesAbove, notAbsolute, ownerOf, reasonOf, unknownOwners } from "./common.ts";
import { checkDirectory, type DirectoryOptions, limitOptions, readRecurse, walkedTo } from "./directory_check.ts";
import { permissionResult } from "./permissions.ts";
import { CommandError } from "#lib/errors.ts";
import { normalizeMode } from "#lib/host/filesystem/ownership.ts";
import { expandUser, isLink } from "#lib/os/disk_paths.ts";
import { dirName, isAbsolute, joinPath } from "#lib/os/paths.ts";
import { isDirectory, isFile, lexists } from "#lib/os/file_kind.ts";
import type { StateContext } from "#lib/plugins/job_context.ts";
import { type ModuleFunction, p } from "#lib/plugins/module.ts";
import { failState, startResult, stateFn, type StateResult } from "#lib/plugins/state_module.ts";
import { isInt, map, str, truthy, type Value } from "#lib/values/value.ts";

/** What to do with something that is not a directory, or with a link to one. */
interface InTheWay {
  readonly name: string;
  readonly force: boolean;
  readonly backupname: string | null;
  readonly allowSymlink: boolean;
}

/**
 * Removes what is in the way.
 * @returns A result, if the state ends here; the actions are in `ret.changes`.
 */
async function makeWay(
  { name, force, backupname }: InTheWay,
  ret: StateResult,
  context: StateContext,
): Promise<StateResult | undefined> {
  if (backupname !== null) {
    if (lexists(backupname)) {
      if (!force) {
        return { ...ret, result: false, comment: `File exists where the backup target ${backupname} should go` };
      }
      if (context.test) ret.changes.set("forced", `Existing file at backup path ${backupname} would be removed`);
      else await context.call("file.remove", [backupname]);
    }
    if (context.test) {
      ret.changes.set("backup", `${name} would be renamed to ${backupname}`);
      ret.changes.set(name, map({ directory: "new" }));
      return { ...ret, result: null, comment: `${name} would be backed up and replaced with a new directory` };
    }
    renameHeld(name, backupname);
    return undefined;
  }
  const word = isFile(name) ? "File" : "Symlink";
  if (!force) {
    const what = word === "File" ? "a file" : "a symlink";
    return { ...ret, result: false, comment: `Specified location ${name} exists and is ${what}` };
  }
  ret.changes.set("forced", `${word} ${context.test ? "would be" : "was"} forcibly replaced`);
  if (!context.test) await context.call("file.remove", [name]);
  return undefined;
}

/** Makes the directory. */
async function makeNew(
  { name, user, group, dirMode }: DirectoryOptions,
  { makedirs, ret }: { readonly makedirs: boolean; readonly ret: StateResult },
  context: StateContext,
): Promise<StateResult> {
  if (!isDirectory(dirName(name))) {
    if (!makedirs) return { ...ret, result: false, comment: `No directory to create ${name} in` };
    await makeDirectoriesAbove(name, { user, group, mode: dirMode }, context);
  }
  await context.call("file.mkdir", [name], map({ user, group, mode: dirMode }));
  if (!isDirectory(name)) return { ...ret, result: false, comment: `Failed to create directory ${name}` };
  ret.changes.set(name, map({ directory: "new" }));
  return ret;
}

/** Why an owner or a group of all in the directory cannot be brought about. */
async function recursionProblems(
  { user, group }: DirectoryOptions,
  words: ReadonlySet<string>,
  context: StateContext,
): Promise<string[]> {
  const problems: string[] = [];
  const isGiven = (owner: Value) => truthy(owner) || isInt(owner);
  const unspecifiedText = (what: string) =>
    `${what} not specified, but configured as a target for recursive ownership management`;
  if (words.has("user")) {
    if (!isGiven(user)) problems.push(unspecifiedText("user"));
    else if (await context.call("file.user_to_uid", [user]) === "") {
      problems.push(`Failed to enforce ownership for user ${str(user)} (user does not exist)`);
    }
  }
  if (words.has("group")) {
    if (!isGiven(group)) problems.push(unspecifiedText("group"));
    else if (await context.call("file.group_to_gid", [group]) === "") {
      problems.push(`Failed to enforce group ownership for group ${str(group)}`);
    }
  }
  return problems;
}

/**
 * Brings all below the directory to what `recurse` says.
 * @returns The result, and what could not be done.
 */
async function recurseInto(
  wanted: DirectoryOptions,
  ret: StateResult,
  context: StateContext,
): Promise<{ readonly ret: StateResult; readonly errors: string[] }> {
  const { words } = wanted;
  let now = ret;
  const problem = (await recursionProblems(wanted, words, context)).at(-1);
  if (problem !== undefined) now = { ...now, result: false, comment: problem };
  if (words.has("silent")) now = { ...now, changes: map({ recursion: "Changes silenced" }) };
  const { user, group, dirMode, fileMode } = limitOptions(wanted, words);
  const errors: string[] = [];
  const bring = async (path: string, mode: Value) => {
    const permissions = { user, group, mode, follow: wanted.follow };
    try {
      now = (await permissionResult(now, { path, wanted: permissions }, context)).ret;
    } catch (error) {
      if (!isHostError(error)) throw error;
      // What is gone by now needs no owner.
      if (!reasonOf(error).startsWith("Path not found")) errors.push(reasonOf(error));
    }
  };
  for (const { path: at, directories, files } of walkedTo(wanted.name, wanted.maxDepth)) {
    for (const file of words.has("ignore_files") ? [] : files) await bring(joinPath(at, file), fileMode);
    for (const directory of words.has("ignore_dirs") ? [] : directories) await bring(joinPath(at, directory), dirMode);
  }
  return { ret: now, errors };
}

/** Changes an existing directory to the wanted state. */
async function change(wanted: DirectoryOptions, start: StateResult, context: StateContext): Promise<StateResult> {
  const { name, childrenOnly } = wanted;
  let ret = start;
  if (!childrenOnly) {
    const { user, group, dirMode: mode, follow } = wanted;
    ret = (await permissionResult(ret, { path: name, wanted: { user, group, mode, follow } }, context)).ret;
  }
  let errors: string[] = [];
  if (wanted.words.size > 0) ({ ret, errors } = await recurseInto(wanted, ret, context));
  if (wanted.clean) {
    const keep = await requiredPaths(name, wanted.require, context);
    const removed = await cleanDirectory({ root: name, keep, excludePat: patternsOf(wanted.excludePat) }, context);
    if (removed.length > 0) {
      ret.changes.set("removed", removed);
      ret = { ...ret, comment: `Files cleaned from directory ${name}` };
    }
  }
  if (ret.comment.length === 0) {
    if (childrenOnly) ret = { ...ret, comment: `Directory ${name}/* updated` };
    else if (ret.changes.size > 0) ret = { ...ret, comment: `Directory ${name} updated` };
  }
  if (ret.changes.size === 0 && ret.result === true) {
    const more = ret.comment.length === 0 ? "" : `\n${ret.comment}`;
    ret = { ...ret, comment: `Directory ${name} is in the correct state${more}` };
  }
  if (errors.length === 0) return ret;
  const list = errors.map((error) => `\n- ${error}`).join("");
  return { ...ret, result: false, comment: `${ret.comment}\n\nThe following errors were encountered:\n${list}` };
}

export const directory: ModuleFunction<StateContext> = stateFn({
  doc: `Make sure that a directory exists, with this owner and mode; with \`recurse\`, they apply to its contents too.

name
    The absolute path.

user, group
    Owner and group, by name or number.

recurse
    A list of what applies to everything below the directory too: \`user\`, \`group\`, \`mode\`. \`ignore_files\` and \`ignore_dirs\` exclude those;
    with \`silent\`, the changes do not list them.

max_depth
    How many directories deep \`recurse\` goes.

dir_mode, file_mode
    Modes of directories and of files; \`mode\` is another name of \`dir_mode\`. Default of \`file_mode\`: \`dir_mode\`.

makedirs : False
    Whether to create the parent directories.

clean : False
    Whether all in the directory is removed, but what states manage that this one requires, and what \`exclude_pat\` has.

exclude_pat
    Globs, or regular expressions behind \`E@\`, of paths below the directory.

follow_symlinks : False
    Whether links are followed.

force : False
    Whether a file, or a link, at the path is removed.

backupname
    The path that an existing file is renamed to instead.

allow_symlink : True
    Whether the path may be a link to a directory.

children_only : False
    Whether the directory itself is left unchanged.

win_owner, win_perms, win_deny_perms, win_inheritance, win_perms_reset
    For Windows; ignored.`,
  params: {
    name: p.str(),
    user: p.any(null),
    group: p.any(null),
    recurse: p.any(null),
    max_depth: p.any(null),
    dir_mode: p.any(null),
    file_mode: p.any(null),
    makedirs: p.any(false),
    clean: p.any(false),
    require: p.any(null),
    exclude_pat: p.any(null),
    follow_symlinks: p.bool(false),
    force: p.any(false),
    backupname: p.str(null),
    allow_symlink: p.any(true),
    children_only: p.any(false),
    win_owner: p.any(null),
    win_perms: p.any(null),
    win_deny_perms: p.any(null),
    win_inheritance: p.any(true),
    win_perms_reset: p.any(false),
  },
  varKwargs: "kwargs",
  keywords: ["owner", "mode"],
  run: async (given, context, { kwargs }) => {
    const shown = expandUser(given.name);
    if (shown === "") return failState(shown, "Must provide name to file.directory");
    const name = shown.endsWith("/") && shown !== "/" ? shown.slice(0, -1) : shown;
    if (given.max_depth !== null && truthy(given.clean)) {
      return failState(shown, "Cannot specify both max_depth and clean");
    }
    const user = ownerOf(given.user, kwargs, context);
    const { group } = given;
    const dirMode = truthy(given.dir_mode) ? given.dir_mode : kwargs.get("mode") ?? given.dir_mode;
    const problem = await unknownOwners(user, group, context) || (isAbsolute(name) ? "" : notAbsolute(name));
    if (problem !== "") return failState(shown, problem);
    let words: ReadonlySet<string>;
    try {
      // Before a file makes way for the directory.
      words = readRecurse(given.recurse);
    } catch (error) {
      if (!(error instanceof CommandError)) throw error;
      return failState(shown, error.message);
    }
    const ret = startResult(shown);
    const force = truthy(given.force), allowSymlink = truthy(given.allow_symlink);
    if (isFile(name) || ((!allowSymlink || force) && isLink(name))) {
      const stopped = await makeWay({ name, force, backupname: given.backupname, allowSymlink }, ret, context);
      if (stopped !== undefined) return stopped;
    }
    const wanted: DirectoryOptions = {
      name,
      user,
      group,
      dirMode: normalizeMode(dirMode),
      fileMode: normalizeMode(truthy(given.file_mode) ? given.file_mode : dirMode),
      words,
      maxDepth: given.max_depth,
      clean: truthy(given.clean),
      require: given.require,
      excludePat: given.exclude_pat,
      follow: given.follow_symlinks,
      childrenOnly: truthy(given.children_only),
    };
    const planned = await checkDirectory(wanted, context);
    for (const [path, difference] of planned.changes) ret.changes.set(path, difference);
    if (context.test || ret.changes.size === 0) {
      return { ...ret, result: planned.result, comment: planned.comment };
    }
    if (!isDirectory(name)) return await makeNew(wanted, { makedirs: truthy(given.makedirs), ret }, context);
    return await change(wanted, ret, context);
  },
});
