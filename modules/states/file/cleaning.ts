/**
 * Cleaning of a directory: removes everything that neither this state nor one that it requires manages. Source: Salt
 * 3008.3 `salt/states/file.py` _gen_keep_files, _find_keep_files, _clean_dir.
 * @module
 */

import { textList } from "./common.ts";
import { recursePlan, sourcesThere } from "./recurse_sources.ts";
import { CommandError } from "#lib/errors.ts";
import { pathChooser, type Patterns } from "#lib/files/client/include_exclude.ts";
import { walk } from "#lib/os/disk_paths.ts";
import { absolutePath, dirName, joinPath, relativePath } from "#lib/os/paths.ts";
import { isDirectory } from "#lib/os/file_kind.ts";
import type { StateContext } from "#lib/plugins/job_context.ts";
import { listOrEmpty } from "#lib/values/shape.ts";
import { isMap, str, truthy, type Value, type ValueMap } from "#lib/values/value.ts";

/** An argument with patterns of paths: a text, or a list of them. */
export function patternsOf(given: Value): Patterns {
  return truthy(given) ? textList(given) : undefined;
}

function isBelow(path: string, directory: string): boolean {
  return !relativePath(path, directory).startsWith("..");
}

/** A directory with all in it. */
function wholeTree(top: string): string[] {
  const paths = [top];
  for (const { path, directories, files } of walk(top)) {
    for (const name of [...directories, ...files]) paths.push(joinPath(path, name));
  }
  return paths;
}

/** The low chunks of this module that `require` names, by name or id. */
function requiredChunks(require: Value, chunks: readonly ValueMap[]): ValueMap[] {
  const names = listOrEmpty(require).filter(isMap).flatMap((one) => {
    const name = one.get("file");
    return name === undefined ? [] : [str(name)];
  });
  return chunks.filter((low) =>
    names.some((name) => ["name", "__id__"].some((key) => str(low.get(key) ?? "") === name))
  );
}

/** The paths that the states which `require` names manage below `name`, or anywhere if they are files. */
export async function requiredPaths(name: string, require: Value, context: StateContext): Promise<string[]> {
  const kept: string[] = [];
  for (const low of requiredChunks(require, context.chunks)) {
    const path = str(low.get("name") ?? "");
    if (!isDirectory(path)) kept.push(path);
    else if (!isBelow(path, name)) continue;
    else if (low.get("fun") === "recurse") kept.push(...await recursedPaths(low, context));
    else kept.push(...wholeTree(path));
  }
  return kept;
}

/** The paths that a `file.recurse` manages. */
async function recursedPaths(low: ValueMap, context: StateContext): Promise<string[]> {
  try {
    const sources = await sourcesThere(low.get("source") ?? [], context);
    const plan = await recursePlan({
      name: str(low.get("name") ?? ""),
      sources,
      keepSymlinks: truthy(low.get("keep_symlinks")),
      includePat: patternsOf(low.get("include_pat") ?? null),
      excludePat: patternsOf(low.get("exclude_pat") ?? null),
      maxdepth: low.get("maxdepth") ?? null,
      includeEmpty: truthy(low.get("include_empty")),
      merge: truthy(low.get("merge")),
    }, context);
    return [...plan.keep];
  } catch (error) {
    if (error instanceof CommandError) return [];
    throw error;
  }
}

/** The paths that are kept below a directory, with all directories above them. */
function keptPaths(root: string, keep: Iterable<string>): ReadonlySet<string> {
  const kept = new Set([root]);
  for (const path of keep) {
    if (!path.startsWith("/")) continue;
    for (let at = absolutePath(path); !kept.has(at); at = dirName(at)) kept.add(at);
  }
  return kept;
}

/** The parameters of a cleaning. */
export interface Cleaning {
  readonly root: string;
  readonly keep: Iterable<string>;
  /** What stays as well: patterns of paths relative to the directory. */
  readonly excludePat: Patterns;
}

/** A test for paths below a directory: whether it is cleaned of them. */
export function cleaner({ root, keep, excludePat }: Cleaning): (path: string) => boolean {
  const kept = keptPaths(root, keep);
  const chosen = pathChooser(undefined, excludePat);
  return (path) => !kept.has(path) && chosen(relativePath(path, root));
}

/**
 * Removes from a directory what is not kept; in test mode nothing.
 * @returns What was removed, or would be.
 */
export async function cleanDirectory(cleaning: Cleaning, context: StateContext): Promise<string[]> {
  const isJunk = cleaner(cleaning);
  const removed: string[] = [];
  for (const { path: at, directories, files } of walk(cleaning.root)) {
    for (const name of [...directories, ...files]) {
      const path = joinPath(at, name);
      if (!isJunk(path)) continue;
      removed.push(path);
      if (!context.test) await context.call("file.remove", [path]);
    }
  }
  return removed;
}
