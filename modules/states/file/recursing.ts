/**
 * State module `file`: a directory with the files of one of the file server.
 * Source: Salt 3008.3 `salt/states/file.py` recurse.
 * @module
 */

import { cleanDirectory, patternsOf, requiredPaths } from "./cleaning.ts";
import { isHostError, notAbsolute, ownerOf, reasonOf, unknownOwners } from "./common.ts";
import { type RecursePlan, recursePlan, sourcesThere } from "./recurse_sources.ts";
import { normalizeMode } from "#lib/host/filesystem/ownership.ts";
import { expandUser } from "#lib/os/disk_paths.ts";
import { baseName, dirName, isAbsolute, joinPath, normalPath } from "#lib/os/paths.ts";
import { existsOrThrow, isDirectory } from "#lib/os/file_kind.ts";
import type { StateContext } from "#lib/plugins/job_context.ts";
import { type Bound, type ModuleFunction, p } from "#lib/plugins/module.ts";
import { failState, startResult, stateFn, type StateResult, stateResult } from "#lib/plugins/state_module.ts";
import { map, truthy, type Value, type ValueMap } from "#lib/values/value.ts";

/** The results of the states inside, put together as Salt does. */
class Together {
  readonly changes: ValueMap = new Map();
  readonly #comments = new Map<string, string[]>();
  result: boolean | null = true;

  /** The worst result is used: False, then None, then True. Comments are shown for results that are not True. */
  add(path: string, { result, comment, changes }: StateResult): void {
    if (result === false || this.result === true) this.result = result;
    const lines = (Array.isArray(comment) ? comment : [comment]).filter((line) => line !== "");
    if (result !== true && lines.length > 0) this.comment(path, lines);
    if (changes.size > 0) this.changes.set(path, changes);
  }

  comment(path: string, lines: readonly string[]): void {
    this.#comments.set(path, [...this.#comments.get(path) ?? [], ...lines]);
  }

  toResult(name: string): StateResult {
    const { result, changes } = this;
    const blocks = [...this.#comments].map(([path, lines]) => `\n#### ${path} ####\n${lines.join("\n")}`);
    const comment = changes.size === 0 && result === true
      ? `The directory ${name} is in the correct state`
      : blocks.join("\n").trim() || `Recursively updated ${name}`;
    return { name, result, comment, changes };
  }
}

/** Common parameters of files, directories and links. */
interface Recursing {
  readonly name: string;
  readonly clean: boolean;
  readonly replace: boolean;
  readonly file: ValueMap;
  readonly directory: ValueMap;
  readonly symlink: ValueMap;
}

/** Runs a state of this module for one path. */
async function bring(fun: string, path: string, kwargs: ValueMap, context: StateContext): Promise<StateResult> {
  return stateResult(await context.state(fun, new Map([...kwargs, ["name", path]])));
}

/**
 * Removes what is of another kind than what comes to its place.
 * @returns Whether that is yet to be done: in test mode.
 */
async function clearFor(
  path: string,
  { kind, together }: { readonly kind: "file" | "directory"; readonly together: Together },
  context: StateContext,
): Promise<boolean> {
  if (context.test) {
    const comment = kind === "file" ? `Replacing directory ${path} with a file` : `Replacing ${path} with a directory`;
    together.add(path, { ...startResult(path, null), comment });
    return true;
  }
  await context.call("file.remove", [path]);
  const diff = kind === "file" ? "Replaced directory with a new file" : "Replaced file with a directory";
  together.add(path, { ...startResult(path), changes: map({ diff }) });
  return false;
}

async function bringAll(
  plan: RecursePlan,
  { recursing, together }: { readonly recursing: Recursing; readonly together: Together },
  context: StateContext,
): Promise<void> {
  const { clean, replace } = recursing;
  for (const path of plan.directories) {
    if (baseName(path) === "..") continue;
    const other = clean && existsOrThrow(path) && !isDirectory(path);
    if (other && await clearFor(path, { kind: "directory", together }, context)) continue;
    together.add(path, await bring("file.directory", path, recursing.directory, context));
  }
  for (const [path, source] of plan.files) {
    const other = clean && replace && isDirectory(path);
    if (other && await clearFor(path, { kind: "file", together }, context)) continue;
    together.add(path, await bring("file.managed", path, new Map([...recursing.file, ["source", source]]), context));
  }
  for (const [path, target] of byDepth(plan.symlinks)) {
    together.add(path, await bring("file.symlink", path, new Map([...recursing.symlink, ["target", target]]), context));
  }
}

/** Links in an order in which one that another leads to comes first; those in a cycle come last. */
function byDepth(symlinks: ReadonlyMap<string, string>): [string, string][] {
  const left = new Map(symlinks);
  const ordered: [string, string][] = [];
  for (let before = -1; before !== left.size;) {
    before = left.size;
    for (const [path, target] of left) {
      if (left.has(normalPath(joinPath(dirName(path), target)))) continue;
      ordered.push([path, target]);
      left.delete(path);
    }
  }
  return [...ordered, ...left];
}

/** Arguments of states that each of them has for itself here. */
const OWN_ARGUMENTS = ["mode", "makedirs", "env", "owner"];

const RECURSE = {
  name: p.str(),
  source: p.any(),
  keep_source: p.any(true),
  clean: p.any(false),
  require: p.any(null),
  user: p.any(null),
  group: p.any(null),
  dir_mode: p.any(null),
  file_mode: p.any(null),
  sym_mode: p.any(null),
  template: p.any(null),
  context: p.any(null),
  replace: p.any(true),
  defaults: p.any(null),
  include_empty: p.any(false),
  backup: p.any(""),
  include_pat: p.any(null),
  exclude_pat: p.any(null),
  maxdepth: p.any(null),
  keep_symlinks: p.any(false),
  force_symlinks: p.any(false),
  win_owner: p.any(null),
  win_perms: p.any(null),
  win_deny_perms: p.any(null),
  win_inheritance: p.any(true),
  merge: p.any(false),
};

export const recurse: ModuleFunction<StateContext> = stateFn({
  doc: `Make sure that a directory has the files of a directory on the file server.

name
    The absolute path of the directory.

source
    A \`salt://\` directory, or a list of them, of which the first that exists is used, or with \`merge\` all.

keep_source : True
    Whether the copies in the cache stay.

clean : False
    Whether all else in the directory is removed, but what states manage that this one requires, and what \`exclude_pat\` has.

user, group
    Owner and group of all that is made.

dir_mode, file_mode, sym_mode
    Modes of directories and of files, which may be \`keep\` for those of the file server, and of directories above links.

template, context, defaults
    The template engine that the files go through, and its variables.

replace : True
    Whether contents that differ are replaced.

include_empty : False
    Whether empty directories are made.

backup
    \`minion\` keeps old files below the cache's \`file_backup\`.

include_pat, exclude_pat
    Globs, or regular expressions behind \`E@\`, of paths below the source.

maxdepth
    How many directories deep to go; 0 is the source alone.

keep_symlinks : False
    Whether links of the file server become links.

force_symlinks : False
    Whether links replace existing files.

merge : False
    Whether the files of all sources come together; of those with the same path the first counts.

Further arguments are those of file.managed, for each file.

win_owner, win_perms, win_deny_perms, win_inheritance
    For Windows; ignored.`,
  params: RECURSE,
  varKwargs: "kwargs",
  // Those of file.managed, for each file.
  keywords: [
    ...["env", "mode", "owner", "makedirs", "attrs", "show_changes", "encoding", "encoding_errors", "follow_symlinks"],
    ...["check_cmd", "skip_verify", "selinux", "tmp_dir", "tmp_ext", "verify_ssl"],
  ],
  run: async (given, context, { kwargs }) => {
    const name = expandUser(given.name);
    if (kwargs.has("mode")) {
      return failState(name, "'mode' is not allowed in 'file.recurse'. Please use 'file_mode' and 'dir_mode'.");
    }
    const user = ownerOf(given.user, kwargs, context);
    const { group } = given;
    const unknown = await unknownOwners(user, group, context) || (isAbsolute(name) ? "" : notAbsolute(name));
    if (unknown !== "") return failState(name, unknown);
    let sources: string[];
    try {
      sources = await sourcesThere(given.source, context);
    } catch (error) {
      if (!isHostError(error)) throw error;
      return failState(name, `Recurse failed: ${reasonOf(error)}`);
    }
    const dirMode = normalizeMode(given.dir_mode);
    if (!isDirectory(name)) {
      if (existsOrThrow(name)) return failState(name, `The path ${name} exists and is not a directory`);
      if (!context.test) await context.call("file.makedirs_perms", [name], map({ user, group, mode: dirMode }));
    }
    const plan = await recursePlan({
      name,
      sources,
      keepSymlinks: truthy(given.keep_symlinks),
      includePat: patternsOf(given.include_pat),
      excludePat: patternsOf(given.exclude_pat),
      maxdepth: given.maxdepth,
      includeEmpty: truthy(given.include_empty),
      merge: truthy(given.merge),
    }, context);
    const recursing = recursingOf({ ...given, name, user, dirMode }, kwargs);
    const together = new Together();
    await bringAll(plan, { recursing, together }, context);
    if (recursing.clean) {
      const keep = [...plan.keep, ...await requiredPaths(name, given.require, context)];
      const removed = await cleanDirectory({ root: name, keep, excludePat: patternsOf(given.exclude_pat) }, context);
      if (removed.length > 0) noteRemoved(removed, together, context);
    }
    return together.toResult(name);
  },
});

/** How the files, directories and links are made. */
function recursingOf(
  given: Omit<Bound<typeof RECURSE>, "name" | "user"> & {
    readonly name: string;
    readonly user: Value;
    readonly dirMode: Value;
  },
  kwargs: ValueMap,
): Recursing {
  const { name, user, group, backup, template, context, defaults, keep_source, replace, dirMode } = given;
  const mode = fileMode(given.file_mode);
  const file = { keep_source, user, group, mode, template, makedirs: true, replace, context, defaults, backup };
  return {
    name,
    clean: truthy(given.clean),
    replace: truthy(replace),
    file: new Map([...[...kwargs].filter(([key]) => !OWN_ARGUMENTS.some((own) => own === key)), ...map(file)]),
    directory: map({ user, group, recurse: [], dir_mode: dirMode, makedirs: true }),
    symlink: map({ user, group, makedirs: true, force: truthy(given.force_symlinks), mode: given.sym_mode }),
  };
}

function fileMode(mode: Value): Value {
  return typeof mode === "string" && mode.toLowerCase() === "keep" ? "keep" : normalizeMode(mode);
}

function noteRemoved(removed: readonly string[], together: Together, { test }: StateContext): void {
  if (!test) together.changes.set("removed", [...removed]);
  else {
    if (together.result === true) together.result = null;
    together.comment("removed", removed);
  }
}
