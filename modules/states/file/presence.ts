/**
 * State module `file`: whether there is something at a path, and an empty file there.
 * Source: Salt 3008.3 `salt/states/file.py` absent, exists, missing, touch, pruned.
 * @module
 */

import { isHostError, makeDirectoriesAbove, notAbsolute, reasonOf } from "./common.ts";
import { expandUser, isLink } from "#lib/os/disk_paths.ts";
import { dirName, isAbsolute } from "#lib/os/paths.ts";
import { existsOrThrow, isDirectory, isFile } from "#lib/os/file_kind.ts";
import type { StateContext } from "#lib/plugins/job_context.ts";
import { type ModuleFunction, p } from "#lib/plugins/module.ts";
import { failState, startResult, stateFn, type StateResult } from "#lib/plugins/state_module.ts";
import { compareStrings, isMap, map, str, truthy, type Value } from "#lib/values/value.ts";

export const absent: ModuleFunction<StateContext> = stateFn({
  doc: "Make sure that a path does not exist: a file or link is removed, a directory with its contents.\n\n" +
    "name\n    The absolute path.",
  params: { name: p.str() },
  varKwargs: "kwargs",
  run: async ({ name: given }, context) => {
    const name = expandUser(given);
    if (name === "") return failState(name, "Must provide name to file.absent");
    if (!isAbsolute(name)) return failState(name, notAbsolute(name));
    if (name === "/") return failState(name, 'Refusing to make "/" absent');
    const word = isFile(name) || isLink(name) ? "file" : isDirectory(name) ? "directory" : undefined;
    if (word === undefined) return { ...startResult(name), comment: `File ${name} is not present` };
    const changes = map({ removed: name });
    if (context.test) {
      const title = word === "file" ? "File" : "Directory";
      return { name, result: null, comment: `${title} ${name} is set for removal`, changes };
    }
    try {
      await context.call("file.remove", [name], map({ force: true }));
    } catch (error) {
      if (!isHostError(error)) throw error;
      return failState(name, reasonOf(error));
    }
    return { name, result: true, comment: `Removed ${word} ${name}`, changes };
  },
});

export const exists: ModuleFunction<StateContext> = stateFn({
  doc: "Check that a path exists.\n\nname\n    The absolute path.",
  params: { name: p.str() },
  varKwargs: "kwargs",
  run: ({ name: given }) => {
    const name = expandUser(given);
    if (name === "") return failState(name, "Must provide name to file.exists");
    if (!existsOrThrow(name)) return failState(name, `Specified path ${name} does not exist`);
    return { ...startResult(name), comment: `Path ${name} exists` };
  },
});

export const missing: ModuleFunction<StateContext> = stateFn({
  doc: "Check that a path does not exist.\n\nname\n    The absolute path.",
  params: { name: p.str() },
  varKwargs: "kwargs",
  run: ({ name: given }) => {
    const name = expandUser(given);
    if (name === "") return failState(name, "Must provide name to file.missing");
    if (existsOrThrow(name)) return failState(name, `Specified path ${name} exists`);
    return { ...startResult(name), comment: `Path ${name} is missing` };
  },
});

async function wouldTouch(
  name: string,
  { atime, mtime }: { readonly atime: Value; readonly mtime: Value },
  context: StateContext,
): Promise<StateResult> {
  const planned = { name, result: null, changes: map({ new: name }) };
  if (!existsOrThrow(name)) return { ...planned, comment: `File ${name} is set to be created` };
  const stats = await context.call("file.stats", [name], map({ follow_symlinks: false }));
  const differs = (wanted: Value, key: string) =>
    wanted !== null && (!isMap(stats) || str(wanted) !== str(stats.get(key) ?? null));
  if (differs(atime, "atime") || differs(mtime, "mtime")) {
    return { ...planned, comment: `Times set to be updated on file ${name}`, changes: map({ touched: name }) };
  }
  // Salt reports the name as new here, although nothing is to be done.
  return { ...planned, result: true, comment: `File ${name} exists and has the correct times` };
}

export const touch: ModuleFunction<StateContext> = stateFn({
  doc: `Create an empty file unless it exists, and set its times; each run changes them.

name
    The absolute path.

atime, mtime
    Times in seconds since the epoch. Default: now.

makedirs : False
    Whether to create the parent directories.`,
  params: { name: p.str(), atime: p.any(null), mtime: p.any(null), makedirs: p.bool(false) },
  run: async ({ name: given, atime, mtime, makedirs }, context) => {
    const name = expandUser(given);
    if (name === "") return failState(name, "Must provide name to file.touch");
    if (!isAbsolute(name)) return failState(name, notAbsolute(name));
    if (context.test) return await wouldTouch(name, { atime, mtime }, context);
    if (makedirs) await makeDirectoriesAbove(name, {}, context);
    if (!isDirectory(dirName(name))) return failState(name, `Directory not present to touch file ${name}`);
    const extant = existsOrThrow(name);
    const done = truthy(await context.call("file.touch", [name, atime, mtime]));
    if (!done) return failState(name, "");
    if (!extant) return { ...startResult(name), comment: `Created empty file ${name}`, changes: map({ new: name }) };
    const kind = isDirectory(name) ? "directory" : "file";
    return { ...startResult(name), comment: `Updated times on ${kind} ${name}`, changes: map({ touched: name }) };
  },
});

export const pruned: ModuleFunction<StateContext> = stateFn({
  doc: `Remove a directory if it is empty, or, with \`recurse\`, the empty directories in it.

name
    The absolute path.

recurse : False
    Whether to go into the directory.

ignore_errors : False
    Whether directories that cannot be removed are no failure; implies \`recurse\`.

older_than
    Only directories that were not changed for so many days.`,
  params: { name: p.str(), recurse: p.bool(false), ignore_errors: p.bool(false), older_than: p.any(null) },
  run: async ({ name: given, recurse: recurses, ignore_errors: ignores, older_than }, context) => {
    const name = expandUser(given);
    const recurse = recurses || ignores;
    if (!isDirectory(name)) return { ...startResult(name), comment: `Directory ${name} is not present` };
    if (context.test) {
      const changes = map({ deleted: name });
      return { name, result: null, comment: `Directory ${name} is set for removal`, changes };
    }
    const done = await context.call("file.rmdir", [name], map({ recurse, verbose: true, older_than }));
    if (!isMap(done)) throw new TypeError("file.rmdir returns a dict with verbose");
    const deleted = (Array.isArray(done.get("deleted")) ? done.get("deleted") as Value[] : []).map(str);
    const result = truthy(done.get("result"));
    const recursively: StateResult = {
      ...startResult(name),
      comment: `Recursively removed empty directories under ${name}`,
      changes: map({ deleted: deleted.toSorted(compareStrings) }),
    };
    if (result) {
      if (recurse && deleted.length > 0) return recursively;
      if (recurse) return startResult(name);
      return { ...startResult(name), comment: `Removed directory ${name}`, changes: map({ deleted: name }) };
    }
    if (ignores && deleted.length > 0) return recursively;
    const changes = new Map([...done].filter(([key]) => key !== "result"));
    return failState(name, `Failed to remove directory ${name}`, changes);
  },
});
