/**
 * Paths under `root_dir`.
 * Source: salt/config (prepend_root_dir).
 * @module
 */

import { rstripChars } from "#lib/values/python_text.ts";

/** Puts `path` under `root`, an absolute path too, unless it is there already. A URI is returned as it is. */
export function underRoot(root: string, path: string): string {
  if (isUri(path)) return path;
  const clean = rstripChars(root, "/");
  if (path === clean || path.startsWith(`${clean}/`)) return path;
  return `${clean}/${path.replace(/^\/+/, "")}`;
}

/** Whether `path` is a URI (`file:///dev/log`, `udp://loghost`). */
export function isUri(path: string): boolean {
  return /^[A-Za-z][A-Za-z0-9+.-]*:/.test(path);
}

/** Makes `path` absolute, relative to the directory `cwd`. */
export function absolutePathIn(path: string, cwd: string): string {
  return path.startsWith("/") ? path : `${cwd}/${path}`.replaceAll("/./", "/");
}
