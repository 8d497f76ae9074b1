/**
 * Files below the directories of an environment, such as `file_roots` has: found, listed, read and written, but never
 * outside of these directories, whatever a path or a link contains.
 * Source: the functions and results of Salt 3008.3 `salt/wheel/file_roots.py`; CVE-2020-11652, CVE-2021-25282.
 * @module
 */

import { dirName } from "#lib/os/paths.ts";
import { isBinary } from "#lib/text/binary_data.ts";
import { writeFileAtomic } from "#lib/os/atomic_file.ts";
import { isFile, isLinkOrThrow } from "#lib/os/file_kind.ts";
import { CommandError } from "#lib/errors.ts";
import { compareStrings, type Value, type ValueMap } from "#lib/values/value.ts";
import { isBelow } from "./safe_path.ts";

/** A file that was found. */
export interface RootFile {
  /** Its path: a root, and the requested path. */
  readonly path: string;
  /** `txt` or `bin`, by its first bytes. */
  readonly kind: "txt" | "bin";
}

/** Number of bytes that are read to detect text. */
const LOOKED_AT = 512;
/** Maximum number of files and directories in one list. */
const MAX_ENTRIES = 200_000;
/** Maximum bytes of a file that is read. */
const MAX_BYTES = 64 * 2 ** 20;

/** The directories of environment `saltenv`; `undefined` if there is no such environment. */
export function rootsOf(roots: ValueMap, saltenv: string): string[] | undefined {
  const listed = roots.get(saltenv);
  if (listed === undefined) return undefined;
  return Array.isArray(listed) ? listed.filter((root) => typeof root === "string") : [];
}

/** The file `path` in each root that has it. Files whose links lead out of the root are left out. */
export function findFiles(roots: readonly string[], path: string): RootFile[] {
  return roots.flatMap((root): RootFile[] => {
    const full = path.startsWith("/") ? path : `${root}/${path}`;
    if (!isInside(root, full) || !isFile(full)) return [];
    return [{ path: full, kind: !isBinary(firstBytes(full)) ? "txt" : "bin" }];
  });
}

/**
 * The text of a file that {@linkcode findFiles} found.
 * @throws {CommandError} If it is larger than 64 MiB.
 */
export function readFound({ path }: RootFile): string {
  const { size } = Deno.statSync(path);
  if (size > MAX_BYTES) throw new CommandError(`${path} is larger than ${MAX_BYTES} bytes`);
  return Deno.readTextFileSync(path);
}

/**
 * All files below `root`: a map of names, in which a file is `f` and a directory a map. Links are not followed.
 * @throws {CommandError} If there are more than 200,000.
 */
export function listTree(root: string): ValueMap {
  const tree: ValueMap = new Map();
  const waiting: [directory: string, into: ValueMap][] = [[root, tree]];
  let left = MAX_ENTRIES;
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const [directory, into] = next;
    const entries = entriesOf(directory);
    left -= entries.length;
    if (left < 0) throw new CommandError(`${root} holds more than ${MAX_ENTRIES} files`);
    for (const { name } of entries.filter((entry) => isDirectory(directory, entry))) into.set(name, new Map());
    for (const entry of entries) {
      const below: Value | undefined = into.get(entry.name);
      if (below === undefined) into.set(entry.name, "f");
      else if (entry.isDirectory && below instanceof Map) waiting.push([`${directory}/${entry.name}`, below]);
    }
  }
  return tree;
}

/**
 * Writes `data` to `path` below `root`, and makes the directories that it needs.
 * @returns The path of the file; `undefined` if it would not be below `root`.
 */
export function writeBelow(root: string, path: string, data: string): string | undefined {
  const full = `${root}/${path}`;
  if (!isInside(root, full) || normalize(full) === normalize(root)) return undefined;
  const at = normalize(full);
  Deno.mkdirSync(dirName(at), { recursive: true });
  // A link inside of the root stays: its target is written.
  const target = existingPath(at) ?? at;
  writeFileAtomic(target, data, { mode: modeOf(target) ?? 0o644 });
  return full;
}

/** Whether `path` is `root` or below it, after all links were followed as far as it exists. */
function isInside(root: string, path: string): boolean {
  if (path.includes("\0") || root.includes("\0")) return false;
  const [lexicalRoot, lexical] = [normalize(root), normalize(path)];
  if (!isBelow(lexicalRoot, lexical)) return false;
  let existing = lexical;
  // realPath does not find a dangling link, but a file written to it would be created at its target.
  while (existingPath(existing) === undefined) {
    if (isLinkOrThrow(existing)) return false;
    if (existing === "/" || existing === lexicalRoot) return true;
    existing = dirName(existing);
  }
  const realRoot = existingPath(lexicalRoot);
  return realRoot !== undefined && isBelow(realRoot, existingPath(existing) ?? "");
}

/** An absolute path without `.`, `..` and empty steps. */
function normalize(path: string): string {
  const steps: string[] = [];
  for (const step of path.split("/")) {
    if (step === "..") steps.pop();
    else if (step !== "" && step !== ".") steps.push(step);
  }
  return `/${steps.join("/")}`;
}

function existingPath(path: string): string | undefined {
  try {
    return Deno.realPathSync(path);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound || error instanceof Deno.errors.NotADirectory) return undefined;
    throw error;
  }
}

function isDirectory(parent: string, entry: Deno.DirEntry): boolean {
  if (!entry.isSymlink) return entry.isDirectory;
  try {
    return Deno.statSync(`${parent}/${entry.name}`).isDirectory;
  } catch {
    return false; // a dangling link
  }
}

function entriesOf(directory: string): Deno.DirEntry[] {
  try {
    return [...Deno.readDirSync(directory)].sort((a, b) => compareStrings(a.name, b.name));
  } catch (error) {
    if (error instanceof Deno.errors.NotFound || error instanceof Deno.errors.NotADirectory) return [];
    throw error;
  }
}

function modeOf(path: string): number | undefined {
  try {
    return (Deno.statSync(path).mode ?? 0) & 0o777;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return undefined;
    throw error;
  }
}

function firstBytes(path: string): Uint8Array {
  using file = Deno.openSync(path);
  const bytes = new Uint8Array(LOOKED_AT);
  return bytes.subarray(0, file.readSync(bytes) ?? 0);
}
