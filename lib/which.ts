/**
 * Finding executables in the search path.
 * Source: Salt 3008.3, `salt/utils/path.py`.
 * @module
 */

import { mayExecute } from "./libc.ts";
import { nodeBuiltin } from "./node_builtin.ts";

/** Searched after `PATH`, in case a service manager started the minion with a poor one. */
const USUAL_DIRECTORIES = ["/sbin", "/bin", "/usr/sbin", "/usr/bin", "/usr/local/sbin", "/usr/local/bin"];

/** Whether `path` is a file that this process may execute. */
export function isExecutableFile(path: string): boolean {
  try {
    const { isFile, mode } = Deno.statSync(path);
    if (!isFile || ((mode ?? 0o111) & 0o111) === 0) return false;
    if (Deno.permissions.querySync({ name: "ffi" }).state === "granted") return mayExecute(path);
    // A job's thread, which may not call the C library itself.
    const { accessSync, constants } = nodeBuiltin("node:fs");
    accessSync(path, constants.X_OK);
    return true;
  } catch (error) {
    // That a job may not look is no answer.
    if (error instanceof Deno.errors.NotCapable) throw error;
    return false;
  }
}

/** The full path of the executable `name`, or `name` itself if that is a path to one; `undefined` if there is none. */
export function which(name: string): string | undefined {
  if (name === "") return undefined;
  if (isExecutableFile(name)) return name;
  // An empty one is the working directory, where it would have been found already.
  const path = (Deno.env.get("PATH") ?? "").split(":").filter((directory) => directory !== "");
  const directories = [...path, ...USUAL_DIRECTORIES.filter((directory) => !path.includes(directory))];
  return directories.map((directory) => `${directory.replace(/\/+$/, "")}/${name}`).find(isExecutableFile);
}

/** What `execvp` would say of a program: it runs, it is not there, or it may not be executed. */
export type Startable = "yes" | "missing" | "forbidden";

/**
 * Whether a child with the working directory `cwd` and the search path `path` could start `program`. Asked beforehand
 * because a wrapper's failure to start it would look like the command's own.
 */
export function startable(program: string, { cwd, path }: { cwd: string; path: string | undefined }): Startable {
  const directories = program.includes("/") ? [cwd] : (path ?? "/bin:/usr/bin").split(":");
  const candidates = directories.map((directory) => program.startsWith("/") ? program : `${directory}/${program}`);
  if (candidates.some(isExecutableFile)) return "yes";
  return candidates.some(exists) ? "forbidden" : "missing";
}

function exists(path: string): boolean {
  try {
    Deno.statSync(path);
    return true;
  } catch (error) {
    return error instanceof Deno.errors.PermissionDenied;
  }
}
