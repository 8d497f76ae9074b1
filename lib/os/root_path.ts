/**
 * Paths under `root_dir`.
 * Source: salt/config (prepend_root_dir).
 * @module
 */

/** `path` under `root`: an absolute path too, unless it lies there already. A URI stays as it is. */
export function underRoot(root: string, path: string): string {
  if (isUri(path)) return path;
  const clean = root.replace(/\/+$/, "");
  if (path === clean || path.startsWith(`${clean}/`)) return path;
  return `${clean}/${path.replace(/^\/+/, "")}`;
}

/** Whether `path` is a URI (`file:///dev/log`, `udp://loghost`) and no path. */
export function isUri(path: string): boolean {
  return /^[A-Za-z][A-Za-z0-9+.-]*:/.test(path);
}

/** `path` as an absolute one, seen from the directory `cwd`. */
export function absolutePath(path: string, cwd: string): string {
  return path.startsWith("/") ? path : `${cwd}/${path}`.replaceAll("/./", "/");
}
