/**
 * The plan of `file.recurse`: the files, directories and links of the file server, with their paths on the host.
 * Source: Salt 3008.3 `salt/states/file.py` _filter_recurse_sources, _gen_recurse_managed_files.
 * @module
 */

import { rstripChars, stripChars } from "#lib/values/python_text.ts";
import { textList } from "./common.ts";
import { saltenvOf } from "#modules/states/_saltenv.ts";
import { CommandError } from "#lib/errors.ts";
import { pathChooser, type Patterns } from "#lib/files/client/include_exclude.ts";
import { createSaltUrl, splitSaltUrl } from "#lib/files/backends/salt_url.ts";
import { dirName, joinPath, normalPath, relativePath } from "#lib/os/paths.ts";
import type { StateContext } from "#lib/plugins/job_context.ts";
import { listOrEmpty } from "#lib/values/shape.ts";
import { isMap, str, toNumber, type Value } from "#lib/values/value.ts";

/**
 * The directories of the file server among `sources`.
 * @throws {CommandError} If there is none, or one is no `salt://`.
 */
export async function sourcesThere(sources: Value, context: StateContext): Promise<string[]> {
  const listed = textList(sources).map((source) => rstripChars(source, "/"));
  const wrong = listed.find((source) => !source.startsWith("salt://"));
  if (wrong !== undefined) throw new CommandError(`Invalid source '${wrong}' (must be a salt:// URI)`);
  const key = `file.recurse ${saltenvOf(context)} ${listed.join(" ")}`;
  const paths = context.shared.get(key);
  if (Array.isArray(paths)) return paths.map(String);
  const there: string[] = [];
  const directories = new Map<string, ReadonlySet<Value>>();
  for (const source of listed) {
    const { path, saltenv = saltenvOf(context) } = splitSaltUrl(source);
    if (!directories.has(saltenv)) {
      directories.set(saltenv, new Set(await listing("cp.list_master_dirs", saltenv, "", context)));
    }
    if (directories.get(saltenv)?.has(path)) there.push(source);
  }
  if (there.length === 0) throw new CommandError("none of the specified sources were found");
  context.shared.set(key, there);
  return there;
}

async function listing(fun: string, saltenv: string, prefix: string, context: StateContext): Promise<string[]> {
  return listOrEmpty(await context.call(fun, [saltenv, prefix])).map(str);
}

/** The requested files. */
export interface RecurseRequest {
  /** The directory that they come into. */
  readonly name: string;
  readonly sources: readonly string[];
  /** Whether links of the file server become links. */
  readonly keepSymlinks: boolean;
  readonly includePat: Patterns;
  readonly excludePat: Patterns;
  /** How many directories deep. */
  readonly maxdepth: Value;
  /** Whether empty directories are made. */
  readonly includeEmpty: boolean;
  /** Whether all sources count; of files with the same path the first. Without it the first source alone counts. */
  readonly merge: boolean;
}

/** The plan, in the order of the file server. */
export interface RecursePlan {
  /** Path and URL. */
  readonly files: ReadonlyMap<string, string>;
  /** The directories right above files, and empty ones. */
  readonly directories: ReadonlySet<string>;
  /** Path of a link and what it says. */
  readonly symlinks: ReadonlyMap<string, string>;
  /** All paths that are managed. */
  readonly keep: ReadonlySet<string>;
}

/** Asks the file server. */
export async function recursePlan(request: RecurseRequest, context: StateContext): Promise<RecursePlan> {
  const collected = new Collected(request);
  for (const source of request.merge ? request.sources : request.sources.slice(0, 1)) {
    const { path, saltenv = saltenvOf(context) } = splitSaltUrl(source);
    const root = path.endsWith("/") ? path : `${path}/`;
    const list = (fun: string) => listing(fun, saltenv, root, context);
    const files = await list("cp.list_master");
    const links = request.keepSymlinks ? await context.call("cp.list_master_symlinks", [saltenv, root]) : null;
    const plain = isMap(links) ? collected.addLinks(files, links, root) : files;
    for (const file of plain) collected.addFile(file, root, saltenv);
    if (request.includeEmpty) {
      for (const each of await list("cp.list_master_dirs")) collected.addDirectory(each, root);
    } else if (request.keepSymlinks) collected.dropDangling(new Set(await list("cp.list_master_dirs")), root);
  }
  return collected;
}

/** Whether a path stays below where it begins, and is not deeper than it may be. */
function isValid(path: string, maxdepth: Value): boolean {
  if (`/${path}/`.includes("/../")) return false;
  const depth = toNumber(maxdepth);
  return depth === undefined || stripChars(path, "/").split("/").length - 1 <= depth;
}

class Collected implements RecursePlan {
  readonly files = new Map<string, string>();
  readonly directories = new Set<string>();
  readonly symlinks = new Map<string, string>();
  readonly keep = new Set<string>();
  /** All directories above files, with those that are empty. */
  readonly #above = new Set<string>();
  /** Links to directories that became files of another source. */
  readonly #ignored = new Set<string>();
  readonly #request: RecurseRequest;
  readonly #chosen: (path: string) => boolean;

  constructor(request: RecurseRequest) {
    this.#request = request;
    this.#chosen = pathChooser(request.includePat, request.excludePat);
  }

  /** Where a path of the file server comes to; `undefined` if it is left out. */
  #destination(path: string, root: string): string | undefined {
    if (path.trim() === "") return undefined;
    const relative = path.startsWith(root) && path.length > root.length
      ? path.slice(root.length)
      : relativePath(`/${path}`, `/${root}`);
    if (!isValid(relative, this.#request.maxdepth) || !this.#chosen(relative)) return undefined;
    return joinPath(this.#request.name, normalPath(relative));
  }

  /** Whether a source before has something at a path or above it. */
  #isOccupied(path: string): boolean {
    if (this.#above.has(path)) return true;
    for (let at = path;; at = dirName(at)) {
      if (this.files.has(at) || this.symlinks.has(at)) return true;
      if (at === dirName(at)) return false;
    }
  }

  addFile(file: string, root: string, saltenv: string): void {
    const path = this.#destination(file, root);
    if (path === undefined || this.#isOccupied(path)) return;
    this.keep.add(path);
    this.directories.add(dirName(path));
    for (let at = dirName(path); !this.#above.has(at); at = dirName(at)) this.#above.add(at);
    this.files.set(path, createSaltUrl(file, saltenv));
  }

  addDirectory(directory: string, root: string): void {
    const path = this.#destination(directory, root);
    if (path === undefined || this.#ignored.has(path) || this.#isOccupied(path)) return;
    this.directories.add(path);
    this.#above.add(path);
    this.keep.add(path);
  }

  /**
   * Takes links, and what the file server lists below them, out of `files`.
   * @returns The other files.
   */
  addLinks(files: readonly string[], links: ReadonlyMap<Value, Value>, root: string): string[] {
    let left = [...files];
    for (const [link, target] of [...links].map((pair) => pair.map(str))) {
      const led = left.some((file) => file.startsWith(`${link}/`));
      left = left.filter((file) => file !== link && !file.startsWith(`${link}/`));
      const path = this.#destination(link, root);
      if (path === undefined || this.#isOccupied(path)) continue;
      const leadsTo = normalPath(joinPath(dirName(path), target));
      // A link to a directory of this source may be one to a file of another, and the other way round: then it is left
      // out.
      if (led && this.files.has(leadsTo)) {
        this.#ignored.add(path);
        continue;
      }
      if (!led && this.directories.has(leadsTo)) continue;
      this.symlinks.set(path, target);
      this.keep.add(path);
    }
    return left;
  }

  /** Leaves out links to directories that are empty, and links to those links. */
  dropDangling(directories: ReadonlySet<string>, root: string): void {
    for (let before = -1; before !== this.symlinks.size;) {
      before = this.symlinks.size;
      for (const [path, target] of [...this.symlinks]) {
        if (!directories.has(normalPath(joinPath(root, target)))) continue;
        const leadsTo = normalPath(joinPath(this.#request.name, normalPath(target)));
        if (this.files.has(leadsTo) || this.#above.has(leadsTo) || this.symlinks.has(leadsTo)) continue;
        this.symlinks.delete(path);
      }
    }
  }
}
