/**
 * The differences of a directory, and with `recurse` of its contents, from the wanted state. Source: Salt 3008.3
 * `salt/states/file.py` _check_directory, _check_dir_meta, _get_recurse_set, _depth_limited_walk.
 * @module
 */

import { rstripChars } from "#lib/values/python_text.ts";
import { cleaner, patternsOf, requiredPaths } from "./cleaning.ts";
import { isHostError } from "./common.ts";
import { CommandError } from "#lib/errors.ts";
import { normalizeMode } from "#lib/host/filesystem/ownership.ts";
import { walk, type WalkedDirectory } from "#lib/os/disk_paths.ts";
import { joinPath } from "#lib/os/paths.ts";
import { isDirectory } from "#lib/os/file_kind.ts";
import type { StateContext } from "#lib/plugins/job_context.ts";
import type { StateResult } from "#lib/plugins/state_module.ts";
import { mapOrEmpty } from "#lib/values/shape.ts";
import { map, str, truthy, type Value, type ValueMap } from "#lib/values/value.ts";

/** The wanted state of a directory. */
export interface DirectoryOptions {
  readonly name: string;
  readonly user: Value;
  readonly group: Value;
  readonly dirMode: string | null;
  readonly fileMode: string | null;
  /** What is brought about below the directory too, as {@linkcode readRecurse} reads it. */
  readonly words: ReadonlySet<string>;
  readonly maxDepth: Value;
  readonly clean: boolean;
  readonly require: Value;
  readonly excludePat: Value;
  readonly follow: boolean;
  /** Whether the directory itself is left unchanged. */
  readonly childrenOnly: boolean;
}

const RECURSE_TYPES = ["user", "group", "mode", "ignore_files", "ignore_dirs", "silent"];

/**
 * The words of `recurse`; none for None.
 * @throws {CommandError} If it is not a list of them.
 */
export function readRecurse(recurse: Value): ReadonlySet<string> {
  if (!truthy(recurse)) return new Set();
  if (!Array.isArray(recurse)) throw new CommandError('"recurse" must be formed as a list of strings');
  const words = new Set(recurse.map(str));
  if ([...words].some((word) => !RECURSE_TYPES.includes(word))) {
    const types = RECURSE_TYPES.map((type) => `"${type}"`).join(", ");
    throw new CommandError(`Types for "recurse" limited to ${types}.`);
  }
  if (words.has("ignore_files") && words.has("ignore_dirs")) {
    throw new CommandError('Must not specify "recurse" options "ignore_files" and "ignore_dirs" at the same time.');
  }
  return words;
}

function depthOf(path: string): number {
  return rstripChars(path, "/").split("/").length;
}

/** The directories from `top` on that are not deeper than `maxDepth`: 1 is `top` alone. */
export function walkedTo(top: string, maxDepth: Value): WalkedDirectory[] {
  const deepest = maxDepth === null ? Infinity : Number(str(maxDepth));
  return [...walk(top)].filter(({ path }) => depthOf(path) - depthOf(top) < deepest);
}

/** The wanted owner and mode of a file, link or directory. */
interface Meta {
  readonly user: Value;
  readonly group: Value;
  readonly mode: string | null;
}

async function statsOf(path: string, follow: boolean, context: StateContext): Promise<ValueMap> {
  return mapOrEmpty(await context.call("file.stats", [path, null, follow]));
}

function metaChanges(stats: ValueMap, { user, group, mode }: Meta, follow: boolean): ValueMap {
  const changes: ValueMap = new Map();
  const differs = (wanted: Value, ...keys: string[]) =>
    wanted !== null && keys.every((key) => stats.get(key) !== wanted);
  if (differs(user, "user", "uid")) changes.set("user", user);
  if (differs(group, "group", "gid")) changes.set("group", group);
  // A link has no mode of its own on Linux.
  const hasMode = follow || stats.get("type") !== "link";
  if (hasMode && mode !== null && mode !== normalizeMode(stats.get("mode") ?? null)) changes.set("mode", mode);
  return changes;
}

async function directoryChanges(
  path: string,
  { meta, follow }: { readonly meta: Meta; readonly follow: boolean },
  context: StateContext,
): Promise<ValueMap> {
  try {
    return metaChanges(await statsOf(path, follow, context), meta, follow);
  } catch (error) {
    if (!isHostError(error)) throw error;
    return map({ directory: "new" });
  }
}

/** What would change, by path: the result, comment and changes of test mode. */
export async function checkDirectory(
  wanted: DirectoryOptions,
  context: StateContext,
): Promise<Pick<StateResult, "result" | "comment" | "changes">> {
  const { name, follow, words } = wanted;
  const changes = new Map<string, ValueMap>();
  const note = (path: string, difference: ValueMap) => {
    if (difference.size > 0) changes.set(path, difference);
  };
  const recursing = words.size > 0;
  const walked = recursing || wanted.clean ? walkedTo(name, wanted.maxDepth) : [];
  const effective = recursing ? { ...wanted, ...limitOptions(wanted, words) } : wanted;
  const own = { user: effective.user, group: effective.group };
  if (recursing) {
    for (const { path: at, directories, files } of walked) {
      for (const file of words.has("ignore_files") ? [] : files) {
        const path = joinPath(at, file);
        note(path, metaChanges(await statsOf(path, follow, context), { ...own, mode: effective.fileMode }, follow));
      }
      for (const directory of words.has("ignore_dirs") ? [] : directories) {
        const path = joinPath(at, directory);
        note(path, await directoryChanges(path, { meta: { ...own, mode: effective.dirMode }, follow }, context));
      }
    }
  }
  if (!wanted.childrenOnly) {
    note(name, await directoryChanges(name, { meta: { ...own, mode: effective.dirMode }, follow }, context));
  }
  if (wanted.clean) {
    for (const path of await junkOf(wanted, walked, context)) {
      changes.set(path, map({ removed: "Removed due to clean" }));
    }
  }
  if (!isDirectory(name)) changes.set(name, map({ directory: "new" }));
  if (changes.size === 0) {
    return { result: true, comment: `The directory ${name} is in the correct state`, changes: new Map() };
  }
  const lines = [...changes].flatMap(([path, difference]) =>
    [...difference].map(([key, value]) => `${path}: ${str(key)} - ${str(value)}\n`)
  );
  return {
    result: null,
    comment: ["The following files will be changed:\n", ...lines].join(""),
    changes: new Map(changes),
  };
}

/**
 * What `recurse` leaves of owner and modes: for all below the directory, and as in Salt for the directory itself in
 * this check.
 */
export function limitOptions(
  { user, group, dirMode, fileMode }: Pick<DirectoryOptions, "user" | "group" | "dirMode" | "fileMode">,
  words: ReadonlySet<string>,
): Pick<DirectoryOptions, "user" | "group" | "dirMode" | "fileMode"> {
  return {
    user: words.has("user") ? user : null,
    group: words.has("group") ? group : null,
    dirMode: words.has("mode") ? dirMode : null,
    fileMode: words.has("mode") ? fileMode : null,
  };
}

/** What the directory is to be cleaned of. */
async function junkOf(
  { name, require, excludePat }: DirectoryOptions,
  walked: readonly WalkedDirectory[],
  context: StateContext,
): Promise<string[]> {
  const keep = await requiredPaths(name, require, context);
  const isJunk = cleaner({ root: name, keep, excludePat: patternsOf(excludePat) });
  return walked.flatMap(({ path, directories, files }) =>
    [...files, ...directories].map((each) => joinPath(path, each)).filter(isJunk)
  );
}
