/**
 * The lists of all files, directories, empty directories and links below some directories, like Salt's backend `roots`.
 * The disk is read without blocking the thread. Source: the results of Salt 3008.3 `salt/fileserver/roots.py`
 * _file_lists.
 * @module
 */

import { StoreError } from "#lib/errors.ts";
import { dirName, relativePath } from "#lib/os/paths.ts";
import { compareStrings } from "#lib/values/value.ts";
import type { FileLists } from "#lib/plugins/file_backend.ts";
import { followLinks } from "./safe_path.ts";

/** Which files are listed. */
export interface WalkRules {
  /** Whether links to directories are entered. */
  readonly follow: boolean;
  /** Whether links are left out of the lists. */
  readonly withoutLinks: boolean;
  /** Whether a path, relative to its root, is left out. */
  ignores(path: string): boolean;
}

/** Maximum number of entries of an environment. */
const MAX_ENTRIES = 2_000_000;

/** A visited directory: its path below the root, its real path, and the real paths of its parents. */
interface Place {
  readonly rel: string;
  readonly real: string;
  readonly above?: Place;
}

interface Found {
  readonly files: Set<string>;
  readonly dirs: Set<string>;
  readonly emptyDirs: Set<string>;
  readonly links: Map<string, string>;
  left: number;
}

/** @throws {StoreError} If there are more than two million entries. */
export async function walkRoots(roots: readonly string[], rules: WalkRules): Promise<FileLists> {
  const listing: Found = {
    files: new Set(),
    dirs: new Set(),
    emptyDirs: new Set(),
    links: new Map(),
    left: MAX_ENTRIES,
  };
  for (const root of roots) await walkRoot(root, rules, listing);
  const sortPaths = (paths: Set<string>) => [...paths].sort(compareStrings);
  return {
    files: sortPaths(listing.files),
    dirs: sortPaths(listing.dirs),
    emptyDirs: sortPaths(listing.emptyDirs),
    links: new Map([...listing.links].sort(([a], [b]) => compareStrings(a, b))),
  };
}

async function walkRoot(root: string, rules: WalkRules, found: Found): Promise<void> {
  const realRoot = await followLinks(root);
  const waiting: Place[] = [{ rel: "", real: realRoot }];
  for (let place = waiting.pop(); place !== undefined; place = waiting.pop()) {
    const entries = await entriesOf(`${root}/${place.rel}`);
    if (entries === undefined) continue;
    if ((found.left -= entries.length) < 0) {
      throw new StoreError(`${root} and its like hold more than ${MAX_ENTRIES} files`, root);
    }
    if (entries.length === 0 && place.rel !== "" && !isLeftOut(place.rel, found)) found.emptyDirs.add(place.rel);
    for (const entry of entries) await takeEntry(entry, place, { root, realRoot, rules, found, waiting });
  }
}

interface Walk {
  readonly root: string;
  readonly realRoot: string;
  readonly rules: WalkRules;
  readonly found: Found;
  readonly waiting: Place[];
}

async function takeEntry(entry: Deno.DirEntry, place: Place, walk: Walk): Promise<void> {
  const { root, rules, found } = walk;
  const rel = place.rel === "" ? entry.name : `${place.rel}/${entry.name}`;
  const full = `${root}/${rel}`;
  const directory = entry.isDirectory || (entry.isSymlink && await leadsToDirectory(full));
  const isListed = !(entry.isSymlink && rules.withoutLinks) && !rules.ignores(rel);
  if (isListed) {
    (directory ? found.dirs : found.files).add(rel);
    if (entry.isSymlink) await takeLink(rel, full, walk);
  }
  if (!directory) return;
  if (!entry.isSymlink) {
    walk.waiting.push({ rel, real: `${place.real}/${entry.name}`, above: place });
  } else if (rules.follow) {
    const real = await followLinks(full);
    // A link to a directory that it is in would never end; Salt follows it 40 times.
    if (!isAbove(real, place)) walk.waiting.push({ rel, real, above: place });
    else if (isListed) return;
  } else if (isListed && (await entriesOf(full))?.length === 0) {
    found.emptyDirs.add(rel);
  }
}

/** Whether the lists leave out an empty directory. */
function isLeftOut(rel: string, { dirs }: Found): boolean {
  return !dirs.has(rel);
}

function isAbove(real: string, place: Place): boolean {
  for (let at: Place | undefined = place; at !== undefined; at = at.above) if (at.real === real) return true;
  return false;
}

/** Salt lists a link if it stays within the root, or if links are not followed. */
async function takeLink(rel: string, full: string, { realRoot, rules, found }: Walk): Promise<void> {
  const text = await readLink(full);
  if (text === undefined) return;
  // Salt takes a text with `..` as if the link were a directory: one step too deep.
  const from = text.startsWith("..") ? full : dirName(full);
  const target = await followLinks(text.startsWith("/") ? text : `${from}/${text}`);
  if (!rules.follow || !relativePath(target, realRoot).startsWith("..")) found.links.set(rel, text);
}

async function readLink(path: string): Promise<string | undefined> {
  try {
    return await Deno.readLink(path);
  } catch {
    return undefined; // it was removed meanwhile
  }
}

async function leadsToDirectory(path: string): Promise<boolean> {
  try {
    return (await Deno.stat(path)).isDirectory;
  } catch {
    return false; // a dangling link
  }
}

/** The entries of a directory; `undefined` if it cannot be read, which Salt skips. */
async function entriesOf(path: string): Promise<Deno.DirEntry[] | undefined> {
  try {
    return await Array.fromAsync(Deno.readDir(path));
  } catch {
    return undefined;
  }
}
