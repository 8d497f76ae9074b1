/**
 * Paths as Python's `os.path` takes them apart and puts them together, for POSIX. Those
 * that read the disk are in `disk_paths.ts`. Source: docs.python.org, "os.path".
 * @module
 */

import { rstripChars } from "#lib/values/python_text.ts";
import { InvocationError } from "#lib/errors.ts";

/** Python's `isabs`. */
export function isAbsolute(path: string): boolean {
  return path.startsWith("/");
}

/** Python's `split`: what is before the last slash, and what is behind it. */
export function splitPath(path: string): readonly [head: string, tail: string] {
  const slash = path.lastIndexOf("/") + 1;
  const head = path.slice(0, slash);
  return [/^\/*$/.test(head) ? head : rstripChars(head, "/"), path.slice(slash)];
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

/** Python's `expandvars`: `$NAME` and `${NAME}`; unknown variables stay. */
export function expandVariables(path: string): string {
  return path.replace(/\$(\w+|\{[^}]*\})/g, (all, name: string) => Deno.env.get(name.replace(/^\{|\}$/g, "")) ?? all);
}

/** @throws {InvocationError} With `message`, if `path` is relative. */
export function mustBeAbsolute(path: string, message: string): void {
  if (!isAbsolute(path)) throw new InvocationError(message);
}
