/**
 * Paths as Python's `os.path` takes them apart and puts them together, for POSIX. The functions that read the disk are
 * at the end. Source: docs.python.org, "os.path".
 * @module
 */

import { findUser } from "./users.ts";
import { InvocationError } from "#lib/errors.ts";
import { compileGlob, isGlob } from "#lib/text/glob.ts";
import { isAnything, isDirectory } from "./file_kind.ts";

/** Python's `isabs`. */
function isAbsolute(path: string): boolean {
  return path.startsWith("/");
}

/** Python's `split`: what is before the last slash, and what is behind it. */
export function splitPath(path: string): readonly [head: string, tail: string] {
  const slash = path.lastIndexOf("/") + 1;
  const head = path.slice(0, slash);
  return [/^\/*$/.test(head) ? head : head.replace(/\/+$/, ""), path.slice(slash)];
}

/** Python's `dirname`: empty if there is no slash. */
export function dirName(path: string): string {
  return splitPath(path)[0];
}

/** Python's `basename`: empty after a slash at the end. */
export function baseName(path: string): string {
  return splitPath(path)[1];
}

/** Python's `join`: a later absolute path replaces what was before. */
export function joinPath(first: string, ...more: readonly string[]): string {
  return more.reduce((path, next) => {
    if (next.startsWith("/")) return next;
    return path === "" || path.endsWith("/") ? path + next : `${path}/${next}`;
  }, first);
}

/** Python's `normpath`: without empty parts, `.` and, as far as there are names before it, `..`. */
export function normalPath(path: string): string {
  if (path === "") return ".";
  // Two slashes at the start may mean something to POSIX; one, and three, do not.
  const root = /^\/\/(?!\/)/.test(path) ? "//" : path.startsWith("/") ? "/" : "";
  const parts: string[] = [];
  for (const part of path.split("/")) {
    if (part === "" || part === ".") continue;
    if (part !== ".." || (root === "" && parts.length === 0) || parts.at(-1) === "..") parts.push(part);
    else parts.pop();
  }
  return root + parts.join("/") || ".";
}

/** Python's `abspath`. */
export function absolutePath(path: string): string {
  return normalPath(isAbsolute(path) ? path : joinPath(Deno.cwd(), path));
}

/** Python's `relpath`: the way from `start` to `path`. */
export function relativePath(path: string, start: string): string {
  const to = absolutePath(path).split("/").filter((part) => part !== "");
  const from = absolutePath(start).split("/").filter((part) => part !== "");
  let shared = 0;
  while (shared < to.length && to[shared] === from[shared]) shared++;
  return [...from.slice(shared).map(() => ".."), ...to.slice(shared)].join("/") || ".";
}

/** Python's `expanduser`: `~` and `~name` at the start become home directories; an unknown user's stay. */
export function expandUser(path: string): string {
  if (!path.startsWith("~")) return path;
  const end = path.indexOf("/") < 0 ? path.length : path.indexOf("/");
  const name = path.slice(1, end);
  const home = name === "" ? Deno.env.get("HOME") ?? findUser(Deno.uid() ?? 0)?.home : findUser(name)?.home;
  if (home === undefined) return path;
  return (home.replace(/\/+$/, "") + path.slice(end)) || "/";
}

/** Python's `expandvars`: `$NAME` and `${NAME}`; unknown variables stay. */
export function expandVariables(path: string): string {
  return path.replace(/\$(\w+|\{[^}]*\})/g, (all, name: string) => Deno.env.get(name.replace(/^\{|\}$/g, "")) ?? all);
}

/** @throws {InvocationError} With `message`, if `path` is relative. */
export function mustBeAbsolute(path: string, message: string): void {
  if (!isAbsolute(path)) throw new InvocationError(message);
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

/** Python's `glob.glob` for absolute and relative patterns, without `**`: what exists, in the order of the directories. */
export function globAny(pattern: string): string[] {
  if (!isGlob(pattern)) return isAnything(pattern) ? [pattern] : [];
  const [head, tail] = splitPath(pattern);
  const directories = head === "" || head === pattern ? [head] : isGlob(head) ? globAny(head) : [head];
  return directories.flatMap((directory) => {
    if (!isGlob(tail)) {
      const found = tail === "" ? isDirectory(directory) : isAnything(joinPath(directory, tail));
      return found ? [joinPath(directory, tail)] : [];
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
export interface Walked {
  readonly path: string;
  readonly directories: string[];
  readonly files: readonly string[];
}

/**
 * Python's `os.walk`, from the top. A caller that removes names from `directories` excludes them from the walk. A
 * directory that cannot be read is left out.
 */
export function* walk(top: string): Generator<Walked, void> {
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
