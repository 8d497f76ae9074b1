/**
 * Paths as Python's `os.path`, `glob` and `os.walk` find them on the disk, for POSIX: links, home directories,
 * patterns, walks. Source: docs.python.org, "os.path", "glob", "os".
 * @module
 */

import { rstripChars } from "#lib/values/python_text.ts";
import { compileGlob, isGlob } from "#lib/text/glob.ts";
import { isDirectory, lexists } from "./file_kind.ts";
import { isAbsolute, joinPath, splitPath } from "./paths.ts";
import { findUser } from "./users.ts";

/** Python's `expanduser`: `~` and `~name` at the start become home directories; an unknown user's stay. */
export function expandUser(path: string): string {
  if (!path.startsWith("~")) return path;
  const end = path.indexOf("/") < 0 ? path.length : path.indexOf("/");
  const name = path.slice(1, end);
  const home = name === "" ? Deno.env.get("HOME") ?? findUser(Deno.uid() ?? 0)?.home : findUser(name)?.home;
  if (home === undefined) return path;
  return (rstripChars(home, "/") + path.slice(end)) || "/";
}

/** The kernel's maximum of links in one path. */
const MAX_LINKS = 40;

/** Python's `realpath`: all links followed. Missing parts, and links in a cycle, are left unchanged. */
export function realPath(path: string): string {
  let left = absoluteParts(path);
  let done = "";
  for (let links = 0; left.length > 0;) {
    const [part, ...rest] = left;
    left = rest;
    if (part === "..") {
      done = done.slice(0, Math.max(0, done.lastIndexOf("/")));
      continue;
    }
    const next = `${done}/${part}`;
    const target = linkTarget(next);
    if (target === undefined || ++links > MAX_LINKS) {
      done = next;
      continue;
    }
    if (target.startsWith("/")) done = "";
    left = [...target.split("/").filter((name) => name !== "" && name !== "."), ...left];
  }
  return done === "" ? "/" : done;
}

function absoluteParts(path: string): string[] {
  return (isAbsolute(path) ? path : joinPath(Deno.cwd(), path)).split("/").filter((part) =>
    part !== "" && part !== "."
  );
}

/** What the link `path` says; `undefined` if it is none. */
export function linkTarget(path: string): string | undefined {
  try {
    return Deno.lstatSync(path).isSymlink ? Deno.readLinkSync(path) : undefined;
  } catch {
    return undefined;
  }
}

/** Whether `path` is a link. */
export function isLink(path: string): boolean {
  return linkTarget(path) !== undefined;
}

/**
 * Python's `glob.glob` for absolute and relative patterns, without `**`: what exists, in the order of the directories.
 */
export function globAny(pattern: string): string[] {
  if (!isGlob(pattern)) return lexists(pattern) ? [pattern] : [];
  const [head, tail] = splitPath(pattern);
  const directories = head === "" || head === pattern ? [head] : isGlob(head) ? globAny(head) : [head];
  return directories.flatMap((directory) => {
    if (!isGlob(tail)) {
      const exists = tail === "" ? isDirectory(directory) : lexists(joinPath(directory, tail));
      return exists ? [joinPath(directory, tail)] : [];
    }
    const test = compileGlob(tail);
    const visible = (name: string) => tail.startsWith(".") || !name.startsWith(".");
    return namesIn(directory === "" ? "." : directory).filter((name) => visible(name) && test(name))
      .map((name) => joinPath(directory, name));
  });
}

function namesIn(directory: string): string[] {
  try {
    return Array.from(Deno.readDirSync(directory), ({ name }) => name);
  } catch {
    return [];
  }
}

/** A directory of a tree, with the names in it; links to directories count as directories, and are not entered. */
export interface WalkedDirectory {
  readonly path: string;
  readonly directories: string[];
  readonly files: readonly string[];
}

/**
 * Python's `os.walk`, from the top. A caller that removes names from `directories` excludes them from the walk. A
 * directory that cannot be read is left out.
 */
export function* walk(top: string): Generator<WalkedDirectory, void> {
  const directories: string[] = [], files: string[] = [];
  let entries: Deno.DirEntry[];
  try {
    entries = [...Deno.readDirSync(top)];
  } catch {
    return;
  }
  for (const { name, isDirectory: real, isSymlink } of entries) {
    const leads = real || (isSymlink && isDirectory(joinPath(top, name)));
    (leads ? directories : files).push(name);
  }
  yield { path: top, directories, files };
  for (const name of directories) {
    const path = joinPath(top, name);
    if (!isLink(path)) yield* walk(path);
  }
}
